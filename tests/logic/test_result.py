"""The result: every field from state, and its bounds for any state."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.logic.closing import close_input, closing, digest
from workflows.contracts.evidence import Entry, LedgerEntry
from workflows.contracts.result import REPORT_BYTES, RESULT_BYTES, Failure, RunResult
from workflows.contracts.state import RunState
from workflows.logic.headings import words_for
from workflows.logic.report import compose
from workflows.logic.report_sources import Closing
from workflows.logic.result import (
    bare_result,
    bounded,
    build_result,
    cut_report,
    plain_result,
    size,
)

REF = "sha256:" + "a" * 64


def result_of(made: Closing) -> RunResult:
    return build_result(close_input(made), compose(made), REF)


def test_every_field() -> None:
    result = result_of(closing(degraded=True))
    assert result.status == "partially_succeeded"
    assert result.stop_reason == "model_finished"
    assert result.degraded
    assert (result.strategy, result.language, result.model) == ("react", "en", "a-model")
    assert result.report.startswith("# Research report")
    assert result.report_ref == REF
    assert result.coverage == pytest.approx(2 / 3)
    assert result.missing_topics == ["recovery"]
    assert result.claims.supported == 2
    first, second, empty = result.evidence
    assert (first.id, first.source_id, first.topics) == ("E1", "notes:loop.md", ["loop"])
    assert first.passages == ["An agent loop ends when the model finishes or a budget is used up."]
    assert (first.date, first.retrieved_at) == ("2026-11-02", "2026-12-01T08:00:01+00:00")
    assert len(first.sha256) == 64
    assert (second.topics, second.passages) == (["契约"], ["工具契约规定输入和输出的格式。"])
    assert (empty.id, empty.empty, empty.passages) == ("E3", True, [])
    step = result.steps[0]
    assert (step.id, step.status, step.goal) == ("s1", "FAILED", "How do *agents* work?")
    assert result.usage.model_attempts == 5
    record = result.trajectory
    assert (record.task_id, record.success, record.retries) == ("研究/1", False, 1)
    assert (record.steps_planned, record.steps_completed) == (1, 0)
    assert not record.budget_exhausted
    assert record.evidence_coverage == result.coverage
    assert RunResult.model_validate_json(result.model_dump_json()) == result


def test_success_and_budgets() -> None:
    done = result_of(closing("succeeded", covered={"0": "cover", "1": "cover", "2": "cover"}))
    assert (done.coverage, done.missing_topics) == (1.0, [])
    assert done.steps[0].status == "DONE"
    assert done.trajectory.success
    assert result_of(closing(stop_reason="tool_budget")).trajectory.budget_exhausted


def test_without_a_stop_reason_it_is_an_internal_error() -> None:
    assert result_of(closing(stop_reason=None)).stop_reason == "internal_error"


def test_from_the_state_alone() -> None:
    result = bare_result(close_input(closing()))
    assert [item.id for item in result.evidence] == ["E1", "E2", "E3"]
    assert result.missing_topics == ["recovery"]
    assert result.claims.supported == 0
    assert result.report_ref == ""
    assert "could not be read" in result.report
    assert result.notes == ["The index of the evidence could not be read from the evidence store."]


def test_before_there_is_a_task() -> None:
    made = Closing(RunState(goal="查找", stop_reason="invalid_input"), "failed")
    result = bare_result(close_input(made))
    assert (result.status, result.coverage, result.evidence) == ("failed", 0.0, [])
    assert result.steps[0].status == "PENDING"
    assert result.notes == []


def test_a_long_report_is_cut_with_a_note() -> None:
    lines = "证据 line of a report\n" * 5000
    words = words_for("en")
    cut = cut_report(lines, REF, words)
    assert size(cut) <= REPORT_BYTES
    assert REF in cut
    assert cut_report("short", REF, words) == "short"
    assert size(cut_report("证" * 90_000, "", words_for("zh"))) <= REPORT_BYTES


def test_uncited_evidence_goes_first() -> None:
    made = closing()
    many = [
        LedgerEntry(source_id=f"notes:{'路径' * 40}/{n}.md", title="标题" * 10, sha="0" * 16)
        for n in range(1400)
    ]
    made = closing(ledger=[*made.state.ledger, *many])
    result = result_of(made)
    assert size(result.model_dump_json()) <= RESULT_BYTES
    assert [item.id for item in result.evidence[:2]] == ["E1", "E2"]
    assert len(result.evidence) > 100
    assert len(result.steps) == 1
    assert "uncited sources" in result.notes[-1]


TEXT = st.text(st.sampled_from('a证\n"\\\x01'), min_size=1, max_size=40)


@given(
    part=TEXT,
    times=st.integers(1, 60),
    ledger=st.integers(0, 1500),
    failures=st.integers(0, 300),
    notes=st.integers(0, 300),
)
@example(part="\\\\\x01\x01\x01\x01", times=54, ledger=0, failures=83, notes=87)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_state_gives_a_bounded_result(
    part: str, times: int, ledger: int, failures: int, notes: int
) -> None:
    long = part * times
    made: dict[str, Any] = {
        "ledger": [LedgerEntry(source_id=long, title=long[:20])] * ledger,
        "failures": [Failure(code="FAILED_TOOL", reason=long)] * failures,
        "notes": [long] * notes,
    }
    result = bare_result(close_input(closing(**made)))
    assert size(result.report) <= REPORT_BYTES
    assert size(result.model_dump_json()) <= RESULT_BYTES
    assert result.stop_reason == "model_finished"


@given(limit=st.integers(12_000, 60_000))
@settings(max_examples=20, deadline=None)
def test_any_limit_is_kept(limit: int) -> None:
    text = "\x01 An agent loop ends at \x02 budgets. " * 200
    made = replace(
        closing(ledger=[LedgerEntry(source_id=f"n:{n}", sha="0" * 16) for n in range(30)]),
        entries=[
            Entry(number=n, sha256=digest(text), start=n * 10, end=n * 10 + 90, covers={"0": 1.0})
            for n in range(1, 30)
        ],
        texts={digest(text): text},
    )
    result = result_of(made)
    assert size(bounded(result, words_for("zh"), limit).model_dump_json()) <= limit


def test_a_run_ends_even_when_composing_is_broken() -> None:
    inp = close_input(closing(degraded=True))
    result = plain_result(inp)
    assert (result.status, result.stop_reason) == (inp.status, "model_finished")
    assert result.usage.model_calls == inp.state.usage.model_calls
    assert "agents" in result.report
    assert result.notes
