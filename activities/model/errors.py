"""One function: any failure of a model call to an ApplicationError (DESIGN, "Failure").

Retried by Temporal: broken connections, time-outs, 408, 409, 429 and every 5xx, with the delay the
server asks for (REQUIREMENTS 171; B17, B19). Not retried: everything a person must repair first,
an empty account included, which some servers report as 429 (B16); and replies that break the
protocol (C30). Messages say what to fix and hold no key, no header and no address.
"""

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

from temporalio.exceptions import ApplicationError

from activities.model.profiles import Profile
from activities.model.refusal import Refusal, by_status, redacted, refusal_of, to_repair
from activities.model.reply import ReplyError, ReportedError
from workflows.contracts.acts import FailedAct, TokenUsage
from workflows.contracts.names import MODEL_ERROR, PROTOCOL_ERROR

MESSAGE_CHARACTERS: Final = 500
LONGEST_DELAY: Final = timedelta(seconds=120)
_SERVER_WORDS: Final = 200
_TRANSIENT: Final = frozenset({408, 409, 429})


def application_error(error: Exception, profile: Profile, usage: TokenUsage) -> ApplicationError:
    """The error an activity raises for a failed model call.

    Args:
        error: what the client raised: an error of `openai`, `TimeoutError`, `ReplyError`,
            `ReportedError`.
        profile: the profile that was called; its key never stands in the message.
        usage: estimated tokens of the request, with the attempt; charged where the server may have
            worked for it, replaced by the reply's own usage where there is one.

    Returns:
        Type `ModelError` or `ProtocolError`, details one `FailedAct`.
    """
    import openai  # noqa: PLC0415 - slow, and loaded already by whoever made the call

    if isinstance(error, ReplyError):
        charged = error.usage.model_copy(update={"attempt": usage.attempt})
        return _unusable(error.reason, profile, charged)
    if isinstance(error, ReportedError):
        return _refused(refusal_of(error.status, error.body, {}), profile, usage)
    if isinstance(error, openai.APIStatusError):
        headers = dict(error.response.headers)
        return _refused(refusal_of(error.status_code, error.body, headers), profile, usage)
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        text = "The model did not answer in time; SUREFOOT_MODEL_SECONDS says how long it may take."
        return _model_error(text, profile, usage, retry=True)
    if isinstance(error, openai.APIConnectionError):
        text = "The model server cannot be reached or broke the connection: check OPENAI_BASE_URL."
        charged = _nothing(usage) if _never_connected(error) else usage
        return _model_error(text, profile, charged, retry=True)
    text = f"The model client failed ({type(error).__name__}): check the OPENAI_ settings."
    return _model_error(text, profile, _nothing(usage))


def retry_delay(headers: Mapping[str, str], now: datetime) -> timedelta | None:
    """The delay a server asks for: ms, seconds or a date; at most 120 s, None where it is no use.

    Zero, negative values, dates in the past and what cannot be read give None: the retry policy's
    own back-off then keeps us from hammering (B17).
    """
    lower = {key.lower(): value.strip() for key, value in headers.items()}
    seconds = _number(lower.get("retry-after-ms", ""), 1000)
    if seconds is None:
        value = lower.get("retry-after", "")
        seconds = _number(value, 1)
        if seconds is None:
            seconds = _until(value, now)
    if seconds is None or seconds <= 0:
        return None
    return timedelta(seconds=min(seconds, LONGEST_DELAY.total_seconds()))


def _refused(refusal: Refusal, profile: Profile, usage: TokenUsage) -> ApplicationError:
    words = redacted(refusal.words or refusal.codes, profile)[:_SERVER_WORDS].rstrip(". ")
    quoted = f"; it says: {words}" if words else ""
    repair = to_repair(refusal, profile)
    status = refusal.status
    if status is None:
        if not repair:
            return _unusable(f"the answer holds an error object{quoted}", profile, usage)
        return _model_error(f"{repair}{quoted}.", profile, _nothing(usage))
    text = f"{repair or by_status(status, profile)} ({status}){quoted}."
    retry = not repair and (status in _TRANSIENT or status >= HTTPStatus.INTERNAL_SERVER_ERROR)
    delay = retry_delay(refusal.headers, datetime.now(UTC)) if retry else None
    return _model_error(text, profile, _nothing(usage), retry=retry, delay=delay)


def _unusable(reason: str, profile: Profile, usage: TokenUsage) -> ApplicationError:
    text = _short(f"Unusable reply of the model: {reason}.", profile)
    return ApplicationError(text, FailedAct(usage=usage), type=PROTOCOL_ERROR, non_retryable=True)


def _model_error(
    text: str,
    profile: Profile,
    usage: TokenUsage,
    *,
    retry: bool = False,
    delay: timedelta | None = None,
) -> ApplicationError:
    return ApplicationError(
        _short(text, profile),
        FailedAct(usage=usage),
        type=MODEL_ERROR,
        non_retryable=not retry,
        next_retry_delay=delay,
    )


def _short(text: str, profile: Profile) -> str:
    message = redacted(text, profile)
    if len(message) <= MESSAGE_CHARACTERS:
        return message
    return message[: MESSAGE_CHARACTERS - 1] + "…"


def _nothing(usage: TokenUsage) -> TokenUsage:
    """No tokens: a request that was refused or never arrived is not billed."""
    return TokenUsage(attempt=usage.attempt)


def _never_connected(error: Exception) -> bool:
    return type(error.__cause__).__name__ in ("ConnectError", "ConnectTimeout")


def _number(value: str, per_second: int) -> float | None:
    try:
        number = float(value) / per_second
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _until(value: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - now).total_seconds()
