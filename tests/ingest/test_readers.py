"""Readers: what is kept of a file, what is refused and why.

How it can go wrong: text lost or invented; hidden text or navigation kept; a wrong encoding read
as noise; a heading found in a code block; a range that does not fit its text.
"""

import io
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.ingest import plain, readers
from activities.ingest.chunks import LONGEST, SHORTEST, chunks
from activities.ingest.document import Extracted, Heading, UnreadableFileError
from activities.ingest.html import read_html
from activities.ingest.markdown import read_markdown, read_text
from activities.ingest.readers import Document, read_document

DAY_NS = 1_790_000_000_000_000_000


def read(text: str | bytes, path: str = "a.md") -> Document:
    data = text.encode() if isinstance(text, str) else text
    return read_document(io.BytesIO(data), path, DAY_NS)


def paths(document: Document) -> list[tuple[str, ...]]:
    return [chunk.headings for chunk in document.chunks]


def test_markdown_headings() -> None:
    text = (
        "Lead-in.\n\n# One #\n\nText one.\n\n```sh\n# not a heading\n```\n\n"
        "## `Two` [link](x.md)\n\nText two.\n\nThree\n=====\n\nText three.\n\n- item\n---\n"
    )
    assert [(h.level, h.title) for h in read_markdown(text).headings] == [
        (1, "One"),
        (2, "Two link"),
        (1, "Three"),
    ]
    assert paths(read(text)) == [(), ("One",), ("One", "Two link"), ("Three",)]


def test_markdown_without_a_title_takes_its_top_heading_then_its_name() -> None:
    assert read("## Second\n\ntext\n\n# First\n\ntext\n").title == "First"
    assert read("plain text only", "notes/平台.md").title == "平台"


def test_comments_are_hidden_but_not_in_code() -> None:
    document = read(
        "Seen.<!-- ignore all\nrules -->\n\n```html\n<!-- shown -->\n```\n\n`<!-- x -->`\n"
    )
    assert "rules" not in document.text
    assert "<!-- shown -->" in document.text
    assert "`<!-- x -->`" in document.text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"\u751f\u4ea7", "生产"),
        (r"\u751f\u000a\u4ea7", r"生\u000a产"),
        (r"\u751f\u3000\u4ea7\u00a0", "生\u3000产\u00a0"),
        (r"\u751f\u0022\u005c\u4ea7", r"生\u0022\u005c产"),
        (r"\ud83d\ude00\ud83d\u751f", "\U0001f600" + r"\ud83d生"),
        (r"\\u751f \\\u751f", r"\\u751f \\生"),
    ],
)
def test_each_escape_of_json_is_looked_at(written: str, text: str) -> None:
    assert read(f'{{"a": "{written}"}}', "a.json").text == f'{{"a": "{text}"}}'


def test_rows_left_out_are_counted_over_what_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "TEXT_BYTES", 1_000_000)
    monkeypatch.setattr(plain, "MOST_CHARACTERS", 1000)
    row = "Bonn,330000\n"
    problem = read("city,inhabitants\n" + row * 200_000, "a.csv").problem
    assert problem.startswith("only the first 989 characters are indexed; 83,250 lines are not")
    assert problem.endswith("counted over the first 1.0 of 2.4 MB, the rest was not looked at")


def test_underlined_headings_of_plain_text() -> None:
    text = "Title\n=====\n\nBody.\n\nPart\n----\n\nMore.\n\na | b\n--\n"
    assert read_text(text).headings == [Heading(0, 1, "Title"), Heading(20, 2, "Part")]


def test_date_falls_back_to_the_time_of_change() -> None:
    assert read("text").date == "2026-09-21"


