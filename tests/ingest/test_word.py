"""Word documents: what the printed page shows, with headings, lists, tables; what is refused.

How it can go wrong: inserted words or those of a form field are lost; deleted or hidden ones are
kept; a heading in a Chinese style is none; a table's cells run together; 10⁶ becomes 106.
"""

import io
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime

import docx
import pytest
from docx.document import Document as Package
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.ingest.chunks import chunks
from activities.ingest.document import Extracted, UnreadableFileError
from activities.ingest.word import read_docx
from tests.ingest.word_files import run, word, zipped

NS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
YES = "<w:r><w:t>yes</w:t></w:r>"


def made(fill: Callable[[Package], object]) -> bytes:
    package = docx.Document()
    fill(package)
    out = io.BytesIO()
    package.save(out)
    return out.getvalue()


def read(data: bytes) -> Extracted:
    return read_docx(io.BytesIO(data))


def refused(data: bytes) -> tuple[str, str]:
    with pytest.raises(UnreadableFileError) as error:
        read(data)
    return error.value.status, error.value.reason


def _report(package: Package) -> None:
    package.core_properties.title = "Backup report"
    package.core_properties.modified = datetime(2026, 2, 3, tzinfo=UTC)
    package.add_heading("Storage", 1)
    package.add_paragraph("Kept for thirty days.")
    package.add_heading("Retention", 2)
    package.add_paragraph("Daily", style="List Bullet")
    package.add_paragraph("Weekly", style="List Number")
    table = package.add_table(rows=2, cols=2)
    for place, text in enumerate(("City", "Limit\nin GB", "Bonn", "70")):
        table.cell(place // 2, place % 2).text = text
    package.add_paragraph("The end.")
    package.sections[0].header.paragraphs[0].text = "Never a quote"


def test_headings_lists_and_tables() -> None:
    found = read(made(_report))
    assert found.text == (
        "Storage\n\nKept for thirty days.\n\nRetention\n\n- Daily\n- Weekly\n\n"
        "City | Limit in GB\nBonn | 70\n\nThe end."
    )
    assert [(h.level, h.title) for h in found.headings] == [(1, "Storage"), (2, "Retention")]
    assert (found.title, found.date) == ("Backup report", "2026-02-03")
    assert [chunk.headings for chunk in chunks(found)] == [("Storage",), ("Storage", "Retention")]


def test_headings_of_chinese_styles_and_outline_levels() -> None:
    styles = '<w:style w:styleId="a"><w:name w:val="标题 2"/></w:style>'
    body = (
        '<w:p><w:pPr><w:pStyle w:val="a"/></w:pPr><w:r><w:t>部署</w:t></w:r></w:p>'
        '<w:p><w:pPr><w:outlineLvl w:val="2"/></w:pPr><w:r><w:t>步骤</w:t></w:r></w:p>'
    )
    found = read(word(body, styles))
    assert [(h.level, h.title) for h in found.headings] == [(2, "部署"), (3, "步骤")]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<w:p><w:ins><w:r><w:t>inserted</w:t></w:r></w:ins></w:p>", "inserted"),
        ("<w:p><w:del><w:r><w:delText>no</w:delText></w:r></w:del>" + YES + "</w:p>", "yes"),
        ("<w:p><w:moveFrom><w:r><w:t>no</w:t></w:r></w:moveFrom>" + YES + "</w:p>", "yes"),
        ("<w:sdt><w:sdtPr/><w:sdtContent>" + run("a form") + "</w:sdtContent></w:sdt>", "a form"),
        ("<w:p><w:hyperlink>" + YES + "</w:hyperlink></w:p>", "yes"),
        (
            "<w:p><w:r><w:instrText>no</w:instrText></w:r><w:fldSimple>"
            + YES
            + "</w:fldSimple></w:p>",
            "yes",
        ),
        (run("no", "<w:vanish/>") + run("yes", '<w:vanish w:val="0"/>'), "yes"),
        (run("no", '<w:color w:val="FFFFFF"/>') + run("yes"), "yes"),
        (run("yes", '<w:color w:val="FFFFFF"/><w:highlight w:val="black"/>'), "yes"),
        (
            '<w:tbl><w:tr><w:tc><w:tcPr><w:shd w:fill="222222"/></w:tcPr>'
            + run("Head", '<w:color w:val="FFFFFF"/>')
            + "</w:tc></w:tr></w:tbl>",
            "Head",
        ),
        (
            '<w:p><w:r><w:t>10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr>'
            "<w:t>6</w:t></w:r></w:p>",
            "10⁶",
        ),
        ("<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>", "a\tb\nc"),
        (
            "<w:p><w:r><w:t>before</w:t></w:r><w:r><mc:AlternateContent><mc:Choice><w:txbxContent>"
            + run("in a box")
            + "</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>"
            + run("in a box")
            + "</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r></w:p>",
            "before\n\nin a box",
        ),
        (
            '<w:tbl><w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr>' + run("a") + "</w:tc>"
            "<w:tc>"
            + run("b")
            + "</w:tc></w:tr><w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr>"
            + run("")
            + "</w:tc><w:tc><w:tbl><w:tr><w:tc>"
            + run("c")
            + "</w:tc></w:tr></w:tbl></w:tc></w:tr>"
            + "</w:tbl>",
            "a | b\n | c",
        ),
    ],
)
def test_what_the_page_shows(body: str, text: str) -> None:
    assert read(word(body)).text == text


