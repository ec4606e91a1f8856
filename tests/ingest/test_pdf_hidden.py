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