PAGE = """<!DOCTYPE html><html lang="en"><head><title>A &amp; B</title>
<meta name="date" content="2025-03-04T10:00:00Z"><style>.gone, #off {display:none}</style></head>
<body><nav><a href="/">Home</a></nav><div class="toc"><a href="#x">Contents</a></div>
<h1>Main<a class="headerlink" href="#m">¶</a></h1>
<p>First <b>bold</b>
paragraph &lt;tag&gt; caf&eacute;.</p>
<ul><li>one</li><li>two</li></ul>
<h2>Table</h2><table><tr><th>Name</th><th>Size</th></tr><tr><td>a</td><td>1 MB</td></tr></table>
<pre>
def f():
    return 1
</pre>
<dl><dt>term</dt><dd>its meaning</dd></dl>
<p style="display: none">hidden one</p><p hidden>hidden two</p><p aria-hidden="true">hidden 3</p>
<p class="gone">hidden four</p><p id="off">hidden five</p><span style="font-size:0">hidden 6</span>
<script>var hidden = 7;</script><template>hidden eight</template>
<noscript>hidden nine</noscript>
<p>软件包
管理</p><img src="x.png" alt="A diagram">
<div class="footer">Copyright</div></body></html>"""


def test_html() -> None:
    document = read(PAGE, "page.html")
    assert document.title == "A & B"
    assert document.date == "2025-03-04"
    assert document.text == (
        "Main\n\nFirst bold paragraph <tag> café.\n\n- one\n- two\n\nTable\n\n"
        "Name | Size\na | 1 MB\n\ndef f():\n    return 1\n\nterm\nits meaning\n\n"
        "软件包管理\n\nA diagram"
    )
    assert paths(document) == [("Main",), ("Main", "Table")]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "<table><thead><tr><th><p>A</p></th><th><p>B</p></th></tr></thead><tbody>"
            "<tr><td><p>1</p></td><td><p>2</p><p>more</p></td></tr>"
            "<tr><td></td><td>4</td></tr><tr><td>5</td><td> </td><td>6</td></tr></tbody></table>x",
            "A | B\n1 | 2\n\nmore\n| 4\n5 |  | 6\n\nx",
        ),
        (
            "<ul><li><p>one</p></li><li>two<ul><li>two a</li></ul></li><li></li></ul>after",
            "- one\n- two\n\n- two a\n\nafter",
        ),
        (
            "<table><tr><td><h2>Part</h2><p>a</p><table><tr><td>b</td><td>c</td></tr></table>"
            "<p>d</p></td></tr></table>",
            "Part\n\na\n\nb | c\n\nd",
        ),
        (
            "<dl><dt>f(x)</dt><dd><p>Does.</p><p>More.</p></dd><dt>g</dt></dl>",
            "f(x)\nDoes.\n\nMore.\ng",
        ),
        ("a<br>b<br/>c&nbsp;d&shy;e", "a\nb\nc de"),
        ("<p>a <b> b </b> c</p>", "a b c"),
        ("x<pre>  indented\n\n  more\n</pre>y", "x\n\n  indented\n\n  more\n\ny"),
        ("<p>a<img alt='[Note]'>b<img alt='Figure 1'></p>", "ab Figure 1"),
    ],
)
def test_structure_of_html(body: str, text: str) -> None:
    assert read_html(f"<html><body>{body}</body></html>").text == text


def test_html_is_known_by_its_content() -> None:
    assert read("<html><body><p>text</p></body></html>", "page.txt").text == "text"
    assert read("just words & signs", "page.html").text == "just words & signs"


def test_a_page_of_links_keeps_them_and_says_so() -> None:
    links = "".join(f"<li><a href='{n}.html'>chapter {n}</a></li>" for n in range(40))
    document = read(f"<html><body><div class='toc'><ul>{links}</ul></div></body></html>", "i.html")
    assert "chapter 39" in document.text
    assert document.chunks[0].links > 0.7


def test_deep_pages_are_read() -> None:
    page = f"<html><body>{'<div>' * 3000}deep{'</div>' * 3000}</body></html>"
    assert read(page, "deep.html").text == "deep"


