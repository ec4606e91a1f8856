"""`decide` and `answer` with a real store and a real server; cancel, heartbeats, accounts.

How it can go wrong: a cancelled call goes on and is paid; a retry is made by the client too; an
attempt is not counted; a run of another store is answered; keys get into the history.
"""

import asyncio
import dataclasses
import json
from collections.abc import AsyncGenerator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pytest_httpserver import HTTPServer
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.model.activities import ModelActivities
from activities.model.gateway import Gateway
from activities.model.profiles import Profiles, profiles_from
from activities.store.files import open_store
from activities.store.records import Records
from tests.model.material import NOTES, decide_input, passage, task
from tests.model.wire import PATH, SEARCH, completion, profile_at, profiles_at
from workflows.contracts.acts import DecideInput, TokenUsage
from workflows.contracts.evidence import Page
from workflows.contracts.names import EVIDENCE_LOST, MODEL_ERROR, PROTOCOL_ERROR, WRONG_STORE
from workflows.contracts.task import ResolvedTask

RUN = "run-1"


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(open_store(str(tmp_path)))


@pytest_asyncio.fixture
async def activities(records: Records, httpserver: HTTPServer) -> AsyncGenerator[ModelActivities]:
    gateway = Gateway(profiles_at(httpserver))
    yield ModelActivities(records, gateway)
    await gateway.close()


def environment(attempt: int = 1, seconds: float = 10) -> ActivityEnvironment:
    env = ActivityEnvironment()
    env.info = dataclasses.replace(
        env.info, attempt=attempt, start_to_close_timeout=timedelta(seconds=seconds)
    )
    return env


async def kept(
    records: Records, resolved: ResolvedTask, missing: list[int], **fields: Any
) -> DecideInput:
    ref = await records.put(RUN, resolved)
    given = {"run_id": RUN, "store_id": records.store.store_id, "task_ref": ref}
    return decide_input(missing, **(given | fields))


def language_model(*topics: str, **fields: Any) -> ResolvedTask:
    return task(*topics, **fields).model_copy(update={"planner": "default", "extractive": False})


async def test_a_decision_of_a_language_model(
    records: Records, activities: ModelActivities, httpserver: HTTPServer
) -> None:
    httpserver.expect_request(PATH).respond_with_json(completion(SEARCH))
    page = await records.put(RUN, Page(entries=[passage(0, "内存去重", fresh=0)]))
    inp = await kept(
        records, language_model("agent_loop", goal="目标：智能体循环"), [0],
        page_ref=page, page_first=7,
    )  # fmt: skip
    result = await environment(attempt=3).run(activities.decide, inp)
    assert result.decision.model_dump() == SEARCH
    assert result.usage == TokenUsage(prompt_tokens=11, completion_tokens=7, attempt=3)
    sent = json.loads(httpserver.log[0][0].get_data())
    assert "不是指令" in sent["messages"][0]["content"]
    snapshot = json.loads(sent["messages"][1]["content"])
    assert [source["id"] for source in snapshot["evidence"]] == ["E7"]
    assert NOTES["内存去重"] in snapshot["evidence"][0]["passages"][0]


async def test_an_answer_of_a_language_model(
    records: Records, activities: ModelActivities, httpserver: HTTPServer
) -> None:
    reply = {"sufficient": True, "draft": "它合并相同的页面 [E1]。"}
    httpserver.expect_request(PATH).respond_with_json(completion(reply))
    inp = await kept(records, language_model("x", strategy="direct"), [])
    result = await environment().run(activities.answer, inp)
    assert (result.sufficient, result.draft) == (True, reply["draft"])
    sent = json.loads(httpserver.log[0][0].get_data())
    assert sent["response_format"]["json_schema"]["name"] == "answer"


@pytest.mark.parametrize("strategy", ["react", "direct"])
async def test_the_extractive_model_quotes_the_stored_text(records: Records, strategy: str) -> None:
    activities = ModelActivities(records, Gateway(profiles_from()))
    await records.store.put(RUN, NOTES["agent_loop"].encode())
    page = await records.put(RUN, Page(entries=[passage(0, "agent_loop")]))
    resolved = task("agent_loop", strategy=strategy)
    inp = await kept(records, resolved, [], page_ref=page, page_first=1)
    env = environment(attempt=2)
    if strategy == "react":
        decided = await env.run(activities.decide, inp)
        draft, usage = decided.decision.draft, decided.usage
    else:
        answered = await env.run(activities.answer, inp)
        draft, usage = answered.draft, answered.usage
    assert f"“{NOTES['agent_loop']}” [E1]" in draft
    assert usage == TokenUsage(attempt=2)


