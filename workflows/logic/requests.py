"""Requests to people: identity, who may decide, what a decision does (REQUIREMENTS 148-157).

Pure rules over RunState. Silence never grants; a decision grants only what its author saw, once,
before the deadline, and the first valid one wins (failures D01, D03, D04, D07, D09, D14).
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from workflows.contracts.base import JsonObject
from workflows.contracts.requests import (
    REQUESTS_KEPT,
    Fate,
    Request,
    RequestKind,
    RequestOutcome,
)
from workflows.contracts.state import RunState
from workflows.logic.edits import edit_problem

LATE_SECONDS: Final = 30.0  # a deadline that is handled later than that reopens its request once
_DIGEST: Final = 8  # hex digits
_KEPT_SHOWN: Final = 600  # bytes of an ended request's `shown` and `edits`


@dataclass(frozen=True)
class Decision:
    """What a person says to a request, by signal or update."""

    kind: Literal["approve", "reject", "answer"]
    request_id: str
    by: str
    comment: str = ""
    edits: JsonObject | None = None
    text: str = ""


@dataclass(frozen=True)
class Judged:
    """What becomes of a decision; `request` is what it ended, if anything."""

    fate: Fate
    reason: str = ""
    request: Request | None = None


def canonical(value: Any) -> str:
    """Canonical JSON: sorted keys, no blanks, text as it is."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest_of(run_id: str, shown: JsonObject) -> str:
    """Digest over the first execution's run id and exactly what is shown (D07, D14)."""
    data = f"{run_id}\n{canonical(shown)}".encode("utf-8", "replace")
    return hashlib.sha256(data).hexdigest()[:_DIGEST]


def plan_shown(state: RunState) -> JsonObject:
    """What a plan approval shows: the goal and every step."""
    task = state.prepared.task if state.prepared else None
    plan = state.dag.plan
    return {
        "goal": task.goal if task else state.goal,
        "steps": [s.model_dump(exclude_defaults=True) for s in plan.steps] if plan else [],
    }


def shown_of(state: RunState, request: Request) -> JsonObject:
    """What a request shows; a plan is not kept twice."""
    if request.kind == "plan" and request.outcome == "open":
        return plan_shown(state)
    return request.shown


def open_requests(state: RunState) -> list[Request]:
    """Requests that wait for somebody, oldest first."""
    return [request for request in state.requests if request.outcome == "open"]


def waiting_for(state: RunState) -> list[str]:
    """Kinds of the open requests, each once, in order of their opening."""
    return list(dict.fromkeys(request.kind for request in open_requests(state)))


def open_request(
    state: RunState,
    kind: RequestKind,
    shown: JsonObject,
    *,
    run_id: str,
    now: float,
    step: str = "",
) -> Request:
    """Ask: a new request at the end of `state.requests`."""
    wishes = state.prepared.task.approvals if state.prepared else None
    state.request_count += 1
    digest = digest_of(run_id, shown)
    seconds = wishes.expires_after_seconds if wishes else None
    request = Request(
        id=f"{kind}-{state.request_count}-{digest}",
        kind=kind,
        number=state.request_count,
        shown={} if kind == "plan" else shown,
        step=step,
        approvers=list(wishes.approvers) if wishes else [],
        asked_at=iso(now),
        deadline=now + seconds if seconds is not None else None,
        seconds=seconds,
        digest=digest,
    )
    state.requests.append(request)
    _forget(state)
    return request


def judged(state: RunState, decision: Decision, now: float) -> Judged:
    """What a decision would do now; changes nothing."""
    request = next((r for r in state.requests if r.id == decision.request_id), None)
    if request is None:
        return _no_such(state, decision.request_id)
    if request.outcome != "open":
        return _closed(request, decision)
    problem = _problem(state, request, decision)
    refused = _refused(request, decision, now)
    if refused is None and problem:
        refused = Judged("malformed", problem)
    return refused or Judged("accepted", "", request)


def _refused(request: Request, decision: Decision, now: float) -> Judged | None:
    """Who may decide, and until when."""
    if request.approvers and decision.by not in request.approvers:
        names = ", ".join(request.approvers)
        return Judged("not_allowed", f"{decision.by!r} may not decide this; {names} may")
    if request.deadline is not None and now > request.deadline:
        return Judged("late", f"the deadline of {request.id} was {iso(request.deadline)}")
    return None


