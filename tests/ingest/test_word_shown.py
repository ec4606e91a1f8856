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


def shape(fill: str, style: str = "") -> str:
    """White words in a text box of a shape."""
    content = f"<w:txbxContent>{run('white', WHITE)}</w:txbxContent>"
    return (
        f"<w:p><w:r><w:drawing><wps:wsp><wps:spPr>{fill}</wps:spPr>{style}"
        f"<wps:txbx>{content}</wps:txbx></wps:wsp></w:drawing></w:r></w:p>"
    )


def drawn(attributes: str) -> str:
    """The same as Word wrote it before 2010."""
    content = f"<w:txbxContent>{run('white', WHITE)}</w:txbxContent>"
    return f"<w:p><w:r><w:pict><v:rect {attributes}>{content}</v:rect></w:pict></w:r></w:p>"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (shape('<a:solidFill><a:srgbClr val="203060"/></a:solidFill>'), "white"),
        (shape('<a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill>'), ""),
        (shape('<a:solidFill><a:schemeClr val="accent1"/></a:solidFill>'), "white"),
        (shape('<a:solidFill><a:schemeClr val="bg1"/></a:solidFill>'), ""),
        (
            shape(
                '<a:solidFill><a:schemeClr val="bg1"><a:lumMod val="50000"/></a:schemeClr>'
                "</a:solidFill>"
            ),
            "white",
        ),
        (
            shape('<a:solidFill><a:sysClr val="windowText" lastClr="000000"/></a:solidFill>'),
            "white",
        ),
        (shape("<a:gradFill/>"), "white"),
        (shape("<a:noFill/>"), ""),
        (shape(""), ""),
        (
            shape(
                "",
                '<wps:style><a:fillRef idx="1"><a:schemeClr val="accent1"/></a:fillRef>'
                "</wps:style>",
            ),
            "white",
        ),
        (drawn('fillcolor="#203060"'), "white"),
        (drawn('fillcolor="white [3212]"'), ""),
        (drawn('fillcolor="#203060" filled="f"'), ""),
        (drawn(""), ""),
    ],
)
def test_white_words_on_the_fill_of_a_box(body: str, text: str) -> None:
    assert read(run("x") + body) == "\n\n".join(filter(None, ["x", text]))


def test_white_words_on_a_page_of_another_colour() -> None:
    for colour, text in (("000000", "x\n\nwhite"), ("FFFFFF", "x")):
        page = f'<w:background w:color="{colour}"/>'
        data = word(run("x") + run("white", WHITE), page=page)
        assert read_docx(io.BytesIO(data)).text == text


@pytest.mark.parametrize("hidden", ["<w:vanish/>", '<w:rStyle w:val="H"/>'])
def test_a_box_in_a_hidden_run_is_hidden(hidden: str) -> None:
    style = '<w:style w:type="character" w:styleId="H"><w:rPr><w:vanish/></w:rPr></w:style>'
    boxed = box(run("no")).replace("<w:r>", f"<w:r><w:rPr>{hidden}</w:rPr>", 1)
    paragraph = f"<w:p><w:r><w:t>yes</w:t></w:r>{boxed}</w:p>"
    assert read(paragraph, style) == "yes"
    assert read(f"<w:tbl><w:tr>{cell(paragraph)}</w:tr></w:tbl>", style) == "yes"


def fields(*pieces: str) -> str:
    """A paragraph of marks of fields (`<`, `|`, `>`) and words."""
    kinds = {"<": "begin", "|": "separate", ">": "end"}
    marks = (
        f'<w:fldChar w:fldCharType="{kinds[piece]}"/>' if piece in kinds else f"<w:t>{piece}</w:t>"
        for piece in pieces
    )
    return f"<w:p>{''.join(f'<w:r>{mark}</w:r>' for mark in marks)}</w:p>"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (fields("a", "<", "|", "b", ">", "c"), "abc"),
        # The result of the inner field is a part of the instruction of the outer one.
        (fields("<", "<", "|", "no", ">", "|", "yes", ">"), "yes"),
        (fields("<", "|", "a", "<", "|", "b", ">", "c", ">"), "abc"),
        (fields("<", ">", "a"), "a"),
        (fields(">", "|", "a"), "a"),
        # The result of a field may go on in the next paragraphs.
        (fields("<", "|", "a") + fields("b") + fields("c", ">", "d"), "a\n\nb\n\ncd"),
        (fields("<") + fields("a"), "a"),
    ],
)
def test_fields(body: str, text: str) -> None:
    assert read(body) == text


def test_marks_of_fields_count_in_hidden_runs() -> None:
    begin, separate, end = (
        f'<w:r><w:rPr><w:vanish/></w:rPr><w:fldChar w:fldCharType="{kind}"/></w:r>'
        for kind in ("begin", "separate", "end")
    )
    inner = "<w:r><w:t>no</w:t></w:r>"
    assert read(f"<w:p>{begin}{inner}{separate}<w:r><w:t>yes</w:t></w:r>{end}</w:p>") == "yes"


def span(columns: str) -> str:
    return f'<w:gridSpan w:val="{columns}"/>'


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            cell(run("a"), span("2"))
            + cell(run("b"))
            + "</w:tr><w:tr>"
            + "".join(cell(run(n)) for n in "123"),
            "a |  | b\n1 | 2 | 3",
        ),
        (cell(run("a"), span("3")), "a"),
        ('<w:trPr><w:gridBefore w:val="1"/></w:trPr>' + cell(run("a")), " | a"),
        (cell(run("a"), span("99999999999")) + cell(run("b")), "a | b"),
        (cell(run("a"), span("²")) + cell(run("b")), "a | b"),
    ],
)
def test_cells_over_several_columns(rows: str, text: str) -> None:
    assert read(f"<w:tbl><w:tr>{rows}</w:tr></w:tbl>") == text


def test_a_paragraph_that_looks_like_an_item_joins_no_list() -> None:
    item = (
        '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>'
        "<w:r><w:t>{}</w:t></w:r></w:p>"
    )
    body = run("- a dash") + item.format("one") + item.format("two") + run("- a dash")
    assert read(body) == "- a dash\n\n- one\n- two\n\n- a dash"
