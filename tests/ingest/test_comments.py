"""HTML comments of Markdown: what no reader of the page sees is left out, and nothing else is.

How it can go wrong: a comment in an example of code is lost; one that never ends takes the rest of
the file along in silence, or a hidden instruction becomes a claim; a `<!--` that is only spoken of
hides everything up to the next comment.
"""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.ingest.comments import comments
from activities.ingest.markdown import read_markdown
from activities.ingest.readers import read_document


def hidden(text: str) -> list[str]:
    return [text[start:end] for start, end in comments(text).ranges]


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("a <!-- x --> b", ["<!-- x -->"]),
        ("a <!-- x\ny --> b", ["<!-- x\ny -->"]),
        ("<!-- x\n\ny --> b", ["<!-- x\n\ny -->"]),
        ("a\n<!-- x --> b <!-- y -->\nc", ["<!-- x -->", "<!-- y -->"]),
        ("<!--> b", ["<!-->"]),
        ("中文<!-- 不显示 -->显示", ["<!-- 不显示 -->"]),
        # In code nothing is a comment.
        ("`<!-- x -->`", []),
        ("`` ` <!-- x --> ``", []),
        ("a `<!--\nx -->` b", []),
        ("```html\n<!-- x -->\n```", []),
        ("~~~\n<!-- x -->\n```\n<!-- y -->\n~~~\n<!-- z -->", ["<!-- z -->"]),
        ("a\n\n    <!-- x -->\n", []),
        ("a\n\n\t<!-- x -->\n", []),
        ("- a\n\n      <!-- x -->\n", []),
        ("> ```\n> <!-- x -->\n> ```\n<!-- y -->", ["<!-- y -->"]),
        # What goes on with a paragraph, or belongs to an item, is none.
        ("a\n    <!-- x -->", ["<!-- x -->"]),
        ("1. a\n\n   <!-- x -->", ["<!-- x -->"]),
        ("- a\n\n    <!-- x -->", ["<!-- x -->"]),
        # Spoken of, not opened.
        ("Open it by `<!--`.\n\nb <!-- x --> c", ["<!-- x -->"]),
        ("Open it by <!-- here.\n\nb --> c", []),
        ("Open it by \\<!-- here --> b", []),
        ("# Head <!-- x\ny --> z", []),
        ("a `<!--\nb <!-- x\ny --> c\n\nd `e", ["<!--\nb <!-- x\ny -->"]),
        # It ends with the quote or item it stands in.
        ("> <!-- x\n> y\n\nz", ["<!-- x\n> y\n"]),
        ("- <!-- x\n  y\n\nz", ["<!-- x\n  y\n\n"]),
        ("a\n\n<!-- x\n\nb\n", ["<!-- x\n\nb\n"]),
    ],
)
def test_comments(text: str, gone: list[str]) -> None:
    assert hidden(text) == gone


def test_a_comment_that_never_ends_is_named() -> None:
    text = "---\ntitle: T\n---\nSeen.\n\n<!-- note\n\nNot shown.\n"
    document = read_document(io.BytesIO(text.encode()), "a.md", 0)
    assert document.text.strip() == "Seen."
    assert document.problem.startswith("line 6 begins a comment that never ends")


def test_code_with_comments_is_kept_as_written() -> None:
    text = "Put this first:\n\n    <!-- licence -->\n    <body>\n\nThen go on.\n"
    assert read_markdown(text).text == text


@given(st.lists(st.sampled_from(["<!--", "-->", "a", "`", "\n", "    ", "- ", "> ", "```\n"])))
def test_ranges_are_in_order_and_inside(parts: list[str]) -> None:
    text = "".join(parts)
    places = [place for found in comments(text).ranges for place in found]
    assert places == sorted(places)
    assert all(0 <= place <= len(text) for place in places)
    assert all(piece.startswith("<!--") for piece in hidden(text))