def _problem(state: RunState, request: Request, decision: Decision) -> str:
    """What is wrong with a decision itself, "" if nothing is."""
    if (request.kind == "question") != (decision.kind == "answer"):
        wanted = "answer" if request.kind == "question" else "approve or reject"
        return f"{request.id} asks for {wanted}, found {decision.kind}"
    if decision.edits is None:
        return ""
    if decision.kind != "approve":
        return "edits: belong to an approval; say what should change in `comment`"
    return edit_problem(state, request.kind, request.shown, decision.edits)


def decide(state: RunState, decision: Decision, now: float) -> Judged:
    """Judge a decision, and end its request if it counts."""
    found = judged(state, decision, now)
    request = found.request
    if found.fate != "accepted" or request is None:
        return found
    outcome = _outcome(decision)
    request.shown = shown_of(state, request)
    request.outcome, request.by, request.comment = outcome, decision.by, decision.comment
    request.edits, request.text, request.decided_at = decision.edits, decision.text, iso(now)
    return found


def expire(request: Request, now: float) -> bool:
    """Handle a deadline; whether the request is over.

    One that is handled more than 30 s late, because no worker was up, reopens once: nobody could
    have been heard meanwhile.
    """
    if request.outcome != "open" or request.deadline is None or now < request.deadline:
        return request.outcome != "open"
    if now - request.deadline > LATE_SECONDS and not request.reopened and request.seconds:
        request.reopened = True
        request.deadline = now + request.seconds
        return False
    request.outcome, request.decided_at = "expired", iso(now)
    return True


def withdraw(state: RunState, outcome: RequestOutcome, now: float) -> list[Request]:
    """End every open request without a decision; gives them."""
    ended = open_requests(state)
    for request in ended:
        request.shown = shown_of(state, request)
        request.outcome, request.decided_at = outcome, iso(now)
    return ended


def is_closing(state: RunState) -> bool:
    """Whether nothing is left to stop: the work has ended, and its report is not waited for."""
    if state.stop_reason is None or state.phase != "awaiting_report":
        return state.stop_reason is not None
    last = next((r for r in reversed(state.requests) if r.kind == "report"), None)
    if last is None:
        return False
    decided = last.outcome in ("approved", "edited", "expired")
    return decided or (last.outcome == "rejected" and not last.comment.strip())


def release_of(state: RunState, run_id: str) -> Request | None:
    """The request by which a person released the report, its digest computed again; else None."""
    last = next((r for r in reversed(state.requests) if r.kind == "report"), None)
    if last is None or last.outcome not in ("approved", "edited"):
        return None
    return last if digest_of(run_id, last.shown) == last.digest else None


def iso(at: float) -> str:
    """A time for people, UTC, to the second."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _outcome(decision: Decision) -> RequestOutcome:
    if decision.kind == "answer":
        return "answered"
    if decision.kind == "reject":
        return "rejected"
    return "approved" if decision.edits is None else "edited"


def _no_such(state: RunState, request_id: str) -> Judged:
    """Never asked, or asked with other content: the digest tells."""
    asked = request_id.rsplit("-", 1)[0]
    same = next((r for r in reversed(state.requests) if r.id.rsplit("-", 1)[0] == asked), None)
    if same is not None and "-" in request_id:
        return Judged("stale", f"{request_id[:100]!r} is not what was asked; it is {same.id}")
    names = ", ".join(r.id for r in open_requests(state)) or "none"
    return Judged("unknown_request", f"no request {request_id[:100]!r} is open; open: {names}")


def _closed(request: Request, decision: Decision) -> Judged:
    if request.outcome in ("expired", "withdrawn", "cancelled"):
        fate: Fate = "late" if request.outcome == "expired" else "stale"
        return Judged(fate, f"{request.id} {request.outcome} at {request.decided_at}")
    same = request.outcome == _outcome(decision) and request.by == decision.by
    told = f"{request.id} was {request.outcome} by {request.by} at {request.decided_at}"
    return Judged("duplicate" if same else "late", told)


def _forget(state: RunState) -> None:
    """Keep the state small: old ended requests go, what they showed is cut."""
    ended = [r for r in state.requests if r.outcome != "open"]
    for request in ended:
        if request.used or request.outcome not in ("approved", "edited", "answered"):
            request.shown, request.edits = _cut(request.shown), _cut(request.edits or {}) or None
    surplus = {r.id for r in ended[: max(0, len(ended) - REQUESTS_KEPT)]}
    if surplus:
        state.requests[:] = [r for r in state.requests if r.id not in surplus]


def _cut(value: JsonObject) -> JsonObject:
    text = canonical(value)
    return value if len(text) <= _KEPT_SHOWN else {"cut": text[:_KEPT_SHOWN]}
