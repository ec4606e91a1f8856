"""Evidence numbers inside of steps: one counter for the run, whatever runs or is planned again.

How it can go wrong: a number that a replan or a branch gives twice; an empty result that leaves no
entry, or counts for something (REQUIREMENTS 65, 68; C4, C15, C48).
"""

from typing import Any

import pytest

from tests.case_files import departs, load
from workflows.contracts.acts import SearchResult
from workflows.contracts.evidence import Hit
from workflows.contracts.plan_state import StepState
from workflows.contracts.state import RunState
from workflows.logic import step_ledger
from workflows.logic.ledger import has_evidence

PLANNER = load("planner_cases.json")
FILE = "planner_cases.json"
REF = "sha256:" + "0" * 64


def brings(source: str) -> SearchResult:
    """A result with one source that nothing brought before."""
    hit = Hit(source_id=source, title=source, sha="0" * 16, start=0, end=10)
    return SearchResult(ok=True, hits=[hit], page_ref=REF)


def numbers(state: RunState, step: StepState, result: SearchResult, query: str) -> list[int]:
    """Numbers that one call takes."""
    before = len(state.ledger)
    step_ledger.accept(state, step, query, result)
    return list(range(before + 1, len(state.ledger) + 1))


@pytest.mark.cases(FILE)
@pytest.mark.parametrize("case", PLANNER["evidence_ids"], ids=lambda case: case["id"])
def test_evidence_id_case(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    state = RunState()
    taken: list[list[int]] = []
    if "tool_results" in case:
        step = StepState()
        taken = [numbers(state, step, SearchResult(ok=True), f"q{n}") for n in range(3)]
        assert [entry.empty for entry in state.ledger] == case["expected_placeholder"]
        assert step.fruitless == 3
        assert not has_evidence(state.ledger)
    elif case.get("parallel"):
        one, other = StepState(), StepState()
        for n in range(2):  # the branches take turns
            taken += [
                numbers(state, step, brings(f"{n}{id(step)}"), f"{n}") for step in (one, other)
            ]
    else:
        departs(request, "C48")  # one id a source: here each call brings a source of its own
        calls = case.get("tool_calls_per_execution") or [case["expected_tool_calls"]]
        for execution, count in enumerate(calls):  # a step of its own each, a replan in between
            step = StepState()
            taken.append(
                [
                    number
                    for n in range(count)
                    for number in numbers(state, step, brings(f"{execution}.{n}"), f"{n}")
                ]
            )
    every = [number for each in taken for number in each]
    assert every == sorted(set(every)) == list(range(1, len(every) + 1))
    if isinstance(case.get("expected_ids"), list):
        expected = case["expected_ids"]
        parts = [[name] if isinstance(name, str) else name for name in expected]
        assert [f"E{number}" for number in every] == [name for part in parts for name in part]


def test_two_branches_that_find_the_same_source_share_its_number() -> None:
    state, one, other = RunState(), StepState(), StepState()
    assert numbers(state, one, brings("a"), "q") == [1]
    assert numbers(state, other, brings("a"), "r") == []
    assert (one.numbers, other.numbers) == ([1], [1])
    assert other.fruitless == 0  # new to that step
