"""Asking people and waiting for them: one durable wait a request, no polling (DESIGN, "People").

The rules in `logic.requests` decide what a decision does; here requests are opened, waited for and
shown. Waiting costs no events but one deadline timer, and no working time (REQUIREMENTS 157).
"""

from temporalio import workflow

from workflows.carry import continue_as_new_if_suggested
from workflows.contracts.base import JsonObject
from workflows.contracts.requests import Request, RequestKind
from workflows.engine import Engine, RunEnded
from workflows.logic import requests as rules
from workflows.trajectory import record
from workflows.visible import show_details, show_phase

_SHORTEST = 0.001  # seconds; no timer of 0
_QUESTION_CHARACTERS = 500
_NOTE = 1000


def run_id() -> str:
    """Identity of the run in digests: the first execution's, whatever was reset or continued."""
    return workflow.info().first_execution_run_id


def pending(engine: Engine, kind: RequestKind, step: str = "") -> Request | None:
    """The newest request of a kind and a step that is not carried out yet; also a carried one."""
    for request in reversed(engine.state.requests):
        if request.kind == kind and request.step == step:
            return None if request.used else request
    return None


async def asked(
    engine: Engine,
    kind: RequestKind,
    shown: JsonObject,
    *,
    step: str = "",
    note: str = "",
    carry: bool = False,
) -> Request:
    """Ask and wait; the request that a run before left open is waited for, not asked again.

    Args:
        engine: of the run.
        kind: what is asked.
        shown: exactly what is shown; the digest of the request's id is over it.
        step: of a call or a question.
        note: told beside it.
        carry: whether the run may continue as new from here (never from inside of a step).

    Returns:
        The request, ended, which counts as used: approved, edited, rejected or answered; a question
        and a report also expired, a report also withdrawn.

    Raises:
        RunEnded: the run was ended meanwhile, or nobody decided in time.
    """
    request = pending(engine, kind, step)
    if request is None:
        engine.tick()
        request = rules.open_request(
            engine.state,
            kind,
            shown,
            run_id=run_id(),
            now=workflow.now().timestamp(),
            step=step,
        )
        request.note = note[:_NOTE]
        record(engine, "request", step, request=request.id, asks=kind, outcome="open")
    if request.outcome == "open":
        await _wait(engine, request, carry=carry)
    if kind != "report" and engine.state.stop_reason is not None:
        raise RunEnded
    request.used = True
    if request.outcome == "expired" and kind in ("plan", "tool"):
        engine.end("expired", f"nobody decided on {request.id} until {rules.iso(_due(request))}")
        raise RunEnded
    return request


async def _wait(engine: Engine, request: Request, *, carry: bool) -> None:
    show_phase(engine.state)
    show_details(engine.state)
    engine.waits += 1
    try:
        while request.outcome == "open":
            await _until(engine, request, carry=carry)
    finally:
        engine.waits -= 1
    show_phase(engine.state)
    show_details(engine.state)
    record(
        engine,
        "request",
        request.step,
        request=request.id,
        asks=request.kind,
        outcome=request.outcome,
        by=request.by,
        comment=request.comment[:200],
    )


async def _until(engine: Engine, request: Request, *, carry: bool) -> None:
    """One wait: for the decision, the deadline, the end of the run, or a history that is full."""

    def over() -> bool:
        return (
            request.outcome != "open"
            or _cut_off(engine, request)
            or (carry and _may_continue(engine))
        )

    timeout = None
    if request.deadline is not None:
        timeout = max(_SHORTEST, request.deadline - workflow.now().timestamp())
    try:
        await workflow.wait_condition(
            over, timeout=timeout, timeout_summary=f"Deadline of {request.id}"
        )
    except TimeoutError:
        if not rules.expire(request, workflow.now().timestamp()):
            show_phase(engine.state)  # reopened once: the deadline is another one
            show_details(engine.state)
        return
    engine.tick()
    if request.outcome != "open":
        return
    if _cut_off(engine, request):
        raise RunEnded
    if carry:
        continue_as_new_if_suggested(engine, ended=request.kind == "report")


def _cut_off(engine: Engine, request: Request) -> bool:
    """Whether the run was ended; a finished report waits in a run whose reason is already set."""
    return request.kind != "report" and engine.state.stop_reason is not None


def waiting_only(engine: Engine, running: int) -> bool:
    """Whether every running step waits for people, and the run may continue as new."""
    return engine.waits == running > 0 and _may_continue(engine)


def _may_continue(engine: Engine) -> bool:
    return (
        workflow.info().is_continue_as_new_suggested()
        and workflow.all_handlers_finished()
        and not engine.busy
    )


def close_requests(engine: Engine) -> None:
    """End what is still open when the run ends, without a decision (failures D04)."""
    outcome = "cancelled" if engine.state.stop_reason == "cancelled" else "withdrawn"
    for request in rules.withdraw(engine.state, outcome, workflow.now().timestamp()):
        record(
            engine, "request", request.step, request=request.id, asks=request.kind, outcome=outcome
        )


def rejected(engine: Engine, request: Request, repair: str) -> bool:
    """Whether a rejection ends the run: without a comment at once, with one from the second on.

    Args:
        engine: of the run; it is ended here.
        request: the rejected one.
        repair: what may be repaired once.
    """
    repairs = engine.state.repairs
    if request.comment.strip():
        repairs[repair] = repairs.get(repair, 0) + 1
        if repairs[repair] == 1:
            return False
    comment = f": {request.comment}" if request.comment.strip() else ""
    engine.end("rejected", f"{request.by} rejected {request.id}{comment}")
    return True


def _due(request: Request) -> float:
    return request.deadline or 0.0


async def answer_of(engine: Engine, question: str, step: str, goal: str) -> Request:
    """Ask the user what only they know; an expired question comes back unanswered."""
    shown: JsonObject = {"question": question[:_QUESTION_CHARACTERS], "step": step, "goal": goal}
    return await asked(engine, "question", shown, step=step)