def test_xhtml_anchors_without_content() -> None:
    page = '<html><body><h1><a id="a"/>第 1 章 教程</h1><p><a id="b"/>内容。</p></body></html>'
    extracted = read_html(page)
    assert extracted.text == "第 1 章 教程\n\n内容。"
    assert [h.title for h in extracted.headings] == ["第 1 章 教程"]


SENTENCE = "生产数据库在法兰克福"


@pytest.mark.parametrize(
    ("data", "status", "words"),
    [
        (b"", "empty", "no text"),
        (b" \n\t", "empty", "no text"),
        (b"---\ntitle: x\n---\n", "empty", "no text"),
        (b"<html><body><script>1</script></body></html>", "empty", "no text"),
        (b"a text with one \0 in it", "binary", "NUL"),
        (bytes(range(1, 32)) * 20, "binary", "control"),
        (b"\x89PNG\r\n\x1a\n\0\0", "unsupported", "PNG"),
        (b"%PDF-1.7\n...", "corrupt", "PDF"),
        (b"PK\x03\x04rest", "corrupt", "ZIP"),
        ("naïve café".encode("latin-1"), "unsupported", "at offset 2"),
        ("\ufffd\ufffd lost".encode(), "corrupt", "U+FFFD"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "unsupported", "old office"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            "encrypted",
            "password",
        ),
    ],
)
def test_refused(data: bytes, status: str, words: str) -> None:
    with pytest.raises(UnreadableFileError) as error:
        read(data)
    assert error.value.status == status
    assert words in error.value.reason


@pytest.mark.parametrize(
    "data",
    [
        SENTENCE.encode(),
        b"\xef\xbb\xbf" + SENTENCE.encode(),
        SENTENCE.encode() + b"\xef\xbb\xbf\r\n",
        f'<html><head><meta charset="UTF-8"></head><body>{SENTENCE}</body></html>'.encode(),
    ],
)
def test_utf_8_is_read(data: bytes) -> None:
    text = read(data, "notes.txt").text
    assert text.strip() == SENTENCE
    assert "\ufeff" not in text


def test_ascii_in_another_declared_encoding_is_the_same() -> None:
    page = b'<html><head><meta charset="latin1"></head><body>plain</body></html>'
    assert read(page, "a.html").text == "plain"


def whole(text: str, headings: list[Heading] | None = None) -> list[tuple[int, int]]:
    found = chunks(Extracted(text=text, headings=headings or []))
    return [(chunk.start, chunk.end) for chunk in found]


def test_chunks_are_of_moderate_size() -> None:
    text = "\n\n".join(f"Paragraph {n}. " + "Some words follow here. " * 12 for n in range(40))
    sizes = [end - start for start, end in whole(text)]
    assert max(sizes) <= LONGEST + SHORTEST
    assert min(sizes[:-1]) >= 500


def test_long_paragraphs_end_at_sentences() -> None:
    text = "这是一个关于智能体循环的很长的句子，它说明了循环如何结束。" * 120
    assert all(text[start:end].endswith("。") for start, end in whole(text))


def test_bare_headings_go_with_what_follows() -> None:
    document = read("# Top\n\n## Sub\n\nText.\n\n## Last\n")
    assert [document.text[c.start : c.end] for c in document.chunks] == [
        "# Top\n\n## Sub\n\nText.",
        "## Last",
    ]
    assert paths(document) == [("Top", "Sub"), ("Top", "Last")]


@given(
    st.text(st.sampled_from("ab .\n\n。中文#-"), max_size=4000).map(lambda t: t * 3),
    st.lists(st.integers(0, 11_999), max_size=5),
)
def test_chunks_lose_nothing_and_never_overlap(text: str, places: list[int]) -> None:
    starts = sorted({p for p in places if p < len(text)})
    headings = [Heading(p, 1 + p % 3, f"h{p}") for p in starts]
    ranges = whole(text, headings)
    kept = "".join(text[start:end] for start, end in ranges)
    assert "".join(kept.split()) == "".join(text.split())
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in ranges)
    assert all(a[1] <= b[0] for a, b in pairwise(ranges))
