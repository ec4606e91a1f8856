"""How every run ends: status, report, memo, final event (REQUIREMENTS 204; DESIGN, "Failure").

The report is composed by an activity, which keeps it in the evidence store; when no activity
answers it is composed from the state, and when even that fails, by a defect of ours, the run still
ends with what its state says instead of staying open for good.
"""

from temporalio import workflow
from temporalio.exceptions import ActivityError

from workflows import ports
from workflows.contracts.acts import CloseInput
from workflows.contracts.result import RunResult
from workflows.contracts.state import Closed
from workflows.engine import Engine
from workflows.logic import outcome
from workflows.logic.result import bare_result, plain_result


async def close(engine: Engine) -> RunResult:
    """Deliver the result of a run whose stop reason is set, and show that it has ended."""
    state = engine.state
    engine.stop_watching()
    engine.end("internal_error", "the run ended without a reason")
    reason = state.stop_reason or "internal_error"
    planned = state.dag.plan is not None
    failure = outcome.closing_failure(reason, state.stop_detail, "" if planned else "s1")
    if failure is not None:
        state.failures.append(failure)
    state.degraded = state.degraded or reason not in outcome.REGULAR
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


async def _result(engine: Engine) -> RunResult:
    info = workflow.info()
    inp = CloseInput(
        run_id=info.first_execution_run_id,
        workflow_id=info.workflow_id,
        status=outcome.status_of(engine.state),
        state=engine.state,
        closed_at=workflow.now().isoformat(timespec="seconds"),
    )
    try:
        return await ports.close().start(inp, "Compose the report")
    except ActivityError as error:
        workflow.logger.warning("the report was made from state: %s", error.cause)
    try:
        return bare_result(inp)
    except (ValueError, LookupError, TypeError, AttributeError, NameError, RuntimeError):
        workflow.logger.exception("the report could not be composed")
        return plain_result(inp)
