"""The result of AgentRun from recorded state and the composed report (INTERFACE, "Result").

Bounds hold for any state: the report stands whole up to 64 KiB, the result up to 256 KiB; beyond
that uncited evidence goes first, then steps, then long texts, each with a note.
"""

import json
from typing import Final

from workflows.contracts.acts import CloseInput
from workflows.contracts.base import cut_bytes
from workflows.contracts.claim import ClaimCounts
from workflows.contracts.result import (
    PASSAGES_PER_SOURCE,
    REPORT_BYTES,
    RESULT_BYTES,
    EvidenceItem,
    RunResult,
    StepResult,
    StopReason,
    Trajectory,
    Usage,
)
from workflows.logic.headings import Words, words_for
from workflows.logic.ledger import missing_topics
from workflows.logic.report import compose
from workflows.logic.report_sources import Closing, Composed
from workflows.logic.safe_markdown import escape

_BUDGETS: Final[tuple[StopReason, ...]] = (
    "model_budget",
    "tool_budget",
    "token_budget",
    "cost_budget",
    "round_limit",
    "replan_limit",
    "timeout",
)
_LIST_KEPT: Final = 100  # failures and notes, when the result is too large
_TEXT_KEPT: Final = 500  # bytes of each, then
_NOTE_ROOM: Final = 400  # bytes for the notes that say what was cut


def build_result(inp: CloseInput, composed: Composed, report_ref: str = "") -> RunResult:
    """The result; `report_ref` is where the whole report lies, "" if it could not be kept."""
    state = inp.state
    task = state.prepared.task if state.prepared else None
    words = words_for(task.language if task else "en")
    topics = [topic.id for topic in task.topics] if task else []
    missing = [topics[index] for index in missing_topics(state, len(topics))]
    partly = [name for i, name in enumerate(topics) if state.dag.answers.get(str(i)) == "partly"]
    coverage = 1 - len(missing) / len(topics) if topics else 0.0
    result = RunResult(
        status=inp.status,
        stop_reason=state.stop_reason or "internal_error",
        degraded=state.degraded,
        strategy=task.strategy if task else "",
        language=task.language if task else "en",
        model=task.model if task else "",
        plan_version=state.dag.version,
        report=cut_report(composed.report, report_ref, words),
        report_ref=report_ref,
        coverage=coverage,
        missing_topics=[name for name in missing if name not in partly],
        partial_topics=partly,
        claims=composed.claims,
        evidence=_evidence(composed, topics),
        steps=_steps(inp),
        usage=Usage.model_validate(
            state.usage.model_dump() | {"rounds": state.dag.rounds, "replans": state.dag.replans}
        ),
        failures=state.failures,
        trajectory=_trajectory(inp, coverage),
        notes=list(composed.notes),
    )
    return bounded(result, words)


def bare_result(inp: CloseInput) -> RunResult:
    """The result from the state alone: the store is lost, or no activity answers."""
    return build_result(inp, compose(bare_closing(inp)))


def plain_result(inp: CloseInput) -> RunResult:
    """The least a run ends with: its status and reason, when composing itself fails by a defect."""
    task = inp.state.prepared.task if inp.state.prepared else None
    words = words_for(task.language if task else "en")
    reason = words.stop_reasons[inp.state.stop_reason or "internal_error"]
    colon = words("colon")
    lines = [
        f"# {words('title')}",
        f"- {words('goal')}{colon}{escape(inp.state.goal)}",
        f"- {words('status')}{colon}{words.statuses[inp.status]}",
        f"- {words('stop_reason')}{colon}{reason}",
        words("not_composed"),
    ]
    report = "\n\n".join(lines) + "\n"
    composed = Composed(
        report=report, claims=ClaimCounts(), quotes=[], sources=[], notes=[words("not_composed")]
    )
    return build_result(inp, composed)


def bare_closing(inp: CloseInput) -> Closing:
    """What a report can be composed from without the evidence store."""
    lost = inp.state.ledger != [] or inp.state.page_ref != ""
    return Closing(
        state=inp.state,
        status=inp.status,
        closed_at=inp.closed_at,
        problems=[("pages_lost", {})] if lost else [],
    )


def cut_report(report: str, report_ref: str, words: Words) -> str:
    """A report of at most 64 KiB, cut at a line, with a note where it was cut."""
    if size(report) <= REPORT_BYTES:
        return report
    note = words("cut", ref=report_ref) if report_ref else words("cut_lost")
    kept = cut_bytes(report, REPORT_BYTES - size(note) - 3)
    return kept[: kept.rfind("\n") + 1 or None] + f"\n{note}\n"


def bounded(result: RunResult, words: Words, limit: int = RESULT_BYTES) -> RunResult:
    """A result of at most `limit` bytes of JSON."""
    for cut in (_without_uncited, _without_steps, _shortened, _without_evidence, _minimal):
        if size(result.model_dump_json()) <= limit:
            return result
        result = cut(result, words, limit)
    return result


def size(text: str) -> int:
    """Bytes of a text in UTF-8."""
    return len(text.encode("utf-8", "replace"))


