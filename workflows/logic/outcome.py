"""Status, apart from the stop reason, and failures by code (REQUIREMENTS 5-13, 128-133).

Success needs all of: a regular close, nothing missing, a draft that is not blank, the model's own
"sufficient", and evidence. Each alone is not enough; the model's word can only lower the result.
"""

from typing import Final

from workflows.contracts.names import EVIDENCE_LOST, MODEL_ERROR, PROTOCOL_ERROR
from workflows.contracts.result import Failure, Status, StopReason
from workflows.contracts.state import RunState
from workflows.logic.ledger import has_evidence, missing_topics
from workflows.logic.plan_run import required_done
from workflows.logic.success import failure_code

REGULAR: Final[tuple[StopReason, ...]] = ("model_finished", "completed")

_REASONS: Final[dict[StopReason, str]] = {
    "no_progress": "searches in a row brought nothing new",
    "model_budget": "every allowed model call was used",
    "tool_budget": "every allowed tool call was used",
    "token_budget": "every allowed token was used",
    "cost_budget": "the allowed cost was used up",
    "timeout": "the run's active time was used up",
    "internal_error": "the run could not go on",
    "round_limit": "every allowed round was used",
    "replan_limit": "every allowed replan was used",
    "verifier_error": "a judge gave no verdict",
}


def status_of(state: RunState) -> Status:
    """The status of a run that ends with `state.stop_reason`."""
    reason = state.stop_reason
    if reason == "cancelled":
        return "cancelled"
    if reason in ("stopped", "rejected", "expired"):
        return reason
    evidence = has_evidence(state.ledger)
    if state.prepared is not None and state.prepared.task.strategy == "plan":
        return _status_of_plan(state, evidence=evidence)
    if evidence and reason in REGULAR and state.sufficient and state.draft.strip():
        topics = len(state.prepared.task.topics) if state.prepared else 0
        if topics and not missing_topics(state, topics):
            return "succeeded"
    return "partially_succeeded" if evidence and reason != "invalid_input" else "failed"


def _status_of_plan(state: RunState, *, evidence: bool) -> Status:
    """Success is a predicate over state: steps, topics, verification (REQUIREMENTS 6, 7)."""
    if not evidence or state.stop_reason in ("invalid_input", "plan_invalid"):
        return "failed"
    topics = len(state.prepared.task.topics) if state.prepared else 0
    whole = (
        state.stop_reason == "completed"
        and required_done(state.dag)
        and not missing_topics(state, topics)
        and not state.degraded
    )
    return "succeeded" if whole else "partially_succeeded"


def closing_failure(reason: StopReason, detail: str, step: str = "s1") -> Failure | None:
    """The failure a stop reason stands for, with its kind; None for a regular close."""
    code = failure_code(reason)
    if code is None:
        return None
    return Failure(code=code, step=step, reason=(detail or _REASONS.get(reason, reason))[:500])


def stop_reason_of(error_type: str) -> StopReason:
    """The stop reason for a failed model call, by the type of its error.

    A time-out of one request is `model_error`: `timeout` means the run's own limit only
    (REQUIREMENTS 132, 176).
    """
    if error_type == PROTOCOL_ERROR:
        return "protocol_error"
    if error_type in (MODEL_ERROR, "", "TimeoutError"):
        return "model_error"
    return "internal_error"


def error_text(error_type: str, message: str) -> str:
    """A failure's text for people: short, with its type where that says more."""
    if error_type == EVIDENCE_LOST:
        return f"an object of the evidence store is lost: {message}"[:500]
    return message[:500]
