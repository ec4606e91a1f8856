"""Follow a run to its end: its events as they come, and how it ended."""

import asyncio
import contextlib
from collections.abc import Generator
from datetime import timedelta
from typing import Any, Final, cast

from temporalio.client import WorkflowFailureError, WorkflowHandle, WorkflowQueryFailedError
from temporalio.exceptions import (
    ApplicationError,
    CancelledError,
    TerminatedError,
    TimeoutError,
)
from temporalio.service import RPCError

from cli.board import board, plan_lines
from cli.in_place import InPlace
from cli.outcome import Outcome
from cli.patience import patient_result
from cli.plain import line
from cli.queries import queried
from cli.records import stored_result
from cli.screen import Screen
from cli.session import Session
from cli.words import words_of
from workflows.contracts.names import INVALID_TASK
from workflows.logic.headings import Words

_POLL_EMBEDDED: Final = 0.2  # seconds between queries
_POLL_REMOTE: Final = 1.0
_QUERY_SECONDS: Final = 5.0
_LAST_POLLS: Final = 3  # the newest events are worth waiting for a busy worker


class Events:
    """The events of a run, each told once; `seq` of an event grows over the whole run."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._seen = 0

    async def poll(self, handle: WorkflowHandle[Any, Any]) -> bool | None:
        """Ask once and tell what is new; whether anything was, None where nobody answered."""
        try:
            answer = await handle.query("trajectory", rpc_timeout=timedelta(seconds=_QUERY_SECONDS))
        except (RPCError, WorkflowQueryFailedError):
            return None  # no worker yet, a restart, a run that has not begun: asked again
        before = self._seen
        for event in answer["events"]:
            self._tell(event)
        return self._seen > before

    def _tell(self, event: dict[str, Any]) -> None:
        number = int(event["seq"])
        if number <= self._seen:
            return
        if number > self._seen + 1:
            self._screen.warn(f"{number - self._seen - 1} events were too many to be kept")
        self._seen = number
        bare = {key: value for key, value in event.items() if key != "seq"}
        self._screen.event(bare)
        line = _line(bare)
        if line:
            self._screen.now(line)


class Standing:
    """Where a run stands: its plan above the spinner, and what it asks of people."""

    def __init__(self, session: Session, workflow_id: str, screen: Screen) -> None:
        self._session = session
        self._id = workflow_id
        self._screen = screen
        self._people = InPlace(session, workflow_id, screen)
        self._version = 0
        self._asked: list[str] = []
        self._waits = False

    async def look(self) -> None:
        """Look once, and show what has changed."""
        if self._screen.events:
            return
        status = await queried(self._session, self._id, "status")
        if status is None:
            return
        words = words_of(str(status.get("language") or "en"))
        if status.get("strategy") == "plan":
            await self._show_plan(status, words)
        asked = cast("list[str]", status.get("open_requests") or [])
        if asked != self._asked:
            known = await queried(self._session, self._id, "requests")
            if known is not None:
                await self._people.take(known)
                self._asked = [str(item["id"]) for item in known["open"]]
        if not asked and self._waits:
            self._screen.now(words(f"phase_{status['phase']}"))
        self._waits = bool(asked)
        if asked and self._screen.live:  # elsewhere each request was just told in full
            kinds = cast("list[str]", status.get("awaiting") or [])
            what = words("comma").join(words(f"wait_{kind}") for kind in kinds)
            self._screen.now(words("waits", what=what))

    async def last_look(self) -> None:
        """The run has ended: tell how what it asked was decided, if nobody here did."""
        if self._asked:
            with contextlib.suppress(RPCError):
                known = await queried(self._session, self._id, "requests")
                if known is not None:
                    await self._people.take(known)

    async def close(self) -> None:
        """Nobody looks any more."""
        await self._people.close()

    async def _show_plan(self, status: dict[str, Any], words: Words) -> None:
        plan = await queried(self._session, self._id, "plan")
        if plan is None:
            return
        if self._screen.live:
            self._screen.board(board(plan, status, words))
        elif plan.get("steps") and plan["version"] != self._version:
            self._version = plan["version"]
            for line in plan_lines(plan, words):
                self._screen.say(line)


def _line(event: dict[str, Any]) -> str:
    """An event in words; "" where it says nothing to a person."""
    match event.get("event"):
        case "model_started":
            return f"model call {event['model_call']}"
        case "plan_updated":
            plan = cast("list[str]", event.get("plan") or [])
            return plan[0] if plan else ""
        case "observation_recorded":
            return _observation(event)
        case "think" | "tool" | "answer" | "verdict" | "error":
            return _act(event)
        case _:
            return ""


def _act(event: dict[str, Any]) -> str:
    """An act of a plan, short: which step, and what came of it."""
    step = f"{event['step']}: " if event.get("step") else ""
    kind = event["event"]
    if kind == "think":
        return f"{step}{event.get('action', '')}"
    if kind == "tool":
        found = event.get("new_sources") or 0
        return f"{step}{event.get('tool')} {event.get('arguments', '')}: {found} new sources"
    if kind == "answer":
        return f"{step}{event.get('insufficient') or str(event.get('claims')) + ' claims'}"
    if kind == "verdict" and "score" in event:
        said = "passed" if event.get("passed") else str(event.get("reason"))
        return f"{step}score {event['score']}, {said}"[:120]
    return f"{step}{event.get('error') or event.get('answer') or ''}"


def _observation(event: dict[str, Any]) -> str:
    missing = ", ".join(event.get("missing_topics") or []) or "nothing"
    if not event.get("ok"):
        return f"the call failed: {event.get('error')}; missing: {missing}"
    count = event.get("new_sources") or 0
    return f"{count} new {'source' if count == 1 else 'sources'}; missing: {missing}"


async def follow(session: Session, workflow_id: str, screen: Screen) -> Outcome:
    """Wait for the run's end, telling its events meanwhile."""
    handle = session.client.get_workflow_handle(workflow_id)
    events, standing = Events(screen), Standing(session, workflow_id, screen)
    waiting = asyncio.create_task(_wait(session, handle))
    telling = asyncio.create_task(_tell(session, handle, events, standing, screen))
    try:
        outcome = await waiting
    finally:
        waiting.cancel()
        telling.cancel()
        await asyncio.gather(waiting, telling, return_exceptions=True)
        await standing.close()
    with told(screen, set()):
        await standing.last_look()
        for _ in range(_LAST_POLLS):
            if await events.poll(handle) is not None:
                break
        else:
            screen.warn("no worker answers, so the newest events are not shown")
    screen.clear()
    return outcome


