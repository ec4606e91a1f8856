"""What a search's result does to the state: evidence, ranges seen, coverage, progress.

Progress is a new source or a passage whose range was not yet seen (DESIGN, "Progress";
REQUIREMENTS 138-141, 147). The first version of a source stays (REQUIREMENTS 63). An empty result
takes an evidence id and counts for nothing (REQUIREMENTS 68; C4, C48).
"""

from collections.abc import Iterable

from workflows.contracts.acts import SearchResult
from workflows.contracts.evidence import Hit, LedgerEntry
from workflows.contracts.observation import Observation
from workflows.contracts.state import (
    LEDGER_ENTRIES,
    QUERIES_KEPT,
    SEEN_RANGES,
    QueryTried,
    RunState,
)


def accept(state: RunState, query: str, result: SearchResult) -> Observation:
    """Take a search's result into the state and say what the next model call sees of it."""
    remember_query(state, query, len(result.hits) if result.ok else -1)
    if not result.ok:
        state.no_progress += 1
        return _observed(
            state, Observation(ok=False, error=result.error or "tool_error", note=result.note)
        )
    first = len(state.ledger) + 1
    if result.page_ref:
        state.page_ref, state.page_first = result.page_ref, first
    new_ranges = 0
    numbers: dict[str, int] = {}
    for hit in result.hits:
        number = hit.known or numbers.get(hit.source_id) or admit(state, hit)
        numbers[hit.source_id] = number
        new_ranges += see(state, number, hit)
        _cover(state, number, hit)
    if not result.hits and len(state.ledger) < LEDGER_ENTRIES:
        state.ledger.append(LedgerEntry(source_id="", empty=True))
    new_sources = len(state.ledger) + 1 - first if result.hits else 0
    state.no_progress = 0 if new_sources or new_ranges else state.no_progress + 1
    came_back = list(dict.fromkeys(numbers.values()))
    return _observed(
        state,
        Observation(ok=True, numbers=came_back, new_sources=new_sources, note=result.note),
    )


def repeated(state: RunState) -> Observation:
    """A query that was tried before: answered from memory, an attempt, no progress (C5)."""
    state.no_progress += 1
    return _observed(state, Observation(ok=False, error="repeated_query"))


def missing_topics(state: RunState, topics: int) -> list[int]:
    """Indexes of required topics not covered, in the caller's order (REQUIREMENTS 9)."""
    return [index for index in range(topics) if str(index) not in state.covered]


def has_evidence(ledger: Iterable[LedgerEntry]) -> bool:
    """Whether there is any evidence that is not an empty result (REQUIREMENTS 68)."""
    return any(not entry.empty for entry in ledger)


def add_range(ranges: list[list[int]], start: int, end: int) -> bool:
    """Add a half-open range to sorted, disjoint ranges; False if it was wholly in there."""
    if any(low <= start and end <= high for low, high in ranges):
        return False
    apart = [r for r in ranges if r[1] < start or r[0] > end]
    touching = [r for r in ranges if not (r[1] < start or r[0] > end)]
    low = min([start, *(r[0] for r in touching)])
    high = max([end, *(r[1] for r in touching)])
    ranges[:] = sorted([*apart, [low, high]])
    return True


def admit(state: RunState, hit: Hit) -> int:
    """Give a source the next evidence number."""
    state.ledger.append(LedgerEntry(source_id=hit.source_id, title=hit.title, sha=hit.sha))
    return len(state.ledger)


def see(state: RunState, number: int, hit: Hit) -> int:
    """Remember a passage; 1 if its range was not seen yet, else 0."""
    ranges = state.seen.setdefault(str(number), [])
    if sum(len(r) for r in state.seen.values()) >= SEEN_RANGES:
        return 0  # the state stays bounded; what is not remembered is not progress
    return int(add_range(ranges, hit.start, hit.end))


def _cover(state: RunState, number: int, hit: Hit) -> None:
    if number > len(state.ledger):
        return
    for index in hit.covers:
        state.covered.setdefault(str(index), "cover")
    cover_declared(state, number, hit)


def cover_declared(state: RunState, number: int, hit: Hit) -> None:
    """Topics that the source itself declares are covered; the ledger shows what a source serves."""
    for index in hit.declared:
        state.covered[str(index)] = "declared"
    entry = state.ledger[number - 1]
    topics = sorted({*entry.topics, *hit.declared, *hit.covers})
    if topics != entry.topics:
        state.ledger[number - 1] = entry.model_copy(update={"topics": topics})


def remember_query(state: RunState, query: str, passages: int) -> None:
    """Keep a query with how many passages it brought; the newest stay."""
    state.queries.append(QueryTried(query=query, passages=passages))
    del state.queries[:-QUERIES_KEPT]


def _observed(state: RunState, observation: Observation) -> Observation:
    state.observation = observation
    return observation
