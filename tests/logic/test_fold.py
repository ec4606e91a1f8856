"""Folding: what counts as the same, and the way back to the raw text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflows.logic.fold import fold, weight

TEXTS = st.text(
    st.one_of(
        st.sampled_from("aZß１ａＺ証据的。，“”‘’—-…\u00ad\u3000 \n\t09⁶½①ﬁée\u0301ｶﾞ한"),
        st.characters(),
    ),
    max_size=80,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ｈｅｌｌｏ，１２", "hello,12"),
        ("“quoted” ‘text’", "\"quoted\" 'text'"),
        ("「引文」", '"引文"'),
        ("a — b – c − d", "a-b-c-d"),
        ("wait…", "wait..."),
        ("white\n space\u3000gone", "whitespacegone"),
        ("工具\n契约", "工具契约"),
        ("hyphen-\nated", "hyphenated"),
        ("soft\u00adhyphen", "softhyphen"),
        ("eﬃcient ﬁle", "efficient file"),
        ("cafe\u0301", "café"),
        ("STRASSE", "straße"),
        ("ガ", "カ\u3099"),
    ],
)
def test_the_same(one: str, other: str) -> None:
    assert fold(one).text == fold(other).text


@pytest.mark.parametrize(
    ("one", "other"),
    [("10⁶", "106"), ("½", "1/2"), ("①", "1"), ("10 000", "10000"), ("H₂O", "h2o"), ("²", "2")],
)
def test_not_the_same(one: str, other: str) -> None:
    assert fold(one).text != fold(other).text


def test_every_hyphen_between_letters_can_be_left_out() -> None:
    assert fold("well-\nknown, un-able, 3-4", hyphens=False).text == "wellknown,unable,3-4"


@given(TEXTS, st.booleans())
def test_offsets_grow_and_point_to_what_was_folded(text: str, hyphens: bool) -> None:
    folded = fold(text, hyphens)
    assert len(folded.text) == len(folded.offsets)
    assert list(folded.offsets) == sorted(folded.offsets)
    for character, offset in zip(folded.text, folded.offsets, strict=True):
        assert character == " " or not text[offset].isspace()


@given(TEXTS)
def test_folding_twice_changes_nothing(text: str) -> None:
    once = fold(text).text
    assert fold(once).text.replace(" ", "") == once.replace(" ", "")


def test_weight_counts_cjk_twice() -> None:
    assert weight("abc 12 证据!") == 7