@contextlib.contextmanager
def told(screen: Screen, before: set[str]) -> Generator[None]:
    """What goes wrong in the body is told once: showing a run costs no report and no exit code.

    Args:
        screen: where it is told.
        before: what was told, added to.
    """
    try:
        yield
    except Exception as error:  # noqa: BLE001 - told; also a run of a version with other events
        said = line(f"progress cannot be shown ({type(error).__name__}: {error})")
        if said not in before:
            before.add(said)
            screen.warn(said)


async def outcome_of(session: Session, workflow_id: str) -> Outcome:
    """How a run ended, or ends, without its events."""
    return await _wait(session, session.client.get_workflow_handle(workflow_id))


async def _tell(
    session: Session,
    handle: WorkflowHandle[Any, Any],
    events: Events,
    standing: Standing,
    screen: Screen,
) -> None:
    """Tell events and standing; a look that fails, as when the server restarts, is made again."""
    looked, failures = False, set[str]()
    while True:
        with told(screen, failures), contextlib.suppress(RPCError):
            news = await events.poll(handle)
            if news or (news is False and not looked):
                looked = False
                await standing.look()
                looked = True
        await asyncio.sleep(_POLL_EMBEDDED if session.embedded else _POLL_REMOTE)


async def _wait(session: Session, handle: WorkflowHandle[Any, Any]) -> Outcome:
    """The outcome; a server that is being restarted is waited for."""
    try:
        result = await patient_result(handle)
    except WorkflowFailureError as error:
        return await _ended_otherwise(session, handle, error)
    if isinstance(result, dict):
        return Outcome(handle.id, "completed", result=cast("dict[str, Any]", result))
    return Outcome(handle.id, "completed", error="what it returned is no result of a run")


async def _ended_otherwise(
    session: Session, handle: WorkflowHandle[Any, Any], error: WorkflowFailureError
) -> Outcome:

    cause = error.cause
    if isinstance(cause, CancelledError):
        return Outcome(
            handle.id,
            "canceled",
            result=await stored_result(session.env, handle.id),
            error="the run was cancelled",
        )
    if isinstance(cause, ApplicationError):
        invalid = cause.type == INVALID_TASK
        return Outcome(handle.id, "failed", error=cause.message, invalid=invalid)
    if isinstance(cause, TerminatedError):
        return Outcome(handle.id, "terminated", error=f"the run was terminated: {cause.message}")
    if isinstance(cause, TimeoutError):
        return Outcome(handle.id, "timed_out", error="the execution's own timeout ended the run")
    return Outcome(handle.id, "failed", error=str(cause))