def _with(data: bytes, change: Callable[[str, bytes], bytes], **more: bytes) -> bytes:
    """A package with its parts changed, and `more` of them, named as for `zipped`."""
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        return zipped(**{n: change(n, source.read(n)) for n in source.namelist()}, **more)


def _in(part: str, old: str, new: str) -> Callable[[str, bytes], bytes]:
    return lambda name, data: data.replace(old.encode(), new.encode()) if part in name else data


def test_no_title_and_date_are_invented() -> None:
    found = read(word(run("x")))
    assert (found.title, found.date, found.problem) == ("", "", "")


def test_a_damaged_date_takes_no_title_along() -> None:
    broken = _in("core.xml", "2026-02-03T00:00:00Z", "yesterday")
    found = read(_with(made(_report), broken))
    assert found.title == "Backup report"


def test_foot_and_endnotes_come_at_the_end() -> None:
    package = docx.Document(io.BytesIO(made(_report)))
    for kind, text in (("endnotes", "second"), ("footnotes", "first")):
        root = f'<w:{kind} xmlns:w="{NS}"><w:{kind[:-1]}>{run(text)}</w:{kind[:-1]}></w:{kind}>'
        part = Part(PackURI(f"/word/{kind}.xml"), f"{WORD}.{kind}+xml", root.encode(), None)  # pyright: ignore[reportArgumentType] - typed without None
        package.part.relate_to(part, f"{OFFICE}/{kind}")
    out = io.BytesIO()
    package.save(out)
    assert read(out.getvalue()).text.endswith("The end.\n\nfirst\n\nsecond")


MAIN = f"{WORD}.document.main+xml"


@pytest.mark.parametrize(
    "kind", ["application/vnd.ms-word.document.macroEnabled.main+xml", f"{WORD}.template.main+xml"]
)
def test_templates_and_documents_with_macros(kind: str) -> None:
    assert read(_with(word(run("x")), _in("Content_Types", MAIN, kind))).text == "x"


def test_the_name_that_word_on_the_web_gives() -> None:
    data = _with(word(run("x")), _in("", "document.xml", "document2.xml"))
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        parts = {n.replace("ment.x", "ment2.x"): source.read(n) for n in source.namelist()}
    assert read(zipped(**parts)).text == "x"


def test_a_document_without_styles() -> None:
    bare = _in("document.xml.rels", 'Id="r1"', 'TargetMode="External" Id="r1"')
    assert read(_with(word(run("x")), bare)).text == "x"


def test_what_is_not_read_is_said() -> None:
    math = '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"/>'
    assert read(word(run("x") + f"<w:p>{math}</w:p>")).problem == "not read: formulas"
    assert read(word(run("x") + "<w:altChunk/>")).problem == "not read: embedded documents"
    for kind, what in (
        ("drawingml/2006/chart", '<c:chart xmlns:c="{}"/>'),
        ("drawingml/2006/diagram", '<c:relIds xmlns:c="{}"/>'),
    ):
        part = what.format(f"http://schemas.openxmlformats.org/{kind}")
        drawing = f"<w:p><w:r><w:drawing>{part}</w:drawing></w:r></w:p>"
        named = "charts" if "chart" in kind else "diagrams (SmartArt)"
        assert read(word(run("x") + drawing)).problem == f"not read: {named}"
        assert refused(word(drawing))[1].startswith(f"Word document of {named}")
    assert refused(word("<w:altChunk/>"))[0] == "unsupported"


def test_the_strict_form_is_refused_by_name() -> None:
    other = _in("word/document.xml", NS, "http://purl.oclc.org/ooxml/wordprocessingml/main")
    status, reason = refused(_with(word(run("x")), other))
    assert (status, "strict" in reason) == ("unsupported", True)


