"""PDF: hidden words that are tiny, or stand inside of a form.

How it can go wrong: an instruction nobody sees becomes a claim; a title set at size 1 and scaled
up is lost; white words on a bar that a form draws are lost.
"""

import io

import pytest

from activities.ingest.pdf import read_pdf
from tests.ingest.test_pdf import by_hand, drawn

FORMS = "/XObject << /X1 8 0 R >>"


def form(content: str) -> str:
    head = "/Type /XObject /Subtype /Form /BBox [0 0 595 842]"
    fonts = "/Resources << /Font << /F1 5 0 R >> >>"
    return f"<< {head} {fonts} /Length {len(content)} >>\nstream\n{content}\nendstream"


def read(content: str, inner: str = "") -> str:
    data = by_hand(drawn("Shown.") + content, form(inner), resources=FORMS)
    return read_pdf(io.BytesIO(data)).text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("BT /F1 0.5 Tf 50 600 Td (Tiny.) Tj ET", "Shown."),
        ("BT /F1 12 Tf 0.01 0 0 0.01 50 500 Tm (Tiny.) Tj ET", "Shown."),
        ("q 0.02 0 0 0.02 0 0 cm BT /F1 12 Tf 5000 20000 Td (Tiny.) Tj ET Q", "Shown."),
        ("BT /F1 1 Tf 12 0 0 12 50 500 Tm (Scaled.) Tj ET", "Shown.\nScaled."),
        ("q 24 0 0 24 0 0 cm BT /F1 0.5 Tf 5 20 Td (Scaled.) Tj ET Q", "Shown.\nScaled."),
    ],
)
def test_the_size_as_printed_counts(content: str, text: str) -> None:
    assert read(content) == text


@pytest.mark.parametrize("before", ["1 g", "3 Tr"])
def test_hidden_words_of_a_form(before: str) -> None:
    inner = drawn("Unseen.", y=600, before=before) + drawn("Black.", y=500)
    assert read("/X1 Do", inner) == "Shown.\nBlack."


def test_a_form_is_looked_at_where_it_stands() -> None:
    white = drawn("On a bar.", y=600, before="1 g") + drawn("Unseen.", y=500, before="1 g")
    bar = "q 0.2 g 60 340 300 40 re f Q "
    assert read(f"{bar} q 1 0 0 1 20 -250 cm /X1 Do Q", white) == "Shown.\nOn a bar."


def test_the_size_in_a_form_that_is_scaled() -> None:
    inner = "BT /F1 1 Tf 5 20 Td (Of a form.) Tj ET"
    assert read("q 12 0 0 12 0 0 cm /X1 Do Q", inner) == "Shown.\nOf a form."
    assert read("q 0.5 0 0 0.5 50 50 cm /X1 Do Q", inner) == "Shown."


LAYER = "/OC /L1 BDC {} EMC\n"


def layered(content: str, *, on: bool) -> str:
    data = by_hand(
        drawn("Shown.") + content,
        "<< /Type /OCG /Name (Layer) >>",
        resources="/Properties << /L1 8 0 R >>",
    )
    off = "" if on else "/OFF [8 0 R]"
    layers = f"/OCProperties << /OCGs [8 0 R] /D << {off} >> >>".encode()
    return read_pdf(io.BytesIO(data.replace(b"/Outlines 7 0 R", layers))).text


@pytest.mark.parametrize(
    "content",
    [
        LAYER.format(drawn("Layer.", y=600)),
        # Over other words, so that its place is not of one colour.
        drawn("Other words here.", y=600) + LAYER.format(drawn("Layer.", y=602)),
        "/P << /MCID 0 >> BDC " + LAYER.format(drawn("Layer.", y=600)) + " EMC",
    ],
)
def test_layers(content: str) -> None:
    assert "Layer." in layered(content, on=True)
    assert "Layer." not in layered(content, on=False)
    assert "Shown." in layered(content, on=False)
    assert ("Other" in layered(content, on=False)) is ("Other" in content)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        # A bar over words, as somebody blackens them who does not know better.
        ("q 0 g 40 595 120 20 re f Q", "Shown."),
        ("q 1 g 40 595 120 20 re f Q", "Shown."),
        ("q 1 g 40 595 20 20 re f Q", "Shown.\nSecret words."),  # a part of it only
        ("q 0 g 40 590 120 1 re f Q", "Shown.\nSecret words."),  # a line below it
        ("q 0 g 40 595 120 20 re S Q", "Shown.\nSecret words."),  # a frame
        ("q /G1 gs 1 1 0 rg 40 595 120 20 re f Q", "Shown.\nSecret words."),  # a marker
    ],
)
def test_words_under_a_bar(content: str, text: str) -> None:
    marker = "/ExtGState << /G1 << /ca 0.4 >> >>"
    data = by_hand(drawn("Shown.") + drawn("Secret words.", y=600) + content, resources=marker)
    assert read_pdf(io.BytesIO(data)).text == text


def test_words_before_a_bar_are_on_it() -> None:
    bar = "q 0 0 1 rg 40 595 120 20 re f Q"
    data = by_hand(bar + drawn("Shown.", y=600, before="1 g") + drawn("Black.", y=500))
    assert read_pdf(io.BytesIO(data)).text == "Shown.\nBlack."


def pictured(width: int, y: int, height: int = 400) -> str:
    """A picture of a width from the left, and invisible words at a height of the page."""
    picture = "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8"
    picture += " /ColorSpace /DeviceGray /Length 1 >>\nstream\nx\nendstream"
    content = f"q {width} 0 0 {height} 0 200 cm /X1 Do Q\n" + drawn("Unseen.", y=y, before="3 Tr")
    data = by_hand(drawn("Shown.", y=800) + content, picture, resources=FORMS)
    return read_pdf(io.BytesIO(data)).text


@pytest.mark.parametrize(
    ("width", "y", "read_"),
    [(595, 400, True), (595, 700, False), (100, 400, False), (40, 50, False)],
)
def test_invisible_words_belong_to_a_scan(width: int, y: int, read_: bool) -> None:
    assert ("Unseen." in pictured(width, y)) is read_
