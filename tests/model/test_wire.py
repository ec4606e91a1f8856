"""The gateway against a real HTTP server: statuses, bodies, time-outs, request shape, counts.

How it can go wrong: the client retries by itself; a permanent error is retried; a transient one is
not; a body that is no JSON crashes; a server that drips holds the call for ever; a secret gets into
an error; a connection stays open after a cancel.
"""

import asyncio
import json
import socket
import time
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import pytest_asyncio
from pytest_httpserver import HTTPServer
from temporalio.exceptions import ApplicationError
from werkzeug import Response

from activities.model.gateway import Gateway
from activities.model.profiles import Profile, Profiles
from tests.case_files import departs, load
from tests.model.wire import KEY, PATH, SEARCH, completion, next_action, profile_at, profiles_at
from workflows.contracts.acts import FailedAct, TokenUsage
from workflows.contracts.names import MODEL_ERROR, PROTOCOL_ERROR


@pytest_asyncio.fixture
async def gateway(httpserver: HTTPServer) -> AsyncGenerator[Gateway]:
    opened = Gateway(profiles_at(httpserver))
    yield opened
    await opened.close()


async def fail(gateway: Gateway, seconds: float = 10.0) -> ApplicationError:
    with pytest.raises(ApplicationError) as caught:
        await gateway.complete(gateway.profile("default"), next_action(seconds))
    assert caught.value.__cause__ is None  # it would carry raw words into the history
    assert len(caught.value.message) <= 500
    assert KEY not in caught.value.message
    return caught.value


@pytest.mark.cases("control_flow_cases.json")
async def test_the_request_is_the_recorded_one(httpserver: HTTPServer, gateway: Gateway) -> None:
    shape = load("control_flow_cases.json")["request_shape"]
    httpserver.expect_request(PATH).respond_with_json(completion(SEARCH))
    user = '{"goal": "内存去重"}'
    decision, usage = await gateway.complete(gateway.profile("default"), next_action(user=user))
    assert decision.model_dump() == SEARCH
    assert usage == TokenUsage(prompt_tokens=11, completion_tokens=7)
    request = httpserver.log[0][0]
    sent = json.loads(request.get_data())
    assert sorted(sent) == shape["top_level_keys"]
    assert [message["role"] for message in sent["messages"]] == shape["roles"]
    assert sent["messages"][1]["content"] == user
    assert sent["response_format"]["type"] == shape["response_format_type"]
    assert sent["response_format"]["json_schema"]["name"] == shape["schema_name"]
    assert sent["response_format"]["json_schema"]["strict"] is shape["strict"]
    assert request.headers["Authorization"] == f"Bearer {KEY}"


PERMANENT: list[tuple[int, Any, str]] = [
    (400, {"error": {"message": "bad"}}, "check OPENAI_MODEL"),
    (400, {"error": {"message": "x", "code": "context_length_exceeded"}}, "too long"),
    (400, {"error": {"message": "This response_format type is unavailable now"}}, "json_schema"),
    (400, {"error": {"message": "Invalid schema", "param": "response_format"}}, "json_schema"),
    (400, {"error": {"message": "x", "code": "content_filter"}}, "content filter"),
    (401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}, "OPENAI_API_KEY"),
    (402, {"error": {"message": "Insufficient Balance"}}, "no credit"),
    (403, "<html>denied</html>", "OPENAI_API_KEY"),
    (404, {"error": {"message": "x", "code": "model_not_found"}}, "OPENAI_MODEL"),
    (404, "404 page not found", "OPENAI_BASE_URL"),
    (422, {"detail": "json_schema is not supported"}, "json_schema"),
    (429, {"error": {"message": "x", "code": "insufficient_quota"}}, "no credit"),
    (429, {"error": {"message": "x", "type": "billing_not_active"}}, "no credit"),
    (429, {"error": {"message": "账户余额不足，请充值"}}, "no credit"),
    (429, {"error": {"message": "x", "code": "invalid_api_key"}}, "refused the key"),
]