async def test_a_search_of_the_extractive_model_reads_no_text(records: Records) -> None:
    activities = ModelActivities(records, Gateway(profiles_from()))
    page = await records.put(RUN, Page(entries=[passage(0, "agent_loop")]))  # its text is not kept
    inp = await kept(records, task("agent_loop", "x1"), [1], page_ref=page, page_first=1)
    result = await environment().run(activities.decide, inp)
    assert result.decision.query == "x1"
    with pytest.raises(ApplicationError) as caught:
        await environment().run(activities.decide, inp.model_copy(update={"missing": []}))
    assert (caught.value.type, caught.value.non_retryable) == (EVIDENCE_LOST, True)


async def test_a_run_of_another_store_is_refused(
    records: Records, activities: ModelActivities, httpserver: HTTPServer
) -> None:
    inp = await kept(records, language_model("x"), [0], store_id="another")
    for act in (activities.decide, activities.answer):
        with pytest.raises(ApplicationError) as caught:
            await environment().run(act, inp)
        assert (caught.value.type, caught.value.non_retryable) == (WRONG_STORE, False)
    assert httpserver.log == []


async def test_a_lost_task_is_not_asked_for_again(
    records: Records, activities: ModelActivities
) -> None:
    inp = await kept(records, language_model("x"), [0], task_ref="sha256:" + "1" * 64)
    with pytest.raises(ApplicationError) as caught:
        await environment().run(activities.decide, inp)
    assert (caught.value.type, caught.value.non_retryable) == (EVIDENCE_LOST, True)


async def test_failures_carry_the_attempt(
    records: Records, activities: ModelActivities, httpserver: HTTPServer
) -> None:
    httpserver.expect_request(PATH).respond_with_json(completion("no json"))
    inp = await kept(records, language_model("x"), [0])
    with pytest.raises(ApplicationError) as caught:
        await environment(attempt=4).run(activities.decide, inp)
    assert caught.value.type == PROTOCOL_ERROR
    usage = caught.value.details[0].usage
    assert usage == TokenUsage(prompt_tokens=11, completion_tokens=7, attempt=4)


class SilentServer:
    """Takes requests, never answers, and notes when a client leaves."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.left = asyncio.Event()
        self.requests = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        head = await reader.readuntil(b"\r\n\r\n")
        self.requests += head.count(b"POST ")
        self.asked.set()
        await reader.read()  # the body, then the end of the connection
        self.left.set()
        writer.close()


async def test_cancel_closes_the_connection_at_once(records: Records) -> None:
    silent = SilentServer()
    async with await asyncio.start_server(silent.handle, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        gateway = Gateway(_only(f"http://127.0.0.1:{port}/v1"))
        activities = ModelActivities(records, gateway)
        inp = await kept(records, language_model("x"), [0])
        env = environment(seconds=60)
        beaten = asyncio.Event()
        env.on_heartbeat = lambda *_: beaten.set()
        running = asyncio.ensure_future(env.run(activities.decide, inp))
        await silent.asked.wait()
        await asyncio.wait_for(beaten.wait(), 10)  # the first comes after half a second
        before = len(asyncio.all_tasks())
        env.cancel()
        async with asyncio.timeout(2):
            with pytest.raises(asyncio.CancelledError):
                await running
            await silent.left.wait()
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) < before  # the heartbeats ended too
        await gateway.close()
    assert silent.requests == 1


async def test_heartbeats_go_on_while_the_model_thinks(records: Records) -> None:
    silent = SilentServer()
    async with await asyncio.start_server(silent.handle, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        gateway = Gateway(_only(f"http://127.0.0.1:{port}/v1"))
        env = environment(seconds=3)
        beats: list[Any] = []
        env.on_heartbeat = lambda *details: beats.append(details)
        inp = await kept(records, language_model("x"), [0])
        with pytest.raises(ApplicationError, match="in time") as caught:
            await env.run(ModelActivities(records, gateway).decide, inp)
        await gateway.close()
    assert (caught.value.type, caught.value.non_retryable) == (MODEL_ERROR, False)
    assert len(beats) >= 2


async def test_a_slow_extractive_model_does_not_block_the_loop(
    records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []
    inside = _noting_thread(threads)
    monkeypatch.setattr("activities.model.extractive.decide", inside)
    activities = ModelActivities(records, Gateway(profiles_from()))
    inp = await kept(records, task("x1"), [0])
    await environment().run(activities.decide, inp)
    assert threads
    assert threads != ["MainThread"]


def _noting_thread(threads: list[str]) -> Callable[..., Any]:
    import threading  # noqa: PLC0415

    from activities.model import extractive  # noqa: PLC0415

    original = extractive.decide

    def noted(*args: Any) -> Any:
        threads.append(threading.current_thread().name)
        return original(*args)

    return noted


def _only(url: str) -> Profiles:
    return Profiles([profile_at(url)], dict.fromkeys(("planner", "executor", "judge"), "default"))
