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
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.ingest.chunks import chunks
from activities.ingest.document import Extracted, UnreadableFileError
from activities.ingest.word import read_docx
from tests.ingest.word_files import run, word, zipped

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


def test_what_is_refused() -> None:
    assert refused(word(""))[0] == "empty"
    assert refused(zipped(word__document_xml=b"<broken"))[0] == "corrupt"
    assert refused(zipped(**{"mimetype": b"x"})) == (
        "unsupported",
        "ZIP archive: not a format that is read",
    )
    assert "Excel" in refused(zipped(xl__workbook_xml=b"x"))[1]
    assert "EPUB" in refused(zipped(**{"META-INF__container_xml": b"x"}))[1]
    image = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(word(""))) as source, zipfile.ZipFile(image, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name))
        target.writestr("word/media/image1.png", b"\x89PNG")
    assert refused(image.getvalue())[0] == "scanned"


def test_deep_nesting_ends() -> None:
    deep = "<w:sdt><w:sdtContent>" * 3000 + run("x") + "</w:sdtContent></w:sdt>" * 3000
    assert refused(word(deep))[0] == "corrupt"


_GOOD = made(_report)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(_GOOD) - 1), st.integers(0, 255)), max_size=9))
def test_a_damaged_file_is_read_or_refused(changes: list[tuple[int, int]]) -> None:
    data = bytearray(_GOOD)
    for place, value in changes:
        data[place] = value
    try:
        found = read(bytes(data))
    except UnreadableFileError:
        return
    assert found.text.strip()
    found.text.encode()