@pytest.mark.parametrize(("status", "body", "words"), PERMANENT)
async def test_permanent_refusals_say_what_to_fix(
    httpserver: HTTPServer, gateway: Gateway, status: int, body: Any, words: str
) -> None:
    data = body if isinstance(body, str) else json.dumps(body)
    httpserver.expect_request(PATH).respond_with_data(data, status, {"Retry-After": "3"})
    error = await fail(gateway)
    assert (error.type, error.non_retryable) == (MODEL_ERROR, True)
    assert words in error.message
    assert str(status) in error.message
    assert error.next_retry_delay is None
    assert error.details == (FailedAct(usage=TokenUsage()),)
    assert len(httpserver.log) == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_transient_refusals_are_retried_by_temporal_only(
    httpserver: HTTPServer, gateway: Gateway, status: int
) -> None:
    httpserver.expect_request(PATH).respond_with_data("busy", status, {"Retry-After": "7"})
    error = await fail(gateway)
    assert (error.type, error.non_retryable) == (MODEL_ERROR, False)
    assert error.next_retry_delay is not None
    assert error.next_retry_delay.total_seconds() == 7
    assert len(httpserver.log) == 1


async def test_a_redirect_is_not_followed(httpserver: HTTPServer, gateway: Gateway) -> None:
    location = {"Location": httpserver.url_for("/elsewhere")}
    httpserver.expect_request(PATH).respond_with_data("", 307, location)
    error = await fail(gateway)
    assert error.non_retryable
    assert "redirect" in error.message
    assert len(httpserver.log) == 1


@pytest.mark.parametrize(
    "data",
    [
        b"{not json",
        b"plain text",
        b"",
        json.dumps({"choices": None}).encode(),
        json.dumps(completion("```json\n" + json.dumps(SEARCH) + "\n```")).encode(),
        json.dumps(completion("\ufeff" + json.dumps(SEARCH))).encode(),
        json.dumps(completion(json.dumps(SEARCH) + " thanks")).encode(),
        json.dumps(completion([])).encode(),
        json.dumps(completion({**SEARCH, "reasoning": "hidden"})).encode(),
        json.dumps(completion({**SEARCH, "plan": [1]})).encode(),
        json.dumps(completion({**SEARCH, "plan": ["a", "　"]})).encode(),
        json.dumps(completion({**SEARCH, "sufficient": "false"})).encode(),
        json.dumps(completion({**SEARCH, "sufficient": 0})).encode(),
        json.dumps(completion({**SEARCH, "query": "\ud800"})).encode(),
        json.dumps(completion({**SEARCH, "action": "finish"})).encode(),
    ],
)
async def test_unusable_replies_end_at_once(
    httpserver: HTTPServer, gateway: Gateway, data: bytes
) -> None:
    httpserver.expect_request(PATH).respond_with_data(data, content_type="application/json")
    error = await fail(gateway)
    assert (error.type, error.non_retryable) == (PROTOCOL_ERROR, True)
    usage = error.details[0].usage
    assert usage.prompt_tokens > 0  # it cost something
    assert len(httpserver.log) == 1


async def test_a_broken_compression_is_a_broken_connection(
    httpserver: HTTPServer, gateway: Gateway
) -> None:
    httpserver.expect_request(PATH).respond_with_data(
        b"no gzip", headers={"Content-Encoding": "gzip"}
    )
    error = await fail(gateway)
    assert (error.type, error.non_retryable) == (MODEL_ERROR, False)


async def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: refused
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        gateway = _gateway(profile_at(url))
        error = await fail(gateway)
        await gateway.close()
    assert (error.type, error.non_retryable) == (MODEL_ERROR, False)
    assert "OPENAI_BASE_URL" in error.message
    assert error.details == (FailedAct(usage=TokenUsage()),)  # nothing arrived, nothing is charged


async def test_no_key_is_needed_for_a_server_without(httpserver: HTTPServer) -> None:
    httpserver.expect_request(PATH).respond_with_json(completion(SEARCH))
    gateway = _gateway(profile_at(httpserver.url_for("/v1"), api_key=None))
    decision, _ = await gateway.complete(gateway.profile("default"), next_action())
    await gateway.close()
    assert decision.query == "agent_loop"


