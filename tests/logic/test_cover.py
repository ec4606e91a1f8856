"""The cover rule: rare words weigh most, absent ones most of all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflows.logic.cover import absence, cover, idf, inflections, weighed


def test_rare_words_weigh_more() -> None:
    assert idf(0, 100) > idf(1, 100) > idf(50, 100) > idf(100, 100) > 0


def test_share_of_weight() -> None:
    weights = {"ksm": 3.0, "memory": 1.0}
    assert cover(weights, {"ksm", "page"}) == 0.75
    assert cover(weights, {"ksm", "memory"}) == 1.0
    assert cover(weights, set()) == 0.0
    assert cover({}, {"ksm"}) == 0.0


def test_inflected_forms_hold_a_word() -> None:
    held = {"package": 5, "installs": 2}
    query = weighed(["packages", "installed"], lambda token: held.get(token, 0), 1000)
    assert query.forms == {"packages": ("package",), "installed": ("installs",)}
    assert query.cover({"package", "installs"}) == 1.0
    assert query.searched() == ["package", "installs"]


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("queries", "query"),
        ("query", "queries"),
        ("stopped", "stop"),
        ("closing", "close"),
        ("close", "closed"),
        ("boxes", "box"),
        ("match", "matches"),
    ],
)
def test_forms(word: str, form: str) -> None:
    assert form in inflections(word)


@pytest.mark.parametrize("word", ["bus", "3.11", "agent_loop", "部署", "naïve", "ksm"])
def test_no_forms_of_what_is_no_english_word(word: str) -> None:
    assert word not in inflections(word)
    assert all(form.isascii() and form.isalpha() for form in inflections(word))


def test_absence_tells_more_in_a_large_collection() -> None:
    assert absence(0) == absence(10) == absence(100) == 1.0
    assert 1.0 < absence(1000) < absence(10_000) == absence(1_000_000) == 3.0


def test_absent_words_and_borders_between_chinese_words() -> None:
    held = {"软": 40, "件": 40, "件包": 30, "软件": 40, "包": 40}
    query = weighed(["软件", "包软", "糖尿", "vaccine"], lambda t: held.get(t, 0), 1000)
    assert query.weights["包软"] == idf(0, 1000)
    assert query.weights["糖尿"] == query.weights["vaccine"] == 2 * idf(0, 1000)


@given(
    st.dictionaries(st.text(min_size=1, max_size=8), st.integers(0, 50), max_size=8),
    st.sets(st.text(min_size=1, max_size=8), max_size=8),
)
def test_a_share_is_a_share(frequencies: dict[str, int], held: set[str]) -> None:
    query = weighed(frequencies, lambda token: frequencies.get(token, 0), 50)
    share = query.cover(held)
    assert 0.0 <= share <= 1.0
    assert share <= query.cover(held | set(query.searched()))
