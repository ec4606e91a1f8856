"""What a search inside of a step brings to the run: evidence numbers, progress, topics.

Steps search side by side, each with index pages of its own; numbers are given here, from one
counter, so that a source that two steps find has one number and none is given twice
(REQUIREMENTS 63, 65; C15, C48).
"""

from workflows.contracts.acts import SearchResult
from workflows.contracts.evidence import LedgerEntry
from workflows.contracts.observation import Observation
from workflows.contracts.plan_state import StepState
from workflows.contracts.state import LEDGER_ENTRIES, RunState
from workflows.logic.ledger import admit, cover_declared, remember_query, see

QUERIES_KEPT = 10


def accept(state: RunState, step: StepState, query: str, result: SearchResult) -> Observation:
    """Take a search's result in; gives the observation that the next decision sees.

    Progress of a step is a source or a passage that is new to it (REQUIREMENTS 138, 139).
    """
    remember_query(state, query, len(result.hits) if result.ok else -1)
    step.queries.append(query)
    del step.queries[:-QUERIES_KEPT]
    if not result.ok:
        step.fruitless += 1
        error = result.error or "tool_error"
        return _observed(step, Observation(ok=False, error=error, note=result.note))
    numbers, fresh, news = _numbered(state, step, result)
    if result.page_ref and result.page_ref != step.page_ref:
        step.page_ref, step.page_numbers = result.page_ref, fresh
    step.fruitless = 0 if news else step.fruitless + 1
    new_sources = len([n for n in numbers if n > 0 and n not in step.numbers])
    step.numbers = sorted({*step.numbers, *(n for n in numbers if n > 0)})
    return _observed(
        step,
        Observation(
            ok=True,
            numbers=[n for n in numbers if n > 0],
            new_sources=new_sources,
            note=result.note,
        ),
    )


def repeated(step: StepState) -> Observation:
    """A query that the step tried before: from memory, an attempt, no progress (C5)."""
    step.fruitless += 1
    return _observed(step, Observation(ok=False, error="repeated_query"))


def _numbered(
    state: RunState, step: StepState, result: SearchResult
) -> tuple[list[int], list[int], bool]:
    """Numbers of what came back, numbers of what is new on the page, whether there is news."""
    known = {entry.source_id: n for n, entry in enumerate(state.ledger, 1) if not entry.empty}
    numbers: dict[str, int] = {}
    fresh: list[int] = []
    news = False
    for hit in result.hits:
        number = hit.known or numbers.get(hit.source_id)
        if number is None:
            number = known.get(hit.source_id, 0)
            if number and state.ledger[number - 1].sha != hit.sha:
                number = -1  # another version than the one in the ledger: the first stays
            elif not number and len(state.ledger) < LEDGER_ENTRIES:
                number = admit(state, hit)
            fresh.append(number or -1)
            number = fresh[-1]
        numbers[hit.source_id] = number
        if number > 0:
            news = bool(see(state, number, hit)) or number not in step.numbers or news
            cover_declared(state, number, hit)
    if not result.hits and len(state.ledger) < LEDGER_ENTRIES:
        state.ledger.append(LedgerEntry(source_id="", empty=True))
        fresh.append(len(state.ledger))
    return list(dict.fromkeys(numbers.values())), fresh, news


def _observed(step: StepState, observation: Observation) -> Observation:
    step.observation = observation
    return observation
