"""What a model server said when it refused, and what a person must repair (B14, B16, B21, B28).

A status alone is ambiguous: an empty account comes as 429, a prompt that is too long as 400.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, cast

from activities.model.profiles import Profile

_PAYMENT_CODES: Final = re.compile(
    r"insufficient_(quota|balance|funds|credit)|billing|credit_balance|account_deactivated|arrear",
    re.IGNORECASE,
)
# Only unambiguous words: some servers speak of "quota" when they mean the rate.
_PAYMENT_WORDS: Final = re.compile(
    r"insufficient (balance|funds|credit)|out of credit|余额不足|欠费|账户.{0,4}停用", re.IGNORECASE
)
_KEY_CODES: Final = re.compile(
    r"(invalid|incorrect|missing)_api_key|authentication_error", re.IGNORECASE
)
_SECRETS: Final = re.compile(
    r"\bsk-[\w*.-]{3,}|\bBearer\s+\S+|\b(?:api[-_ ]?key|token|authorization)\b\s*[=:]\s*\S+",
    re.IGNORECASE,
)
_ADDRESSES: Final = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)

_WORDS: Final = (
    (
        r"content_filter|content_policy|data_inspection",
        "The provider's content filter refused the request: change the goal or the sources",
    ),
    (
        r"context_length|context length|context window|maximum context|too many tokens"
        r"|prompt is too long",
        "The prompt is too long for this model: set {setting} to one with a larger context",
    ),
    (
        r"response_format|json_schema|structured output",
        "The server refuses `response_format` json_schema: set {setting} to a model, or "
        "OPENAI_BASE_URL to a server, with structured output",
    ),
    (
        r"model_not_found|unknown model|model .{0,80}not (found|exist)",
        "The server does not know the model {model!r}: check {setting}",
    ),
)
_PAID: Final = (
    "The account of the model provider has no credit left: top it up or change OPENAI_API_KEY"
)
_KEY: Final = "The model server refused the key: check OPENAI_API_KEY of the worker"
_NO_SUCH: Final = (
    "The server knows no such address or model {model!r}: check OPENAI_BASE_URL (it usually ends "
    "in /v1) and {setting}"
)
_BY_STATUS: Final = {
    402: _PAID,
    401: _KEY,
    403: "The key may not use this model: check OPENAI_API_KEY and {setting}",
    404: _NO_SUCH,
    405: _NO_SUCH,
    410: _NO_SUCH,
    429: "The model server limits the rate of requests",
    408: "The model server could not take the request just now",
    409: "The model server could not take the request just now",
}


@dataclass(frozen=True)
class Refusal:
    """What a server answered instead of a reply; `words` may hold anything."""

    status: int | None
    codes: str
    words: str
    headers: Mapping[str, str]


def refusal_of(status: int | None, body: object, headers: Mapping[str, str]) -> Refusal:
    """Codes and words of an error body; a web page says nothing."""
    codes, words = _said(body)
    return Refusal(status, codes, words, headers)


def to_repair(refusal: Refusal, profile: Profile) -> str:
    """What a person must repair first, "" where the answer names nothing of that kind."""
    status = refusal.status
    if _PAYMENT_CODES.search(refusal.codes) or _PAYMENT_WORDS.search(refusal.words):
        return _PAID
    if status == HTTPStatus.UNAUTHORIZED or _KEY_CODES.search(refusal.codes):
        return _KEY
    if status is not None and status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ""
    said = f"{refusal.codes} {refusal.words}"
    for words, advice in _WORDS:
        if re.search(words, said, re.IGNORECASE):
            return advice.format(setting=profile.setting, model=profile.model)
    return ""


def by_status(status: int, profile: Profile) -> str:
    """A status in plain words, with the setting to check."""
    if status < HTTPStatus.BAD_REQUEST:
        return "The server answers with a redirect: set OPENAI_BASE_URL to the final address"
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "The model server failed"
    other = "The model server refused the request: check {setting} and OPENAI_BASE_URL"
    return _BY_STATUS.get(status, other).format(setting=profile.setting, model=profile.model)


def redacted(text: str, profile: Profile) -> str:
    """A text without keys and addresses, in one line."""
    if profile.api_key and (key := profile.api_key.get_secret_value()):
        text = text.replace(key, "***")
    text = text.encode("utf-8", "replace").decode()  # an error's JSON can spell lone surrogates
    return " ".join(_ADDRESSES.sub("<address>", _SECRETS.sub("***", text)).split())


def _said(body: object) -> tuple[str, str]:
    if not isinstance(body, dict):
        text = str(body or "")
        return "", "" if text.lstrip()[:1] == "<" else text
    fields = cast("dict[str, Any]", body)
    inner = fields.get("error")
    if isinstance(inner, dict):
        return _said(cast("dict[str, Any]", inner))
    codes = " ".join(str(fields[key]) for key in ("code", "type", "param") if fields.get(key))
    words = fields.get("message") or inner or fields.get("detail") or ""
    return codes, words if isinstance(words, str) else ""
