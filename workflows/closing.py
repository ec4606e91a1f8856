"""How every run ends: status, report, memo, final event (REQUIREMENTS 204; DESIGN, "Failure").

The report is composed by an activity, which keeps it in the evidence store; when no activity
answers it is composed from the state, and when even that fails, by a defect of ours, the run still
ends with what its state says instead of staying open for good.
"""

from typing import Final

from temporalio import workflow
from temporalio.exceptions import ActivityError

from workflows import ports
from workflows.contracts.acts import CloseInput
from workflows.contracts.result import RunResult
from workflows.contracts.state import Closed, RunState
from workflows.engine import Engine
from workflows.logic import outcome
from workflows.logic.edits import edited_report
from workflows.logic.headings import words_for
from workflows.logic.requests import release_of
from workflows.logic.result import bare_result, plain_result

_RULES: Final = 3


async def close(engine: Engine) -> RunResult:
    """Deliver the result of a run whose stop reason is set, and show that it has ended."""
    state = engine.state
    engine.stop_watching()
    engine.end("internal_error", "the run ended without a reason")
    reason = state.stop_reason or "internal_error"
    _settle(state)
    engine.enter("closing")
    result = await _result(engine)
    state.closed = Closed(status=result.status, stop_reason=reason, report_ref=result.report_ref)
    engine.event(
        "task_finished",
        status=result.status,
        stop_reason=reason,
        model_calls=state.usage.model_calls,
        tool_calls=state.usage.tool_calls,
    )
    engine.enter("finished")
    return result


def closing_input(engine: Engine) -> CloseInput:
    """What the report would be composed from if the run closed now; changes nothing."""
    state = engine.state.model_copy(deep=True)
    _settle(state)
    return _input(state)


def _settle(state: RunState) -> None:
    """The failure that the stop reason stands for, and whether the run is degraded."""
    reason = state.stop_reason or "internal_error"
    task = state.prepared.task if state.prepared else None
    # Without a plan there is no step to blame; runs before rules 3 named one.
    planned = task is not None and task.strategy == "plan" and task.rules >= _RULES
    step = "" if state.dag.plan is not None or planned else "s1"
    failure = outcome.closing_failure(reason, state.stop_detail, step)
    told = reason == "step_failed" and bool(state.failures)  # by the step itself, with its kind
    if failure is not None and not told:
        state.failures.append(failure)
    state.degraded = state.degraded or reason not in outcome.REGULAR


def _input(state: RunState) -> CloseInput:
    info = workflow.info()
    return CloseInput(
        run_id=info.first_execution_run_id,
        workflow_id=info.workflow_id,
        status=outcome.status_of(state),
        state=state,
        closed_at=workflow.now().isoformat(timespec="seconds"),
    )


async def _result(engine: Engine) -> RunResult:
    inp = _input(engine.state)
    released = release_of(engine.state, inp.run_id)
    if released is not None:
        words = words_for(engine.task.language)
        told = words("released", by=released.by, at=released.decided_at, id=released.id)
        engine.state.notes.append(told)
    if released is not None and released.edits is not None:
        text = edited_report(released.edits)
        original = released.shown["report_ref"]
        inp = inp.model_copy(update={"edited": text, "editor": released.by, "original": original})
    elif released is not None:
        inp = inp.model_copy(update={"released": released.shown["report_ref"]})
    try:
        return await ports.close().start(inp, "Compose the report")
    except ActivityError as error:
        workflow.logger.warning("the report was made from state: %s", error.cause)
    try:
        return bare_result(inp)
    except (ValueError, LookupError, TypeError, AttributeError, NameError, RuntimeError):
        workflow.logger.exception("the report could not be composed")
        return plain_result(inp)
