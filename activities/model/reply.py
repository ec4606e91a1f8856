"""Reading the body of a 200: the first choice, or why it cannot be used.

Accepted is only a first choice with finish reason `stop`, no refusal and 1-12000 characters of
content (REQUIREMENTS 221). There is no fallback to loose JSON (222). A body that is no JSON or
lacks parts is a typed error, never a crash (223). An error object in a 200 is an error of the
provider (B12).
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, cast

from activities.model.request import Reply, Request
from activities.model.tokens import estimate_tokens, usage_of
from workflows.contracts.acts import TokenUsage

CONTENT_CHARACTERS: Final = 12_000
BODY_BYTES: Final = 4 * 1024 * 1024
_NO_USAGE: Final = TokenUsage()
_NAMED: Final = (
    (r"rate_?limit|too_many_requests", 429),
    (r"overloaded", 529),
    (r"server_error|internal_error|unavailable", 500),
)
_REASONING: Final = ("reasoning_content", "reasoning")


class ReplyError(Exception):
    """The reply came, but breaks the protocol; `usage` is what it cost."""

    def __init__(self, reason: str, usage: TokenUsage = _NO_USAGE) -> None:
        super().__init__(reason)
        self.reason = reason
        self.usage = usage


class ReportedError(Exception):
    """An error object in the body of a 200.

    Attributes:
        status: the status that the body names, None where it names none.
        body: the error object.
    """

    def __init__(self, status: int | None, body: Mapping[str, Any]) -> None:
        super().__init__("error object in the body of a 200")
        self.status = status
        self.body = body


def read_reply(data: bytes, request: Request[Any]) -> Reply:
    """The accepted content of a response body.

    Raises:
        ReplyError: the reply cannot be used.
        ReportedError: the body holds an error object.
    """
    body = _object(data, request)
    prompt = request.system + request.user
    if error := body.get("error"):
        raise _reported(error)
    choice = _first_choice(body, usage_of(body.get("usage"), prompt, ""))
    message = cast("dict[str, Any]", choice["message"])
    content = message.get("content")
    text = content if isinstance(content, str) else ""
    usage = usage_of(body.get("usage"), prompt, text)
    _check(choice, message, text, usage)
    return Reply(text, usage.model_copy(update={"attempt": request.attempt}))


def _object(data: bytes, request: Request[Any]) -> dict[str, Any]:
    text = data[:BODY_BYTES].decode("utf-8", "replace")
    usage = TokenUsage(
        prompt_tokens=estimate_tokens(request.system + request.user),
        completion_tokens=estimate_tokens(text[:CONTENT_CHARACTERS]),
        estimated=True,
    )
    if len(data) > BODY_BYTES:
        raise ReplyError(f"the answer is larger than {BODY_BYTES} bytes", usage)
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        hint = (
            ": it is a web page, so OPENAI_BASE_URL probably lacks its path (often /v1)"
            if text.lstrip()[:1] == "<"
            else ""
        )
        raise ReplyError(f"the answer is not JSON{hint}", usage) from None
    if not isinstance(body, dict):
        raise ReplyError("the answer is JSON, but no object", usage)
    return cast("dict[str, Any]", body)


def _sendable(value: Any) -> Any:
    """Without lone surrogates, which JSON can spell and no payload can carry."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_sendable(v) for v in cast("list[Any]", value)]
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {str(_sendable(k)): _sendable(v) for k, v in items}
    return value


def _reported(error: Any) -> ReportedError:
    fields: dict[str, Any] = _sendable(
        error if isinstance(error, dict) else {"message": str(error)}
    )
    for key in ("code", "status", "status_code", "type"):
        value = fields.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return ReportedError(value, fields)
        if isinstance(value, str):
            if re.fullmatch(r"[1-5]\d\d", value.strip()):
                return ReportedError(int(value), fields)
            for name, status in _NAMED:
                if re.search(name, value, re.IGNORECASE):
                    return ReportedError(status, fields)
    return ReportedError(None, fields)


def _first_choice(body: dict[str, Any], usage: TokenUsage) -> dict[str, Any]:
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise ReplyError("the answer has no choices", usage)
    choice: Any = cast("list[Any]", choices)[0]
    if not isinstance(choice, dict):
        raise ReplyError("the first choice is no object", usage)
    fields = cast("dict[str, Any]", choice)
    if not isinstance(fields.get("message"), dict):
        raise ReplyError("the first choice has no message", usage)
    return fields


def _check(
    choice: dict[str, Any], message: dict[str, Any], content: str, usage: TokenUsage
) -> None:
    reason = choice.get("finish_reason")
    if reason == "content_filter":
        raise ReplyError("the provider's content filter stopped the answer", usage)
    if message.get("refusal"):
        raise ReplyError(f"the model refused: {_sendable(str(message['refusal']))[:200]}", usage)
    if reason == "length":
        raise ReplyError("the answer was cut at the length limit of the server", usage)
    if reason != "stop":
        shown = repr(reason)[:50]
        raise ReplyError(f"the finish reason is {shown}, expected 'stop'", usage)
    if not content.strip():
        raise ReplyError("the answer has no content" + _elsewhere(message), usage)
    if len(content) > CONTENT_CHARACTERS:
        raise ReplyError(
            f"the content has {len(content)} characters, at most {CONTENT_CHARACTERS} are accepted",
            usage,
        )


def _elsewhere(message: dict[str, Any]) -> str:
    if message.get("tool_calls"):
        return ": it asks for tools, which were not offered"
    for key in _REASONING:
        if message.get(key):
            return f": the server put its text into `{key}`"
    return ""
