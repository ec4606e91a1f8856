"""Reading a 200: everything a server may put there ends in a reply or a typed error."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.model.reply import ReplyError, ReportedError, read_reply
from activities.model.request import Reply
from activities.model.tokens import estimate_tokens, usage_of
from tests.model.wire import SEARCH, completion, next_action
from workflows.contracts.acts import TokenUsage

NAMES = ["choices", "message", "error", "usage", "content", "finish_reason", "code"]
BODIES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(NAMES), inner),
)


def read(body: Any) -> Reply:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read_reply(data, next_action(attempt=3))


def without(body: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != name}


def test_a_normal_completion_is_accepted_with_its_usage() -> None:
    reply = read(completion(SEARCH))
    assert json.loads(reply.content) == SEARCH
    assert reply.usage == TokenUsage(prompt_tokens=11, completion_tokens=7, attempt=3)


@pytest.mark.parametrize("length", [1, 12_000])
def test_content_lengths_that_are_accepted(length: int) -> None:
    assert len(read(completion("x" * length)).content) == length


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not JSON"),
        (b"upstream is down", "not JSON"),
        (b"<!doctype html><p>log in</p>", "OPENAI_BASE_URL"),
        (b'"just a text"', "no object"),
        (b"[]", "no object"),
        (b"null", "no object"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 200_000, "not JSON"),
        (b'{"choices": ' + b"9" * 5_000 + b"}", "not JSON"),
        ({"id": "x"}, "no choices"),
        ({"choices": None}, "no choices"),
        ({"choices": []}, "no choices"),
        ({"choices": {}}, "no choices"),
        ({"choices": [None]}, "no object"),
        ({"choices": [{"finish_reason": "stop"}]}, "no message"),
        ({"choices": [{"finish_reason": "stop", "message": "hello"}]}, "no message"),
        (completion(SEARCH, finish_reason=None), "finish reason is None"),
        (completion(SEARCH, finish_reason="tool_calls"), "'tool_calls'"),
        (completion(SEARCH, finish_reason="length"), "length limit"),
        (completion(SEARCH, finish_reason="content_filter"), "content filter"),
        (completion("", message={"content": "", "refusal": "I will not."}), "I will not."),
        (completion(""), "no content"),
        (completion(" \n " * 100), "no content"),
        (completion("", message={"content": None}), "no content"),
        (completion("", message={"content": ["x"]}), "no content"),
        (completion("", message={"content": None, "tool_calls": [{}]}), "asks for tools"),
        (
            completion("", message={"content": None, "reasoning_content": json.dumps(SEARCH)}),
            "reasoning_content",
        ),
        (completion("x" * 12_001), "12001 characters"),
        (completion("x" * (4 * 1024 * 1024)), "larger than"),
    ],
)
def test_replies_that_break_the_protocol(body: Any, words: str) -> None:
    with pytest.raises(ReplyError) as caught:
        read(body)
    assert words in caught.value.reason
    assert len(caught.value.reason) < 400


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"code": 429, "message": "slow down"}, 429),
        ({"code": "503"}, 503),
        ({"code": 401}, 401),
        ({"status": 500}, 500),
        ({"code": "rate_limit_exceeded"}, 429),
        ({"type": "overloaded_error"}, 529),
        ({"type": "server_error", "code": None}, 500),
        ({"code": "weird"}, None),
        ({"code": True}, None),
        ("plain words", None),
        (["x"], None),
    ],
)
def test_an_error_object_in_a_200_is_told_apart(error: Any, status: int | None) -> None:
    with pytest.raises(ReportedError) as caught:
        read({"error": error})
    assert caught.value.status == status


def test_an_empty_error_field_is_no_error() -> None:
    assert read({**completion(SEARCH), "error": None}).content


@given(BODIES)
def test_no_body_crashes(body: Any) -> None:
    try:
        read(body)
    except (ReplyError, ReportedError):
        return


@pytest.mark.parametrize(
    "reported",
    [
        None,
        {},
        [],
        "18",
        {"prompt_tokens": "11", "completion_tokens": "7"},
        {"prompt_tokens": 11},
        {"prompt_tokens": -1, "completion_tokens": 7},
        {"prompt_tokens": 10**12, "completion_tokens": 7},
        {"prompt_tokens": True, "completion_tokens": 7},
        {"prompt_tokens": 1.5, "completion_tokens": 7},
        {"prompt_tokens": 0, "completion_tokens": 0},
    ],
)
def test_usage_that_is_no_use_is_estimated_and_marked(reported: Any) -> None:
    usage = usage_of(reported, "twelve chars", "核心循环")
    assert usage == TokenUsage(prompt_tokens=3, completion_tokens=4, estimated=True)


def test_missing_usage_of_a_reply_is_estimated() -> None:
    for body in (without(completion(SEARCH), "usage"), {**completion(SEARCH), "usage": None}):
        usage = read(body).usage
        assert usage.estimated
        assert usage.prompt_tokens > 0
        assert usage.completion_tokens > 0


def test_estimates_count_wide_characters_singly() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("word") == 1
    assert estimate_tokens("words") == 2
    assert estimate_tokens("智能体循环 ok") == 6