ENTITIES = '<!ENTITY a "ha ha ha">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
)


@pytest.mark.parametrize(
    ("entities", "words"),
    [
        (ENTITIES, "&j;"),
        ('<!ENTITY a "not ">', "&a;"),
        ('<!ENTITY a SYSTEM "file:///etc/passwd">', "&a;"),
    ],
)
def test_entities_never_put_in_words(entities: str, words: str) -> None:
    def change(name: str, data: bytes) -> bytes:
        changed = f"<!DOCTYPE d [{entities}]>".encode() + data.replace(b"X", words.encode())
        return changed if name == "word/document.xml" else data

    assert refused(_with(word(run("may X be done")), change))[0] == "corrupt"


def test_a_bomb_in_a_package() -> None:
    bomb = _with(word(run("x")), lambda _, data: data, word__media__a=bytes(60_000_000))
    assert refused(bomb)[0] == "too_large"


def test_what_is_no_word_document_is_named_without_unpacking_it() -> None:
    data = bytearray(zipped(xl__workbook_xml=b"<workbook/>" * 9))
    data[data.index(b"PK\x03\x04") + 45] ^= 0xFF
    assert refused(bytes(data)) == ("unsupported", "Excel workbook: not a format that is read")


def test_what_is_refused() -> None:
    assert refused(word(""))[0] == "empty"
    assert refused(zipped(word__document_xml=b"<broken"))[0] == "corrupt"
    assert refused(zipped(**{"mimetype": b"x"})) == (
        "unsupported",
        "ZIP archive: not a format that is read",
    )
    assert "Excel" in refused(zipped(xl__workbook_xml=b"x"))[1]
    assert "EPUB" in refused(zipped(**{"META-INF__container_xml": b"x"}))[1]
    assert "PowerPoint" in refused(zipped(ppt__presentation_xml=b"x"))[1]
    assert "Java" in refused(zipped(**{"META-INF__MANIFEST.MF": b"x"}))[1]
    assert "OpenDocument" in refused(zipped(content_xml=b"x"))[1]
    scan = _with(word(""), lambda _, data: data, **{"word/media/image1.png": b"\x89PNG"})
    assert refused(scan)[0] == "scanned"


def test_long_chains_of_styles_end() -> None:
    styles = "".join(
        f'<w:style w:styleId="s{n}"><w:basedOn w:val="s{n + 1}"/></w:style>' for n in range(2000)
    )
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="s{n}"/></w:pPr><w:r><w:t>{n}</w:t></w:r></w:p>'
        for n in range(2000)
    )
    assert read(word(body, styles)).text.count("\n\n") == 1999


def test_deep_nesting_ends() -> None:
    deep = "<w:sdt><w:sdtContent>" * 3000 + run("x") + "</w:sdtContent></w:sdt>" * 3000
    assert refused(word(deep))[0] == "corrupt"


_GOOD = made(_report)
_PARTS = word(
    "<w:sdt><w:sdtContent>" + run("some words", '<w:color w:val="FFFFFF"/>') + "</w:sdtContent>"
    "</w:sdt><w:tbl><w:tr><w:tc>" + run("a cell") + "</w:tc></w:tr></w:tbl>"
)


def _changed(data: bytes, changes: list[tuple[int, int]]) -> bytes:
    changed = bytearray(data)
    for place, value in changes:
        changed[place % len(changed)] = value
    return bytes(changed)


def _read_or_refused(data: bytes) -> None:
    try:
        found = read(data)
    except UnreadableFileError:
        return
    assert found.text.strip()
    found.text.encode()


CHANGES = st.lists(st.tuples(st.integers(0, 99_999), st.integers(0, 255)), min_size=1, max_size=9)


@settings(max_examples=60, deadline=None)
@given(CHANGES, st.integers(0, len(_GOOD)))
def test_a_damaged_file_is_read_or_refused(changes: list[tuple[int, int]], cut: int) -> None:
    _read_or_refused(_changed(_GOOD, changes))
    _read_or_refused(_GOOD[:cut])


@settings(max_examples=60, deadline=None)
@given(CHANGES, st.sampled_from(["document.xml", "styles.xml", ".rels", "Content_Types"]))
def test_a_damaged_part_is_read_or_refused(changes: list[tuple[int, int]], part: str) -> None:
    _read_or_refused(
        _with(_PARTS, lambda name, data: _changed(data, changes) if part in name else data)
    )