def _evidence(composed: Composed, topics: list[str]) -> list[EvidenceItem]:
    passages: dict[int, list[str]] = {}
    for quote in composed.quotes:
        passages.setdefault(quote.evidence, []).append(quote.text)
    return [
        EvidenceItem(
            id=f"E{source.number}",
            source_id=source.source_id,
            title="" if source.empty else source.title,
            topics=[topics[index] for index in source.topics if index < len(topics)],
            empty=source.empty,
            passages=passages.get(source.number, [])[:PASSAGES_PER_SOURCE],
            retrieved_at=source.retrieved_at,
            sha256=source.sha256,
            origin=source.origin,
            date=source.date,
        )
        for source in composed.sources
    ]


def _steps(inp: CloseInput) -> list[StepResult]:
    """Steps of the plan, in its order."""
    dag = inp.state.dag
    if dag.plan is None:
        return [_step(inp)]
    return [
        StepResult(
            id=step.id,
            goal=step.goal,
            status=dag.steps[step.id].status,
            attempts=dag.steps[step.id].attempts,
            verdict=dag.steps[step.id].verdict,
        )
        for step in dag.plan.steps
    ]


def _step(inp: CloseInput) -> StepResult:
    """`react` and `direct` are one step on the whole goal."""
    state = inp.state
    goal = state.prepared.task.goal if state.prepared else state.goal
    started = state.usage.model_calls or state.usage.tool_calls
    if inp.status == "succeeded":
        return StepResult(id="s1", goal=goal, status="DONE")
    return StepResult(
        id="s1", goal=goal, status="FAILED" if started else "PENDING", attempts=1 if started else 0
    )


def _trajectory(inp: CloseInput, coverage: float) -> Trajectory:
    """The trajectory record (REQUIREMENTS 201); success is the status that code computed."""
    usage, dag = inp.state.usage, inp.state.dag
    success = inp.status == "succeeded"
    steps = list(dag.steps.values())
    done = sum(step.status == "DONE" for step in steps)
    again = sum(max(0, step.attempts - 1) for step in steps)
    return Trajectory(
        task_id=inp.workflow_id,
        success=success,
        steps_planned=len(steps) if dag.plan else 1,
        steps_completed=done if dag.plan else int(success),
        tool_calls=usage.tool_calls,
        retries=again + max(0, usage.model_attempts - usage.model_calls),
        unauthorized_attempts=dag.denied,
        budget_exhausted=inp.state.stop_reason in _BUDGETS,
        evidence_coverage=coverage,
        human_approval_required=inp.state.request_count > 0,
    )


def _noted(result: RunResult, note: str, **changes: object) -> RunResult:
    return result.model_copy(update={**changes, "notes": [*result.notes, note]})


def _without_uncited(result: RunResult, words: Words, limit: int) -> RunResult:
    """Leave out uncited evidence, the last first, as much as is needed."""
    room = limit - _NOTE_ROOM
    excess = size(result.model_dump_json()) - room
    kept: list[EvidenceItem] = []
    for item in reversed(result.evidence):
        if excess > 0 and not item.passages:
            excess -= size(item.model_dump_json()) + 1
        else:
            kept.append(item)
    left_out = len(result.evidence) - len(kept)
    note = words("result_cut", evidence=left_out, steps=0)
    return _noted(result, note, evidence=kept[::-1]) if left_out else result


def _without_steps(result: RunResult, words: Words, limit: int) -> RunResult:  # noqa: ARG001 - one shape for all cuts
    steps = len(result.steps)
    return _noted(result, words("result_cut", evidence=0, steps=steps), steps=[])


def _shortened(result: RunResult, words: Words, limit: int) -> RunResult:  # noqa: ARG001 - one shape for all cuts
    """Keep the newest failures and notes, each cut."""
    failures = [
        failure.model_copy(update={"reason": _short(failure.reason)})
        for failure in result.failures[-_LIST_KEPT:]
    ]
    notes = [_short(note) for note in result.notes[-_LIST_KEPT:]]
    return result.model_copy(
        update={
            "failures": failures,
            "notes": [*notes, words("result_short", what="failures, notes")],
        }
    )


def _short(text: str) -> str:
    """At most 500 bytes of JSON: a control character takes six."""
    short = cut_bytes(text, _TEXT_KEPT)
    return short if size(json.dumps(short)) <= _TEXT_KEPT + 2 else cut_bytes(text, _TEXT_KEPT // 6)


def _without_evidence(result: RunResult, words: Words, limit: int) -> RunResult:  # noqa: ARG001 - one shape for all cuts
    return _noted(result, words("result_cut", evidence=len(result.evidence), steps=0), evidence=[])


def _minimal(result: RunResult, words: Words, limit: int) -> RunResult:
    """The last resort: a report of control characters takes six bytes of JSON for one."""
    bare = result.model_copy(update={"report": "", "missing_topics": [], "partial_topics": []})
    room = max(0, limit - size(bare.model_dump_json()) - _NOTE_ROOM) // 6
    note = words("result_short", what="report, topics")
    return _noted(bare, note, report=cut_bytes(result.report, max(room, 3)))
