"""PDF: filled forms, notes and text put on a page; lines of turned pages.

How it can go wrong: the answers of a filled form are lost; a hidden note or a password becomes a
claim; a scan with a note on it is no scan any more; lines of a turned page run together.
"""

import io

import pytest

from activities.ingest.document import Extracted
from activities.ingest.pdf import read_pdf
from tests.ingest.test_pdf import by_hand, drawn

RECT = "/Rect [50 600 250 620]"


def annotated(*annotations: str, content: str = drawn("Shown.")) -> bytes:
    """A page with annotations; those that are fields make the form of the document."""
    bodies = [f"<< /Type /Annot {annotation} >>" for annotation in annotations]
    numbers = " ".join(f"{8 + place} 0 R" for place in range(len(bodies)))
    data = by_hand(content, *bodies, page=f"/Annots [{numbers}]")
    form = f"/AcroForm << /Fields [{numbers}] /DA (/F1 12 Tf 0 g) >>".encode()
    return data.replace(b"/Outlines 7 0 R", form)


def read(data: bytes) -> Extracted:
    return read_pdf(io.BytesIO(data))


@pytest.mark.parametrize(
    ("annotation", "line"),
    [
        ("/Subtype /Text /Contents (Ask again.)", "[Note: Ask again.]"),
        ("/Subtype /Text /Contents <FEFF751F4EA7>", "[Note: 生产]"),
        ("/Subtype /Highlight /Contents (Is it so?)", "[Note: Is it so?]"),
        ("/Subtype /FreeText /DA (0 g) /Contents (Draft)", "[Text on the page: Draft]"),
        ("/Subtype /FreeText /DA (1 0 0 rg) /Contents (Red)", "[Text on the page: Red]"),
        ("/Subtype /FreeText /DA (1 1 1 rg /F1 9 Tf) /Contents (Unseen)", ""),
        ("/Subtype /Text /F 2 /Contents (Hidden)", ""),
        ("/Subtype /Text /F 32 /Contents (Not viewed)", ""),
        ("/Subtype /Popup /Contents (Twice)", ""),
        ("/Subtype /Link /Contents (A link)", ""),
        ("/Subtype /Text /Contents ( )", ""),
        ("/Subtype /Widget /FT /Tx /T (city) /V (Bonn)", "[Form field city: Bonn]"),
        ("/Subtype /Widget /FT /Tx /T (c) /TU (City) /V (Bonn)", "[Form field City: Bonn]"),
        ("/Subtype /Widget /FT /Ch /Ff 131072 /T (c) /V (Ulm)", "[Form field c: Ulm]"),
        ("/Subtype /Widget /FT /Tx /T (c)", ""),
        ("/Subtype /Widget /FT /Tx /Ff 8192 /T (p) /V (secret)", ""),
        ("/Subtype /Widget /FT /Tx /F 2 /T (c) /V (Bonn)", ""),
        (
            "/Subtype /Widget /FT /Btn /T (paid) /AS /On /V /On /AP << /N << /On 4 0 R >> >>",
            "[Form field paid: checked]",
        ),
        ("/Subtype /Widget /FT /Btn /T (paid) /AS /Off /AP << /N << /On 4 0 R >> >>", ""),
    ],
)
def test_what_was_filled_in_and_noted(annotation: str, line: str) -> None:
    text = read(annotated(f"{annotation} {RECT}")).text
    assert text == "\n\n".join(filter(None, ["Shown.", line]))


def test_a_field_without_a_place_is_not_seen() -> None:
    field = "/Subtype /Widget /FT /Tx /T (c) /V (Bonn)"
    assert read(annotated(f"{field} /Rect [0 0 0 0]")).text == "Shown."


def test_the_same_note_twice_is_one() -> None:
    note = f"/Subtype /Text /Contents (Once.) {RECT}"
    assert read(annotated(note, note)).text == "Shown.\n\n[Note: Once.]"


def test_a_note_alone_is_the_text_of_a_page() -> None:
    found = read(annotated(f"/Subtype /Text /Contents (Alone.) {RECT}", content=""))
    assert found.text == "[Note: Alone.]"
    assert [h.title for h in found.headings] == ["p. 1"]


@pytest.mark.parametrize("turn", ["0 1 -1 0", "0 -1 1 0", "-1 0 0 -1"])
@pytest.mark.parametrize("page", ["", "/Rotate 90", "/Rotate 270"])
def test_lines_of_turned_pages_stay_apart(turn: str, page: str) -> None:
    step = 20 if turn == "0 1 -1 0" else -20
    content = "".join(
        f"BT /F1 12 Tf {turn} {300 + step * place} 400 Tm ({line}) Tj ET\n"
        for place, line in enumerate(("First line", "Second line", "Third"))
    )
    words = read(by_hand(content, page=page)).text.split()
    assert sorted(words) == ["First", "Second", "Third", "line", "line"]
