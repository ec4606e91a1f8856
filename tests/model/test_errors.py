"""The one mapping of failures: type, retry, delay, words; nothing secret in the words."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from activities.model.errors import MESSAGE_CHARACTERS, application_error, retry_delay
from activities.model.refusal import redacted
from activities.model.reply import ReplyError, ReportedError
from tests.model.wire import KEY, profile_at
from workflows.contracts.acts import FailedAct, TokenUsage
from workflows.contracts.names import MODEL_ERROR, PROTOCOL_ERROR

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
USAGE = TokenUsage(prompt_tokens=100, estimated=True, attempt=2)
PROFILE = profile_at("http://user:pw-canary@127.0.0.1:9/v1?api_key=url-canary")


def ahead(**delta: int) -> str:
    return format_datetime(NOW + timedelta(**delta), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "3"}, 3),
        ({"retry-after": " 2.5 "}, 2.5),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "abc", "retry-after": "9"}, 9),
        ({"retry-after": ahead(seconds=3)}, 3),
        ({"retry-after": ahead(days=2)}, 120),
        ({"retry-after": "900"}, 120),
        ({"retry-after": "1e300"}, 120),
        ({"retry-after": ahead(seconds=-30)}, None),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "abc"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_the_delay_a_server_asks_for(headers: Mapping[str, str], seconds: float | None) -> None:
    expected = None if seconds is None else timedelta(seconds=seconds)
    assert retry_delay(headers, NOW) == expected


@pytest.mark.parametrize(
    ("status", "body", "kind", "retried", "words"),
    [
        (429, {"message": "slow"}, MODEL_ERROR, True, "rate of requests (429)"),
        (503, {}, MODEL_ERROR, True, "failed (503)"),
        (401, {"message": "no"}, MODEL_ERROR, False, "OPENAI_API_KEY"),
        (None, {"message": "what?"}, PROTOCOL_ERROR, False, "what?"),
        (None, {"code": "insufficient_quota"}, MODEL_ERROR, False, "no credit left"),
        (None, {"code": "invalid_api_key"}, MODEL_ERROR, False, "refused the key"),
    ],
)
def test_errors_inside_a_200(
    status: int | None, body: dict[str, Any], kind: str, retried: bool, words: str
) -> None:
    error = application_error(ReportedError(status, body), PROFILE, USAGE)
    assert (error.type, not error.non_retryable) == (kind, retried)
    assert words in error.message


def test_an_unusable_reply_is_charged_and_not_retried() -> None:
    spent = TokenUsage(prompt_tokens=50, completion_tokens=9)
    error = application_error(ReplyError("the answer has no choices", spent), PROFILE, USAGE)
    assert (error.type, error.non_retryable) == (PROTOCOL_ERROR, True)
    assert error.details == (FailedAct(usage=spent.model_copy(update={"attempt": 2})),)


def test_a_time_out_is_charged_and_retried() -> None:
    error = application_error(TimeoutError(), PROFILE, USAGE)
    assert (error.type, error.non_retryable) == (MODEL_ERROR, False)
    assert error.details == (FailedAct(usage=USAGE),)
    assert "SUREFOOT_MODEL_SECONDS" in error.message


@pytest.mark.parametrize(
    "words",
    [
        f"Incorrect API key provided: {KEY}.",
        "bad key sk-proj-abc*****xyz and Bearer abcdef.123",
        "POST http://user:pw-canary@host/v1?api_key=url-canary failed",
        "api_key=url-canary was refused",
        "Authorization: pw-canary",
        "密钥 " + KEY + " 无效",
    ],
)
def test_no_key_and_no_address_in_a_message(words: str) -> None:
    error = application_error(ReportedError(401, {"message": words}), PROFILE, USAGE)
    for canary in (KEY, "canary", "sk-proj", "abcdef.123", "http"):
        assert canary not in error.message
    assert "canary" not in redacted(words, PROFILE)


def test_messages_are_short_and_in_one_line() -> None:
    long = ReportedError(503, {"message": "多行\n" * 5_000})
    for error in (long, ReplyError("x\n" * 5_000)):
        message = application_error(error, PROFILE, USAGE).message
        assert len(message) <= MESSAGE_CHARACTERS
        assert "\n" not in message


def test_an_error_of_another_kind_is_permanent_and_named() -> None:
    error = application_error(RuntimeError("secret words"), PROFILE, USAGE)
    assert error.non_retryable
    assert "RuntimeError" in error.message
    assert "secret words" not in error.message
