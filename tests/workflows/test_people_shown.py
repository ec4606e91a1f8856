"""What a waiting run shows: attributes, memo, details, commands that work when pasted (D11, A21).

How it can go wrong: runs that wait without a sign of it; a command that fails; a server without our
search attributes on which a run sticks.
"""

import asyncio
import json
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from runtime.binary import find_binary
from tests.workflows import lab as labs
from tests.workflows.people_stage import opened
from tests.workflows.plan_stage import Stage, staged
from tests.workflows.planned import PlannedModel


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    home: Path = tmp_path_factory.mktemp("shown")
    async with staged(home) as ready:
        yield ready


async def ended(handle: Any) -> dict[str, Any]:
    return await asyncio.wait_for(handle.result(), 60)


async def waiting_ids(stage: Stage, kind: str) -> list[str]:
    listed = await stage.lab.cli(
        "workflow", "list", "--query", f'AgentAwaiting="{kind}"', "--output", "json"
    )
    assert listed.returncode == 0, listed.stderr
    return [found["execution"]["workflowId"] for found in json.loads(listed.stdout or "[]")]


async def test_waiting_runs_are_found_and_no_longer_when_decided(stage: Stage) -> None:
    asked = {"approvals": {"plan": True, "report": True}}
    one = await stage.start(PlannedModel(), **asked)
    request = await opened(one, "plan")
    found: list[str] = []
    for _ in range(100):
        found = await waiting_ids(stage, "plan")
        if found:
            break
        await asyncio.sleep(0.1)
    assert found == [one.id]
    told = await one.describe()
    memo: Any = (await told.memo())["surefoot"]
    assert memo["phase"] == "awaiting_plan"
    assert [r["id"] for r in memo["requests"]] == [request["id"]]

    # The command that the memo shows works when pasted.
    words = shlex.split(memo["requests"][0]["commands"]["approve"])
    assert words[0] == "temporal"
    assert stage.lab.address in words
    process = await asyncio.create_subprocess_exec(str(find_binary()), *words[1:])
    assert await process.wait() == 0
    report = await opened(one, "report")
    for _ in range(100):
        if await waiting_ids(stage, "report") == [one.id]:
            break
        await asyncio.sleep(0.1)
    assert await waiting_ids(stage, "plan") == []
    memo = (await (await one.describe()).memo())["surefoot"]
    words = shlex.split(memo["requests"][0]["commands"]["approve"])
    process = await asyncio.create_subprocess_exec(str(find_binary()), *words[1:])
    assert await process.wait() == 0
    assert report["by"] == ""
    assert (await ended(one))["status"] == "succeeded"
    assert await waiting_ids(stage, "report") == []


async def test_details_say_it_on_top_in_the_language_of_the_run(stage: Stage) -> None:
    handle = await stage.start(
        PlannedModel(), goal="哪些功能节省内存？如何启用？", approvals={"plan": True}
    )
    request = await opened(handle, "plan")
    shown = await stage.lab.cli("workflow", "metadata", "-w", handle.id, "--output", "json")
    metadata = json.loads(shown.stdout)["queryResult"][0]
    details = metadata["currentDetails"]
    assert details.startswith(f"### 等待：批准计划 (`{request['id']}`)")
    assert "temporal workflow signal" in details
    assert "| s1\u00a0\u00a0 |" in details
    names = {d.get("name") for d in metadata["definition"]["signalDefinitions"]}
    assert {"approve", "reject", "answer", "stop"} <= names
    await handle.signal("stop")
    await ended(handle)


async def test_timeline_reads_as_a_story(stage: Stage) -> None:
    handle = await stage.start(
        PlannedModel(), approvals={"plan": True, "expires_after_seconds": 60}
    )
    request = await opened(handle, "plan")
    await handle.signal("approve", {"request_id": request["id"], "by": "ann"})
    await ended(handle)
    told: list[str] = []
    async for event in handle.fetch_history_events():
        if event.HasField("user_metadata") and event.user_metadata.HasField("summary"):
            told.append(json.loads(event.user_metadata.summary.data))
    assert f"Deadline of {request['id']}" in told
    assert "s1 attempt 1: search 'ksm'" in told
    assert "verify s1: support 1 of 1" in told
    assert all(told)
    scheduled = [
        event async for event in handle.fetch_history_events()
        if event.HasField("activity_task_scheduled_event_attributes")
        or event.HasField("timer_started_event_attributes")
    ]  # fmt: skip
    assert all(event.user_metadata.HasField("summary") for event in scheduled)


async def test_a_server_without_our_attributes(tmp_path: Path) -> None:
    async with staged(tmp_path, attributes=False) as bare:
        handle = await bare.start(PlannedModel(), approvals={"plan": True})
        request = await opened(handle, "plan")
        await handle.signal("approve", {"request_id": request["id"], "by": "ann"})
        result = await asyncio.wait_for(handle.result(), labs.RUN_SECONDS)
        assert result["status"] == "succeeded"
        assert any("search attributes" in note for note in result["notes"])
