"""Messages to a run: what is valid, and how everything is recorded (INTERFACE, "Messages").

Nothing here raises: a message can be malformed, stale or unknown, and the run goes on (failures
A03, A05; C60). The newest 100 are kept, cut to 500 characters.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

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
# An edited plan of 100 steps and an edited report of 64 KiB are well within these.
MESSAGE_VALUES: Final = 10_000
MESSAGE_CHARACTERS: Final = 256 * 1024
_DEPTH: Final = 100
_END: Final = object()
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
    if not _is_small(args):
        limits = f"{MESSAGE_VALUES} values, {MESSAGE_CHARACTERS} characters, {_DEPTH} levels"
        return Read(None, f"malformed: too large, at most {limits}; expected {EXPECTED[name]}")
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
    """A message's payloads as cut text; whatever they hold, no more of it than is kept is read."""
    text = ""
    for piece in json.JSONEncoder(ensure_ascii=False, default=str).iterencode(list(args)):
        text += piece[:RECORDED_CHARACTERS]
        if len(text) >= RECORDED_CHARACTERS:
            break
    return text.encode("utf-8", "replace").decode()[:RECORDED_CHARACTERS]


def _is_small(args: Sequence[Any]) -> bool:
    """Whether payloads can be validated within a workflow task, however many came with them."""
    values = characters = 0
    open_: list[Iterator[Any]] = [iter(args)]
    while open_:
        value = next(open_[-1], _END)
        if value is _END:
            open_.pop()
            continue
        values += 1
        if isinstance(value, str):
            characters += len(value)
        elif isinstance(value, dict):
            open_.append(_parts(cast("dict[Any, Any]", value)))
        elif isinstance(value, list):
            open_.append(iter(cast("list[Any]", value)))
        if values > MESSAGE_VALUES or characters > MESSAGE_CHARACTERS or len(open_) > _DEPTH:
            return False
    return True


def _parts(value: dict[Any, Any]) -> Iterator[Any]:
    for key, inner in value.items():
        yield key
        yield inner
