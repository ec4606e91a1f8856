"""Messages to a run: what is valid, and how everything is recorded (INTERFACE, "Messages").

Nothing here raises: a message can be malformed, stale or unknown, and the run goes on (failures
A03, A05; C60). The newest 100 are kept, cut to 500 characters.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from workflows.contracts.messages import (
    RECORDED_CHARACTERS,
    RECORDED_MESSAGES,
    Answered,
    Decided,
    DecideUpdate,
    RecordedMessage,
    Stop,
)
from workflows.contracts.names import SIGNALS
from workflows.contracts.state import RunState
from workflows.logic.parse import InvalidTaskError, parse_object
from workflows.logic.requests import Decision

EXPECTED: Final[dict[str, str]] = {
    "approve": '{"request_id": "...", "by": "...", "edits": {...} if something is to change}',
    "reject": '{"request_id": "...", "by": "...", "comment": "..."}',
    "answer": '{"request_id": "...", "by": "...", "text": "..."}',
    "stop": '{"by": "...", "reason": "..."} or no input at all',
    "decide": '{"request_id": "...", "decision": "approve", "by": "..."}',
}
_MODELS: Final[dict[str, type[BaseModel]]] = {
    "approve": Decided,
    "reject": Decided,
    "answer": Answered,
    "stop": Stop,
    "decide": DecideUpdate,
}


@dataclass(frozen=True)
class Read:
    """A message as read: the model, or why it is none."""

    value: BaseModel | None
    reason: str = ""


def read_message(name: str, args: Sequence[Any]) -> Read:
    """Validate a known message; `stop` may come without any payload."""
    if name == "stop" and not args:
        return Read(Stop())
    try:
        return Read(parse_object(args, _MODELS[name], name, EXPECTED[name]))
    except InvalidTaskError as error:
        return Read(None, f"malformed: {error}; expected {EXPECTED[name]}"[:RECORDED_CHARACTERS])


def as_decision(name: str, value: BaseModel) -> Decision | str:
    """A message as a decision on a request, or what it lacks."""
    if isinstance(value, Answered):
        return Decision("answer", value.request_id, value.by, text=value.text)
    if isinstance(value, DecideUpdate):
        return _of_update(value)
    if isinstance(value, Decided):
        kind = "reject" if name == "reject" else "approve"
        return Decision(kind, value.request_id, value.by, value.comment or "", value.edits)
    return f"expected {EXPECTED.get(name, 'a decision')}"


def _of_update(value: DecideUpdate) -> Decision | str:
    comment = value.comment or ""
    if value.decision == "answer":
        if not (value.text or "").strip():
            return "text: an answer needs one"
        return Decision("answer", value.request_id, value.by, comment, text=value.text or "")
    if value.decision == "edit" and value.edits is None:
        return 'edits: "edit" needs what replaces what was shown'
    kind = "reject" if value.decision == "reject" else "approve"
    return Decision(kind, value.request_id, value.by, comment, value.edits)


def unknown_signal() -> str:
    """Why a signal of an unknown name changes nothing."""
    return f"unknown signal; known are {', '.join(SIGNALS)}"


def record(state: RunState, message: RecordedMessage) -> None:
    """Keep a message; the newest 100 stay."""
    state.messages.append(message)
    del state.messages[:-RECORDED_MESSAGES]


def payload_text(args: Sequence[Any]) -> str:
    """A message's payloads as cut text; whatever they hold."""
    text = json.dumps(list(args), ensure_ascii=False, default=str)
    return text.encode("utf-8", "replace").decode()[:RECORDED_CHARACTERS]
