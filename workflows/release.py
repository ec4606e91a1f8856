"""The finished report before it counts: composed, shown, released, edited, sent back once.

What was released is what is delivered: the text lies in the store under its hash, and closing takes
it from there (REQUIREMENTS 154; failures D07).
"""

import asyncio
from typing import Final

from temporalio import workflow
from temporalio.exceptions import ActivityError

from workflows import ports
from workflows.closing import closing_input
from workflows.contracts.acts import DraftResult
from workflows.contracts.base import JsonObject
from workflows.contracts.requests import SHOWN_CHARACTERS, Request
from workflows.contracts.result import StopReason
from workflows.engine import Engine
from workflows.findings_run import settle_topics
from workflows.logic import plan_run
from workflows.logic.headings import words_for
from workflows.people import asked, pending, rejected

# A run that a person ended, or that never began, has nothing to release.
_NOT_ASKED: Final[tuple[StopReason, ...]] = (
    "stopped", "cancelled", "rejected", "expired", "invalid_input", "plan_invalid",
    "internal_error",
)  # fmt: skip


async def released(engine: Engine) -> bool:
    """Have a person release the report; True if the work is to go on once more instead.

    Raises:
        CancelledError: the run was cancelled while it waited.
    """
    state = engine.state
    if state.prepared is None or not engine.task.approvals.report:
        return False
    engine.stop_watching()
    note = ""
    while not _is_ended(engine) and not _is_granted(engine):
        shown: JsonObject = {}
        if pending(engine, "report") is None:
            await settle_topics(engine)
            drafted = await _drafted(engine)
            if drafted is None:
                return False
            shown = _shown(engine, drafted)
        if state.phase != "awaiting_report":
            engine.enter("awaiting_report")
        request = await asked(engine, "report", shown, note=note, carry=True)
        if request.outcome == "expired":
            engine.end_instead("expired", f"nobody decided on {request.id} in time")
        if request.outcome == "rejected":
            if _is_final(engine, request) or _is_ended(engine):
                return False  # the latter: a stop that was handled in the same task
            if _can_repair(engine):
                _reopen(engine, request)
                return True
            words = words_for(engine.task.language)
            note = words("cannot_heed", by=request.by, comment=request.comment)
    return False


def _is_ended(engine: Engine) -> bool:
    return engine.state.stop_reason in _NOT_ASKED


def _is_granted(engine: Engine) -> bool:
    last = next((r for r in reversed(engine.state.requests) if r.kind == "report"), None)
    return last is not None and last.used and last.outcome in ("approved", "edited", "withdrawn")


def _is_final(engine: Engine, request: Request) -> bool:
    why = f"{request.by} rejected {request.id}"
    comment = f": {request.comment}" if request.comment.strip() else ""
    if not rejected(engine, request, "report"):
        return False
    engine.end_instead("rejected", why + comment)
    return True


def _can_repair(engine: Engine) -> bool:
    """Whether another plan could heed a comment: a planner that is a model, and a replan left."""
    task, dag = engine.task, engine.state.dag
    planned = task.strategy == "plan" and not task.extractive and dag.plan is not None
    return planned and dag.replans < task.limits.max_replans


def _reopen(engine: Engine, request: Request) -> None:
    """The work goes on with another plan that heeds the comment; results and evidence stay."""
    state, dag = engine.state, engine.state.dag
    why = f"{request.by} sent the report back: {request.comment}"
    plan_run.dead_end(dag, why[:300])
    dag.failures.append(why[:500])
    dag.replans += 1
    dag.plan, dag.ending, dag.ending_detail = None, None, ""
    dag.findings_ref, dag.answers, dag.topic_findings = "", {}, {}
    dag.conflicts, dag.compared = [], False
    state.covered = {key: how for key, how in state.covered.items() if how == "declared"}
    state.stop_reason, state.stop_detail = None, ""


async def _drafted(engine: Engine) -> DraftResult | None:
    try:
        return await ports.draft().start(closing_input(engine), "Compose the report for release")
    except ActivityError as error:
        if isinstance(error.cause, asyncio.CancelledError):
            raise asyncio.CancelledError from None
        workflow.logger.warning("the report could not be composed: %s", error.cause)
        engine.end_instead("internal_error", f"the report could not be composed: {error.cause}")
        return None


def _shown(engine: Engine, drafted: DraftResult) -> JsonObject:
    """The digest holds the whole text by its hash, though only its beginning is shown here."""
    return {
        "report": drafted.opening[:SHOWN_CHARACTERS],
        "report_ref": drafted.report_ref,
        "bytes": drafted.bytes,
        "status": drafted.status,
        "stop_reason": engine.state.stop_reason,
    }
