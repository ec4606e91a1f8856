"""Word documents: boxes, branches, symbols, raised digits and white words, each once and as shown.

How it can go wrong: nested boxes take time that doubles with each; the words of a box come twice;
a row that was deleted becomes a claim; a header row in white is lost.
"""

import io
import time

import pytest

from activities.ingest.word import read_docx
from tests.ingest.word_files import run, word


def read(body: str, styles: str = "") -> str:
    return read_docx(io.BytesIO(word(body, styles))).text


def box(*paragraphs: str) -> str:
    return f"<w:r><w:pict><w:txbxContent>{''.join(paragraphs)}</w:txbxContent></w:pict></w:r>"


def branches(*contents: str) -> str:
    first, *rest = contents
    return (
        f"<w:r><mc:AlternateContent><mc:Choice>{first}</mc:Choice>"
        + "".join(f"<mc:Fallback>{content}</mc:Fallback>" for content in rest)
        + "</mc:AlternateContent></w:r>"
    )


def cell(content: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"


def raised(text: str) -> str:
    return (
        f'<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>{text}</w:t></w:r>'
        "<w:proofErr/>"
    )


WHITE = '<w:color w:val="FFFFFF"/>'
SHADE = '<w:shd w:val="clear" w:fill="4472C4"/>'
TABLE = (
    '<w:style w:type="table" w:styleId="G"><w:name w:val="Grid"/><w:tblStylePr w:type="firstRow">'
    f"<w:tcPr>{SHADE}</w:tcPr></w:tblStylePr></w:style>"
)


def test_boxes_in_boxes_are_read_once_and_at_once() -> None:
    inner = run("inner")
    assert read(
        f"<w:p><w:r><w:t>a</w:t></w:r>{box(run('b'), f'<w:p>{box(inner)}</w:p>')}</w:p>"
    ) == ("a\n\nb\n\ninner")
    for _ in range(60):
        inner = f"<w:p>{box(inner)}</w:p>"
    started = time.process_time()
    assert read(inner) == "inner"
    assert time.process_time() - started < 2


def test_a_box_in_a_cell_is_read_once() -> None:
    inside = (
        f"<w:p><w:r><w:t>cell</w:t></w:r>{branches(box(run('boxed')), box(run('boxed')))}</w:p>"
    )
    assert read(f"<w:tbl><w:tr>{cell(inside)}</w:tr></w:tbl>") == "cell boxed"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<w:p>{branches('<w:t>a</w:t>', '<w:t>b</w:t>')}</w:p>", "a"),
        (
            "<w:p><w:r><mc:AlternateContent><mc:Fallback><w:t>only</w:t></mc:Fallback>"
            "</mc:AlternateContent></w:r></w:p>",
            "only",
        ),
        (f"<w:p><w:del>{box(run('no'))}</w:del><w:r><w:t>yes</w:t></w:r></w:p>", "yes"),
        (
            f"<w:tbl><w:tr>{cell(run('kept'))}</w:tr>"
            f"<w:tr><w:trPr><w:del/></w:trPr>{cell(run('no'))}</w:tr></w:tbl>",
            "kept",
        ),
        (
            '<w:p><w:r><w:t>a</w:t><w:sym w:font="Wingdings" w:char="F0E0"/><w:t>b</w:t>'
            '<w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Arial" w:char="00A7"/>'
            '<w:sym w:font="Odd" w:char="F061"/><w:sym w:char="no"/></w:r></w:p>',
            "a→bα§",
        ),
        (f"<w:p><w:r><w:t>10</w:t></w:r>{raised('-')}{raised('6')}</w:p>", "10⁻⁶"),
        ("<w:p><w:r><w:t>hel<!-- x -->lo</w:t></w:r></w:p>", "hello"),
        (
            "<w:p><w:r><w:ruby><w:rt><w:r><w:t>ji</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>计"
            "</w:t></w:r></w:rubyBase></w:ruby></w:r></w:p>",
            "计",
        ),
        *(
            (
                f'<w:p><w:pPr><w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>'
                "</w:pPr><w:r><w:t>item</w:t></w:r></w:p>",
                "- item",
            )
            for level in ("999999999", "²", "-1")
        ),
    ],
)
def test_what_the_page_shows(body: str, text: str) -> None:
    assert read(body) == text


def test_white_words_on_the_ground_of_a_style() -> None:
    rows = "".join(f"<w:tr>{cell(run(words, WHITE))}</w:tr>" for words in ("Head", "no"))
    table = f'<w:tbl><w:tblPr><w:tblStyle w:val="G"/></w:tblPr>{rows}</w:tbl>'
    assert read(table, TABLE) == "Head"
    banner = (
        f'<w:p><w:pPr><w:pStyle w:val="B"/></w:pPr><w:r><w:rPr>{WHITE}</w:rPr>'
        "<w:t>Banner</w:t></w:r></w:p>"
    )
    style = f'<w:style w:styleId="B"><w:name w:val="b"/><w:pPr>{SHADE}</w:pPr></w:style>'
    assert read(banner, style) == "Banner"
