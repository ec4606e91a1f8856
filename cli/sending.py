"""Decisions on their way to a run: by the update where a worker answers, else by a signal.

The update tells at once what became of a decision; a signal is kept by the server until a worker
takes it (INTERFACE, "Messages").
"""

import asyncio
import getpass
import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from temporalio.client import (
    WorkflowHandle,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from cli.session import Session
from workflows.contracts.names import UPDATE_DECIDE
from workflows.logic.inbox import as_decision, read_message

_UPDATE_SECONDS: Final = 10.0
_FAULTS: Final = ("malformed", "unknown_request", "not_allowed")
_MOST_BYTES: Final = 256 * 1024  # of a message; a run has to keep what it is asked to run
_SIGNALS: Final = {"approve": "approve", "edit": "approve", "reject": "reject", "answer": "answer"}


class RefusedError(Exception):
    """The run did not take a decision.

    Attributes:
        fate: why in one word (docs/approvals.md).
        mistake: whether other arguments could put it right.
    """

    def __init__(self, fate: str, reason: str) -> None:
        super().__init__(f"{fate}: {reason}")
        self.fate = fate
        self.mistake = fate in _FAULTS


@dataclass(frozen=True)
class Taken:
    """What became of a decision.

    Attributes:
        outcome: of the request (approved, edited, rejected, answered); "" where no worker has
            taken it yet.
    """

    outcome: str


def user() -> str:
    """The name of whoever sits at the keyboard."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def decision(
    kind: str, request_id: str, by: str, *, comment: str = "", edits: Any = None, text: str = ""
) -> dict[str, Any]:
    """The payload of update `decide`, checked as the run will check it.

    Args:
        kind: approve, edit, reject or answer.
        request_id: of the request.
        by: who decides.
        comment: to an approval or a rejection.
        edits: what replaces what was shown.
        text: of an answer.

    Raises:
        RefusedError: malformed, with the field and what is expected.
    """
    payload: dict[str, Any] = {"request_id": request_id, "decision": kind, "by": by}
    payload |= {"comment": comment} if comment else {}
    payload |= {"edits": edits} if edits is not None else {}
    payload |= {"text": text} if text else {}
    if told := unsendable(payload):
        raise RefusedError("malformed", told)
    read = read_message(UPDATE_DECIDE, [payload])
    said = read.reason if read.value is None else as_decision(UPDATE_DECIDE, read.value)
    if isinstance(said, str):
        raise RefusedError("malformed", said.removeprefix("malformed: "))
    return payload


def unsendable(value: dict[str, Any]) -> str:
    """Why an object cannot be sent to a run, "" if it can."""
    try:
        size = len(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False).encode())
    except RecursionError:
        return "nested too deeply"
    except UnicodeEncodeError:
        return "holds what is no UTF-8 (half of a surrogate pair)"
    except ValueError:
        return "holds a number that is none in JSON (NaN, Infinity, or beyond 1e308)"
    return "" if size <= _MOST_BYTES else f"{size} bytes; a run takes at most {_MOST_BYTES}"


async def send(
    session: Session, workflow_id: str, payload: dict[str, Any], *, answers: bool
) -> Taken:
    """Have a run take a decision.

    Args:
        session: the server.
        workflow_id: of the run.
        payload: from `decision`.
        answers: whether a worker answers.

    Raises:
        RefusedError: the run does not take it.
        RPCError: NOT_FOUND where the run has ended; the server does not take it.
    """
    handle = session.client.get_workflow_handle(workflow_id)
    if answers:
        taken = await _updated(handle, payload)
        if taken is not None:
            return taken
    signal = {k: v for k, v in payload.items() if k != "decision"}
    await handle.signal(_SIGNALS[payload["decision"]], signal)
    return Taken("")


async def _updated(handle: WorkflowHandle[Any, Any], payload: dict[str, Any]) -> Taken | None:
    """The update's outcome; None where no worker took it in time."""
    try:
        answer: dict[str, str] = await handle.execute_update(  # pyright: ignore[reportUnknownMemberType]
            UPDATE_DECIDE, payload, rpc_timeout=timedelta(seconds=_UPDATE_SECONDS)
        )
    except WorkflowUpdateRPCTimeoutOrCancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError from None
        return None  # the signal waits for a worker; an update that comes through as well is a
        # duplicate, which changes nothing
    except WorkflowUpdateFailedError as error:
        raise _refused(error) from None
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise
        return None
    return Taken(answer["outcome"])


def _refused(error: WorkflowUpdateFailedError) -> RefusedError:
    cause = error.cause
    told = cause.message if isinstance(cause, ApplicationError) else str(cause)
    fate, _, reason = told.partition(": ")
    return RefusedError(fate, reason) if reason else RefusedError("late", told)
