"""What a search's result does to the state: ids, ranges, coverage, progress."""

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from workflows.contracts.acts import SearchResult
from workflows.contracts.evidence import Hit
from workflows.contracts.state import LEDGER_ENTRIES, RunState
from workflows.logic.ledger import accept, add_range, has_evidence, missing_topics, repeated

REF = "sha256:" + "0" * 64


def hit(source: str, start: int = 0, end: int = 10, **more: Any) -> Hit:
    return Hit(source_id=source, title=source, sha="0" * 16, start=start, end=end, **more)


def found(*hits: Hit) -> SearchResult:
    return SearchResult(ok=True, hits=list(hits), page_ref=REF)


def test_new_sources_take_the_next_numbers_in_order() -> None:
    state = RunState()
    first = accept(state, "q", found(hit("a"), hit("b"), hit("a", 20, 30)))
    second = accept(state, "r", found(hit("b", 50, 60, known=2), hit("c")))
    assert [e.source_id for e in state.ledger] == ["a", "b", "c"]
    assert (first.new_sources, second.new_sources) == (2, 1)
    assert (first.numbers, second.numbers) == ([1, 2], [2, 3])
    assert state.page_first == 3  # the first number that is new on the newest page


def test_known_sources_with_known_ranges_are_no_progress() -> None:
    state = RunState()
    accept(state, "q", found(hit("a")))
    accept(state, "r", found(hit("a", known=1)))
    assert (state.no_progress, len(state.ledger)) == (1, 1)
    accept(state, "s", found(hit("a", 5, 30, known=1)))  # a range not wholly seen (DESIGN)
    assert state.no_progress == 0


def test_an_empty_result_takes_an_id_and_counts_for_nothing() -> None:  # C4, C48
    state = RunState()
    accept(state, "q", found())
    assert state.ledger[0].empty
    assert state.no_progress == 1
    assert not has_evidence(state.ledger)
    accept(state, "r", found(hit("a")))
    assert [e.source_id for e in state.ledger] == ["", "a"]


def test_a_failure_takes_no_id_and_keeps_the_page() -> None:
    state = RunState(page_ref="sha256:" + "1" * 64, page_first=1)
    seen = accept(state, "q", SearchResult(ok=False, error="upstream_down"))
    assert (seen.ok, seen.error, state.no_progress) == (False, "upstream_down", 1)
    assert state.ledger == []
    assert state.page_ref.endswith("1")
    assert state.queries[0].passages == -1


def test_a_repeat_is_no_progress_and_no_search() -> None:
    state = RunState()
    assert repeated(state).error == "repeated_query"
    assert (state.no_progress, state.queries) == (1, [])


def test_coverage_keeps_the_callers_order_and_never_shrinks() -> None:
    state = RunState()
    accept(state, "q", found(hit("a", declared=[2]), hit("b", covers=[0])))
    assert missing_topics(state, 4) == [1, 3]
    assert state.covered == {"2": "declared", "0": "cover"}
    accept(state, "r", found())
    assert missing_topics(state, 4) == [1, 3]


def test_the_state_stays_under_512_kb_whatever_the_length() -> None:
    state = RunState()
    for call in range(2000):
        room = LEDGER_ENTRIES - len(state.ledger)
        hits = [hit(f"corpus:{'d' * 40}/{call}-{i}.html") for i in range(min(5, room))]
        accept(
            state, f"query {call}", found(*(h.model_copy(update={"title": "t" * 80}) for h in hits))
        )
        state.query_keys.append(f"{call:016x}")
    assert len(state.ledger) == LEDGER_ENTRIES
    assert len(state.model_dump_json(exclude_defaults=True)) < 512_000


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=30))
def test_ranges_stay_sorted_disjoint_and_hold_exactly_what_was_added(
    pairs: list[tuple[int, int]],
) -> None:
    ranges: list[list[int]] = []
    points: set[int] = set()
    for start, length in pairs:
        added = set(range(start, start + length))
        assert add_range(ranges, start, start + length) == (not added <= points)
        points |= added
    assert {p for low, high in ranges for p in range(low, high)} == points
    assert all(a[1] < b[0] for a, b in pairwise(ranges))