async def test_a_slow_reply_times_out_once(httpserver: HTTPServer, gateway: Gateway) -> None:
    def slow(_: Any) -> Response:
        time.sleep(1.5)
        return Response(json.dumps(completion(SEARCH)))

    httpserver.expect_request(PATH).respond_with_handler(slow)
    error = await fail(gateway, seconds=0.5)
    assert (error.type, error.non_retryable) == (MODEL_ERROR, False)
    assert "in time" in error.message
    assert error.details[0].usage.estimated
    await asyncio.sleep(1.2)  # the server logs a request when it is done with it
    assert len(httpserver.log) == 1


async def test_a_server_that_drips_white_space_times_out() -> None:
    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        try:
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.05)
        except ConnectionError:
            writer.close()

    async with await asyncio.start_server(drip, "127.0.0.1", 0) as server:
        gateway = _gateway(profile_at(f"http://127.0.0.1:{_port(server)}/v1"))
        error = await fail(gateway, seconds=0.6)
        await gateway.close()
    assert (error.type, error.non_retryable) == (MODEL_ERROR, False)


async def test_a_connection_that_breaks_is_retried() -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        gateway = _gateway(profile_at(f"http://127.0.0.1:{_port(server)}/v1"))
        error = await fail(gateway)
        await gateway.close()
    assert (error.type, error.non_retryable) == (MODEL_ERROR, False)
    assert error.details[0].usage.estimated


async def test_a_closed_gateway_opens_again(httpserver: HTTPServer, gateway: Gateway) -> None:
    httpserver.expect_request(PATH).respond_with_json(completion(SEARCH))
    for _ in range(2):
        await gateway.complete(gateway.profile("default"), next_action())
        await gateway.close()
    assert len(httpserver.log) == 2


def test_an_unknown_profile_may_be_known_elsewhere(httpserver: HTTPServer) -> None:
    with pytest.raises(ApplicationError, match="'fast'") as caught:
        Gateway(profiles_at(httpserver)).profile("fast")
    assert (caught.value.type, caught.value.non_retryable) == (MODEL_ERROR, False)


# What each id of `adapter_cases` means on the wire: status, body, the type it ends as.
ADAPTER: dict[str, tuple[int, str]] = {
    "http_200_json_garbage": (200, "{garbage"),
    "http_200_text": (200, "plain text"),
    "http_200_no_message": (200, json.dumps({"choices": [{"finish_reason": "stop"}]})),
    "http_200_finish_reason_null": (200, json.dumps(completion(SEARCH, finish_reason=None))),
    "http_400": (400, "{}"),
    "http_403": (403, "{}"),
    "http_408": (408, "{}"),
    "http_409": (409, "{}"),
    "http_503": (503, "{}"),
}
CASES: list[dict[str, Any]] = load("control_flow_cases.json")["adapter_cases"]


@pytest.mark.cases("control_flow_cases.json")
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
async def test_adapter_cases(
    httpserver: HTTPServer, gateway: Gateway, case: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    expected = case["expected_seed"]
    if case["id"] in ADAPTER:
        status, body = ADAPTER[case["id"]]
        httpserver.expect_request(PATH).respond_with_data(body, status)
        error = await fail(gateway)
        requests = len(httpserver.log)
    else:
        assert case["id"] == "read_timeout_once"
        requests, error = await _read_timeout()
    if expected["raises"] is not None:  # the seed crashes on malformed 200 bodies
        departs(request, "C58")
        assert error.type == PROTOCOL_ERROR
    else:
        reasons = {MODEL_ERROR: "model_error", PROTOCOL_ERROR: "protocol_error"}
        assert reasons[error.type or ""] == expected["stop_reason"]
    assert requests == case.get("http_requests", 1)


async def _read_timeout() -> tuple[int, ApplicationError]:
    requests = 0

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        requests += (await reader.readuntil(b"\r\n\r\n")).count(b"POST ")
        await reader.read()  # until the client leaves
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        gateway = _gateway(profile_at(f"http://127.0.0.1:{_port(server)}/v1"))
        error = await fail(gateway, seconds=0.4)
        await gateway.close()
    return requests, error


def _gateway(profile: Profile) -> Gateway:
    return Gateway(Profiles([profile], dict.fromkeys(("planner", "executor", "judge"), "default")))


def _port(server: asyncio.Server) -> int:
    return int(server.sockets[0].getsockname()[1])
