"""How runs end: retries, budgets, outages, cancels, servers without our search attributes.

Each end gives a report; what happened on the way stands in it.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import CancelledError
from temporalio.testing import WorkflowEnvironment

from runtime.workers import running_workers
from tests.case_files import load
from tests.workflows import lab as labs
from tests.workflows.lab import Lab, eventually, history
from tests.workflows.scripted import decision
from workflows.contracts.names import SEARCH_ATTRIBUTES
from workflows.contracts.task import Settings

CORPUS = load("control_flow_cases.json")["corpus"]
TASK = {"goal": "Neutral goal", "required_topics": ["agent_loop"], "strategy": "react"}
FINISH = decision("finish", draft="Described [E1].", sufficient=True)
HANG = {"kind": "hang"}


@pytest_asyncio.fixture(loop_scope="session")
async def fresh() -> AsyncIterator[WorkflowEnvironment]:
    """A server of its own: two workers of one queue do not fit on one client."""
    async with labs.server() as environment:
        yield environment


@pytest.fixture
def notes(lab: Lab) -> Lab:
    """The lab with the corpus of the case files."""
    lab.search.script("corpus", CORPUS)
    return lab


async def test_retries_of_an_act_reserve_it_once(
    fresh: WorkflowEnvironment, tmp_path: Path
) -> None:
    settings = Settings(attempts=3, model_seconds=6, search_seconds=6, heartbeat_seconds=5)
    async with labs.lab(fresh, tmp_path, settings) as lab:
        busy = {"kind": "http", "status": 503}
        lab.model.script([decision("search", "agent_loop"), busy, busy, FINISH])
        lab.search.script([{"raises": "OSError"}, {"returns": _found()}], CORPUS)
        result = await lab.run(TASK)
    usage = result["usage"]
    assert result["status"] == "succeeded"
    assert (usage["model_calls"], usage["tool_calls"], usage["searches"]) == (2, 1, 1)
    assert usage["model_attempts"] == len(lab.model.requests) == 4
    # Lost attempts are charged their reservation, marked estimated (INTERFACE, "Result").
    assert usage["tokens_estimated"]
    assert usage["prompt_tokens"] == 400


def _found() -> dict[str, Any]:
    item = {k: v for k, v in CORPUS[0].items() if k != "keywords"}
    return {"ok": True, "items": [item], "error": ""}


async def test_a_used_up_provider_ends_the_run_with_what_there_is(notes: Lab) -> None:
    body = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    quota = {"kind": "http", "status": 429, "body": body}
    notes.model.script([decision("search", "agent_loop"), quota])
    result = await notes.run(TASK)
    assert (result["status"], result["stop_reason"]) == ("partially_succeeded", "model_error")
    assert result["degraded"]
    assert result["failures"][-1]["code"] == "FAILED_TOOL"
    assert "[E1]" in result["report"]
    assert "test-key" not in json.dumps(result)


async def test_an_outage_of_the_workers_costs_at_most_the_act_it_interrupted(
    fresh: WorkflowEnvironment, tmp_path: Path
) -> None:
    """The clock rule: 3 seconds without a worker do not use up a run of 4 (DESIGN, "Time")."""
    settings = Settings(attempts=3, model_seconds=1, search_seconds=2, heartbeat_seconds=1)
    async with labs.lab(fresh, tmp_path, settings) as lab:
        lab.model.script([decision("search", "agent_loop")])
        lab.search.script("corpus", [])
        limits = {"max_active_seconds": 4, "max_no_progress": 5}
        lab.model.script([HANG])
        handle = await lab.start({**TASK, "limits": limits})
        await eventually(lambda: len(lab.model.requests) == 1)
    await asyncio.sleep(3)
    async with labs.lab(fresh, tmp_path, settings) as lab:
        # The run finds its old model's address gone: a new worker brings its own.
        lab.model.script([decision("search", "agent_loop"), FINISH])
        lab.search.script("corpus", CORPUS)
        result = await asyncio.wait_for(handle.result(), 60)
    assert result["stop_reason"] == "model_finished"
    assert result["usage"]["active_seconds"] < 4
    assert result["usage"]["model_calls"] == 2


async def test_the_deadline_is_one_timer_not_one_an_act(notes: Lab) -> None:
    notes.model.script([decision("search", "agent_loop"), FINISH])
    handle = await notes.start(TASK)
    await handle.result()
    kinds = [event["eventType"] for event in await history(handle)]
    assert kinds.count("EVENT_TYPE_TIMER_STARTED") == 1


async def test_a_server_execution_timeout_is_seen_before_it_comes(notes: Lab) -> None:
    notes.model.script([decision("search", "agent_loop"), HANG])
    handle = await notes.start(TASK, execution_timeout=timedelta(seconds=6))
    result = await handle.result()
    assert (result["status"], result["stop_reason"]) == ("partially_succeeded", "timeout")
    assert "execution timeout" in result["failures"][-1]["reason"]


async def test_a_cancel_reaches_the_model_call_within_two_seconds_and_keeps_the_report(
    notes: Lab,
) -> None:
    notes.model.script([decision("search", "agent_loop"), HANG])
    handle = await notes.start(TASK)
    await eventually(lambda: len(notes.model.requests) == 2)
    await handle.cancel()
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    events = await history(handle)
    canceled = [e for e in events if e["eventType"] == "EVENT_TYPE_ACTIVITY_TASK_CANCELED"]
    assert len(canceled) == 1
    described = await handle.describe()
    assert (await described.memo())["surefoot"]["phase"] == "finished"
    state = await handle.query("state")
    assert state["usage"]["model_calls"] == 2
    assert state["usage"]["tokens_estimated"]


async def test_a_cancel_before_the_task_is_prepared_is_a_cancel(notes: Lab) -> None:
    handle = await notes.start(TASK)
    await handle.cancel()
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    assert isinstance(caught.value.cause, CancelledError)
    assert (await handle.query("status"))["status"] == "cancelled"


async def test_a_cancel_while_closing_still_delivers(notes: Lab) -> None:
    notes.model.script([FINISH])
    handle = await notes.start(TASK)
    async for event in handle.fetch_history_events(wait_new_event=True):
        attributes = event.activity_task_scheduled_event_attributes
        if attributes.activity_type.name == "close":
            await handle.cancel()
            break
    try:
        result = await handle.result()
        assert result["stop_reason"] == "model_finished"
    except WorkflowFailureError:
        assert (await handle.query("state"))["closed"]["report_ref"].startswith("sha256:")


async def test_direct_searches_once_and_writes_once(notes: Lab) -> None:
    answer = {"sufficient": True, "draft": "It is described [E1], see https://evil.test/x [E9]."}
    notes.model.script([{"kind": "decision", "value": answer}])
    result = await notes.run({**TASK, "goal": "agent_loop", "strategy": "direct"})
    assert (result["status"], result["stop_reason"]) == ("succeeded", "completed")
    assert (result["usage"]["model_calls"], result["usage"]["searches"]) == (1, 1)
    assert notes.model.requests[0]["response_format"]["json_schema"]["name"] == "answer"
    assert "Unverified draft" in result["report"]
    assert result["claims"]["unverified"] >= 1
    # No mark and no link that is not in evidence (INTERFACE, "The report"; failures C01).
    assert "[E9]" not in result["report"]
    assert "evil.test" not in result["report"] or "https://evil.test" not in result["report"]


async def test_direct_without_a_hit_calls_no_model(notes: Lab) -> None:
    result = await notes.run({**TASK, "goal": "foreign words", "strategy": "direct"})
    assert (result["status"], result["stop_reason"]) == ("failed", "no_progress")
    assert notes.model.requests == []


async def test_direct_with_a_broken_search_says_so(notes: Lab) -> None:
    notes.search.script([{"raises": "OSError"}], [])
    result = await notes.run({**TASK, "strategy": "direct"})
    assert (result["status"], result["stop_reason"]) == ("failed", "step_failed")
    assert {f["code"] for f in result["failures"]} == {"FAILED_TOOL"}


async def test_a_chinese_run_is_chinese(notes: Lab) -> None:
    notes.model.script(
        [decision("search", "甲类循环"), decision("finish", draft="已说明 [E1]。", sufficient=True)]
    )
    result = await notes.run(
        {"goal": "循环如何结束？", "required_topics": ["agent_loop"], "strategy": "react"}
    )
    assert result["language"] == "zh"
    assert "已说明" in result["report"]
    assert "Topics" not in result["report"]


async def test_a_lost_store_still_gives_a_result(notes: Lab) -> None:
    notes.model.script([decision("search", "agent_loop"), HANG])
    handle = await notes.start(TASK)
    await eventually(lambda: len(notes.model.requests) == 2)
    state = await handle.query("state")
    run_id = handle.first_execution_run_id
    objects = notes.home / "store" / "objects" / str(run_id)
    assert objects.is_dir()
    for path in sorted(objects.rglob("*")):
        if path.is_file():
            path.unlink()
    await handle.signal("stop")
    result = await handle.result()
    assert result["status"] == "stopped"
    assert [e["id"] for e in result["evidence"]] == ["E1"]
    assert result["notes"]
    assert state["page_ref"]


async def test_a_server_that_knows_no_search_attribute_is_fine(tmp_path: Path) -> None:
    async with (
        await WorkflowEnvironment.start_local(
            dev_server_existing_path=str(labs.find_binary()),
            data_converter=labs.data_converter(None),
        ) as bare,
        labs.lab(bare, tmp_path) as lab,
    ):
        lab.model.script([decision("search", "agent_loop"), FINISH])
        lab.search.script("corpus", CORPUS)
        handle = await lab.start(TASK)
        result = await handle.result()
        assert result["status"] == "succeeded"
        kinds = [e["eventType"] for e in await history(handle)]
        assert "EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES" not in kinds
        (note,) = (await handle.query("state"))["notes"]
        assert all(name in note for name in SEARCH_ATTRIBUTES)


async def test_another_store_is_told_apart(fresh: WorkflowEnvironment, tmp_path: Path) -> None:
    """A worker with another store answers WrongStore, retried and bounded (DESIGN)."""
    settings = Settings(attempts=2, model_seconds=6, search_seconds=6, heartbeat_seconds=5)
    async with labs.lab(fresh, tmp_path / "one", settings) as lab:
        lab.search.script("corpus", CORPUS)
        lab.model.script([HANG])
        handle = await lab.start(TASK)
        await eventually(lambda: len(lab.model.requests) == 1)
        url = lab.model.url
    env = labs.environment(tmp_path / "two", url)
    async with running_workers(fresh.client, env, settings=settings):
        result = await asyncio.wait_for(handle.result(), 60)
    assert result["stop_reason"] == "internal_error"
    assert "store" in result["failures"][-1]["reason"]
