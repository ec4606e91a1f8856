"""A Temporal cancel of a run whose model never answers, over a real socket.

How it can go wrong: the call goes on and is paid; the cancel waits for the call's own time limit;
the run is torn down without a report; the memo still says that it is working (DESIGN, "Failure":
closing is a task; REQUIREMENTS 137).
"""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import CancelledError

from activities.store.files import FileStore
from tests.workflows.lab import eventually, history
from tests.workflows.plan_stage import KSM, Stage, staged, step_of
from tests.workflows.planned import PlannedModel, act, write
from tests.workflows.scripted import decision
from workflows.contracts.task import Settings

CALL_SECONDS = 90.0  # the time limit of a model call: nothing here may wait for it
# As a worker of a server sets them; a heartbeat goes out once a second however long its timeout.
SETTINGS = Settings(attempts=4, model_seconds=CALL_SECONDS, search_seconds=10, heartbeat_seconds=30)
WANTED = 2.0  # seconds until the call has ended
BOUND = 8.0  # the same on a machine that is busy with other tests
HANG = {"kind": "hang"}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with staged(tmp_path_factory.mktemp("cancel"), SETTINGS) as ready:
        yield ready


async def cancelled(stage: Stage, handle: WorkflowHandle[Any, Any]) -> int:
    """Cancel it while its model hangs, and see every hanging call end; how many did."""
    asked = time.time()
    await handle.cancel()
    with pytest.raises(WorkflowFailureError) as failed:
        await asyncio.wait_for(handle.result(), 60)
    assert isinstance(failed.value.cause, CancelledError)
    described = await handle.describe()
    assert described.status is WorkflowExecutionStatus.CANCELED
    assert described.close_time is not None
    await eventually(lambda: bool(stage.lab.model.left))
    left = max(stage.lab.model.left)
    # The call is over before the run is: its cancel is waited for.
    assert left <= described.close_time.timestamp() + 0.1
    ended = left - asked
    print(f"the model call ended {ended:.2f} s after the cancel (wanted {WANTED} s)")  # noqa: T201
    assert ended < BOUND
    return len(stage.lab.model.left)


async def report(stage: Stage, handle: WorkflowHandle[Any, Any]) -> str:
    """The report as the memo of the closed run points to it, out of the evidence store."""
    described = await handle.describe()
    memo = (await described.memo())["surefoot"]
    assert memo["phase"] == "finished"
    assert memo["report_ref"].startswith("sha256:")
    assert memo["requests"] == []
    store = FileStore(stage.lab.home / "store")
    return (await store.get(described.run_id, memo["report_ref"])).decode()


async def test_a_plan_is_cancelled_in_the_middle_of_a_decision(stage: Stage) -> None:
    model = PlannedModel(step_action=lambda user: HANG if step_of(user) == "s2" else act(user))
    handle = await stage.start(model)
    async with asyncio.timeout(60):
        while True:
            plan = await handle.query("plan")
            if plan.get("steps") and plan["steps"][0]["status"] == "DONE":
                break
            await asyncio.sleep(0.05)
    await eventually(lambda: any(step_of(user) == "s2" for user in model.users("step_action")))
    await cancelled(stage, handle)
    told = await report(stage, handle)
    assert "KSM merges identical memory pages into one" in told  # verified before the cancel
    state = await handle.query("state")
    assert (state["closed"]["status"], state["stop_reason"]) == ("cancelled", "cancelled")
    kinds = [event["eventType"] for event in await history(handle)]
    assert kinds.count("EVENT_TYPE_ACTIVITY_TASK_CANCELED") == 1
    assert kinds[-1] == "EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED"


@pytest.mark.parametrize("hangs", ["plan", "written_result", "support", "goal"])
async def test_a_plan_is_cancelled_whichever_call_hangs(stage: Stage, hangs: str) -> None:
    """Steps run side by side: each hanging call of theirs is ended."""
    model = PlannedModel(**{hangs: HANG})
    handle = await stage.start(model)
    await eventually(lambda: model.count(hangs) >= (1 if hangs == "plan" else 2))
    ended = await cancelled(stage, handle)
    assert await report(stage, handle)
    assert (await handle.query("status"))["status"] == "cancelled"
    assert model.count(hangs) == ended  # each of them ended, and none was tried again


async def test_a_plan_is_cancelled_while_its_topics_are_judged(stage: Stage) -> None:
    model = PlannedModel(topic=HANG)
    handle = await stage.start(model)
    await eventually(lambda: model.count("topic") == 2)
    assert await cancelled(stage, handle) == 2
    told = await report(stage, handle)
    assert "KSM merges identical memory pages into one" in told


async def test_react_is_cancelled_in_the_middle_of_a_decision(stage: Stage) -> None:
    stage.lab.model.script([decision("search", "KSM merges identical memory pages"), HANG])
    handle = await stage.lab.start(
        {"goal": "How is KSM enabled?", "required_topics": [KSM], "strategy": "react",
         "corpora": ["notes"]}
    )  # fmt: skip
    await eventually(lambda: len(stage.lab.model.requests) == 2)
    await cancelled(stage, handle)
    told = await report(stage, handle)
    assert "E1" in told
    evidence = await handle.query("evidence")
    assert evidence[0]["source_id"] == "notes:ksm.md"
    assert (await handle.query("status"))["status"] == "cancelled"


async def test_a_write_that_lost_its_race_with_the_cancel_is_dropped(stage: Stage) -> None:
    """The reply comes while the cancel is on its way: the run still ends as cancelled."""
    handles: list[WorkflowHandle[Any, Any]] = []
    loop = asyncio.get_running_loop()

    def cancels(user: dict[str, Any]) -> dict[str, Any]:
        asyncio.run_coroutine_threadsafe(handles[0].cancel(), loop).result(20)
        return write(user)

    model = PlannedModel(written_result=cancels, topic=HANG)
    handles.append(await stage.start(model, required_topics=[KSM]))
    with pytest.raises(WorkflowFailureError):
        await asyncio.wait_for(handles[0].result(), 60)
    assert (await handles[0].query("status"))["status"] == "cancelled"
    assert await report(stage, handles[0])
