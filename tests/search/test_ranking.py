"""Which chunks are looked at: most of the query first, ties told, BM25 among them.

How it can go wrong: an ordinary word hides the rare one; a chunk with all words is missed; many
chunks that hold the same are cut at random; a stem counts as much as the word.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.search.excerpt import excerpt
from activities.search.ranking import Rows, Tokens, fullest
from tests.case_files import load
from workflows.contracts.evidence import EXCERPT_CHARACTERS
from workflows.logic.cover import Weighed

WORDS = {"rare": 5.0, "usual": 2.0, "common": 0.5}
QUERY = Weighed(WORDS, {word: (word,) for word in WORDS})


def best(rows: dict[str, Rows], limit: int) -> list[int] | None:
    return fullest(QUERY, lambda form: len(rows[form]), rows.__getitem__, limit)


def test_chunks_that_hold_more_come_first() -> None:
    rows = {
        "rare": frozenset({1, 2, 5}),
        "usual": frozenset({2, 3, 4}),
        "common": frozenset({4, *range(10, 30)}),
    }
    assert best(rows, 6) == [2, 1, 5, 4, 3, 10]


def test_equal_ones_are_told() -> None:
    rows = {"rare": frozenset(range(100)), "usual": frozenset[int](), "common": frozenset({500})}
    assert best(rows, 10) is None
    assert best({**rows, "usual": frozenset(range(5))}, 10) is not None
    assert best({**rows, "rare": frozenset(range(9))}, 10) == [*range(9), 500]


def test_nothing_is_found_of_nothing() -> None:
    assert best(dict.fromkeys(WORDS, frozenset[int]()), 5) == []


def test_a_common_word_counts_for_chunks_that_hold_a_rarer_one() -> None:
    rows = {
        "rare": frozenset(range(20)),
        "usual": frozenset(range(15, 2500)),
        "common": frozenset(range(18, 4000)),
    }
    assert best(rows, 8) == [18, 19, 15, 16, 17, 0, 1, 2]


@given(
    st.fixed_dictionaries({word: st.frozensets(st.integers(0, 40), max_size=30) for word in WORDS}),
    st.integers(6, 50),
)
def test_the_best_hold_at_least_as_much_as_any_other(rows: dict[str, Rows], limit: int) -> None:
    found = best(rows, limit)
    worth = {
        row: sum(weight for word, weight in WORDS.items() if row in rows[word])
        for row in frozenset[int]().union(*rows.values())
    }
    if found is None:
        return
    assert len(found) == min(limit, len(worth)) == len(set(found))
    left = [worth[row] for row in worth if row not in set(found)]
    assert not left or min(worth[row] for row in found) >= max(left)
    assert [worth[row] for row in found] == sorted((worth[row] for row in found), reverse=True)


def test_rank_and_what_is_held() -> None:
    forms = {"index": ("index", "~index"), "vacuum": ("vacuum", "~vacuum")}
    query = Weighed({"index": 1.0, "vacuum": 3.0}, forms)
    exact = Tokens("vacuum the index", "page", "~vacuum ~the ~index ~page")
    stem = Tokens("vacuuming the indexes", "page", "~vacuum ~the ~index ~page")
    headed = Tokens("nothing", "vacuum", "~noth ~vacuum")
    rank, held = exact.ranked(query)
    assert held == {"index", "~index", "vacuum", "~vacuum"}
    assert stem.ranked(query)[1] == {"~index", "~vacuum"}
    assert 0 < stem.ranked(query)[0] < rank
    assert headed.ranked(query)[0] > Tokens("vacuum", "", "~vacuum").ranked(query)[0]
    assert Tokens("else", "", "").ranked(query) == (0.0, frozenset())
    again = Tokens("vacuum " * 9, "", "~vacuum")
    assert again.ranked(query)[0] > Tokens("vacuum", "", "~vacuum").ranked(query)[0]


def test_tokens_joined_and_asked() -> None:
    joined = Tokens("a b", "h", "~a").joined(Tokens("c", "h", "~c"))
    assert joined.held_of(frozenset({"a", "c", "~c", "x"})) == {"a", "c", "~c"}


@pytest.mark.cases("planner_cases.json")
@pytest.mark.parametrize(
    "case", load("planner_cases.json")["digest_lengths"], ids=lambda case: str(case["length"])
)
def test_a_digest_has_at_most_four_hundred_characters(case: dict[str, Any]) -> None:
    """The whole text lies in the store (REQUIREMENTS 67)."""
    text = "x" * case["length"]
    made = excerpt(text, Weighed({}, {}), EXCERPT_CHARACTERS)
    assert len(made) == case["expected_digest_length"]
