"""Signals and updates of AgentRun (INTERFACE, "Messages"), and how a message is recorded."""

from typing import Annotated, Any, Literal

from pydantic import StringConstraints

from workflows.contracts.base import Line, Strict, Wire
from workflows.contracts.requests import Fate

RECORDED_MESSAGES = 100
RECORDED_CHARACTERS = 500


class Stop(Strict):
    """Payload of signal `stop`; no payload at all is the same as `{}`."""

    by: Annotated[str, StringConstraints(max_length=200)] = ""
    reason: Annotated[str, StringConstraints(max_length=2000)] = ""


class Decided(Strict):
    """Payload of signals `approve` and `reject`."""

    request_id: Line
    by: Line
    comment: Annotated[str, StringConstraints(max_length=5000)] | None = None
    edits: dict[str, Any] | None = None


class Answered(Strict):
    """Payload of signal `answer`."""

    request_id: Line
    by: Line
    text: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]


class DecideUpdate(Strict):
    """Argument of update `decide`."""

    request_id: Line
    decision: Literal["approve", "reject", "edit", "answer"]
    by: Line
    comment: Annotated[str, StringConstraints(max_length=5000)] | None = None
    edits: dict[str, Any] | None = None
    text: Annotated[str, StringConstraints(max_length=20_000)] | None = None


class RecordedMessage(Wire):
    """A message as the state keeps it: newest 100, cut to 500 characters.

    Attributes:
        outcome: `accepted` or `ignored`.
        fate: why in one word: accepted, duplicate, stale, late, malformed, not_allowed,
            unknown_request, unknown_signal.
        reason: why it was ignored, with the expected shape.
        request, by: the request it names and its author, "" where it has none.
    """

    name: str
    outcome: Literal["accepted", "ignored"]
    fate: Fate = "accepted"
    reason: str = ""
    payload: str = ""
    at: str = ""
    request: str = ""
    by: str = ""
