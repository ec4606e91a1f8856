"""The trajectory of a long plan: the newest records in the state, all the others in the store.

How it can go wrong: steps that run side by side make more records than the state keeps; a record
stands in the store and in the state; continue-as-new forgets where the older ones lie; a store that
takes nothing loses them or ends the run.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from temporalio.client import WorkflowHandle
from temporalio.exceptions import ApplicationError

import activities.trajectory
from activities.store.base import EvidenceStore
from activities.store.files import open_store
from tests.workflows import lab as labs
from tests.workflows.long_run import chain_events
from tests.workflows.plan_stage import KSM, Stage, staged, told
from tests.workflows.planned import PlannedModel
from workflows.contracts.names import SPILL
from workflows.contracts.plan_acts import SpilledEvents
from workflows.contracts.state import EVENTS_KEPT

STEPS = 70  # each makes a tool call, a result, a verdict and a route: 4 records
EXTRACTIVE = dict.fromkeys(("planner", "executor", "judge"), "extractive")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with staged(tmp_path_factory.mktemp("spill")) as ready:
        yield ready


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def short_histories(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A server that suggests to continue as new again and again."""
    flags = ["--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=200"]
    async with staged(tmp_path_factory.mktemp("short"), extra=flags) as ready:
        yield ready


async def long_plan(stage: Stage, side_by_side: int) -> WorkflowHandle[Any, Any]:
    """Start a plan of many steps, each with a fixed search."""
    steps = [
        {"id": f"s{n}", "goal": f"Find KSM {n}", "accept": "a quote", "topics": ["ksm"],
         "tool": "search", "args": {"query": f"KSM pages {n}"}}
        for n in range(STEPS)
    ]  # fmt: skip
    return await stage.start(
        PlannedModel(),
        required_topics=[KSM],
        plan={"steps": steps},
        models=EXTRACTIVE,
        limits={
            "max_steps": 100, "max_model_calls": 1000, "max_tool_calls": 100, "max_rounds": 100,
            "max_concurrency": side_by_side,
        },
    )  # fmt: skip


async def ended(handle: WorkflowHandle[Any, Any]) -> dict[str, Any]:
    """The answer of query `trajectory` when the run is over, which it is as planned."""
    result = await asyncio.wait_for(handle.result(), labs.RUN_SECONDS)
    assert result["stop_reason"] == "completed", told(result)
    assert result["trajectory"]["steps_completed"] == STEPS
    return await handle.query("trajectory")


async def stored(stage: Stage, run_id: str, ref: str) -> list[list[dict[str, Any]]]:
    """What lies in the store, object by object, the oldest first."""
    store: EvidenceStore = open_store(str(stage.lab.home / "store"))
    parts: list[list[dict[str, Any]]] = []
    while ref:
        kept = SpilledEvents.model_validate_json(await store.get(run_id, ref))
        parts.append(kept.records)
        ref = kept.previous
    return parts[::-1]


async def every_record(
    stage: Stage, handle: WorkflowHandle[Any, Any], seen: dict[str, Any]
) -> list[dict[str, Any]]:
    """All records, of the store and of the state; each must be there exactly once, in order."""
    parts = await stored(stage, handle.first_execution_run_id or "", seen["older_ref"])
    records = [record for part in [*parts, seen["events"]] for record in part]
    assert [record["seq"] for record in records] == list(range(1, seen["event_count"] + 1))
    return records


def assert_whole(records: list[dict[str, Any]]) -> None:
    """What each step did, and the end, stand in them."""
    assert len(records) > EVENTS_KEPT
    for kind in ("tool", "answer", "verdict", "route"):
        steps = [r["step"] for r in records if r["event"] == kind and r.get("step")]
        assert sorted(steps) == sorted(f"s{n}" for n in range(STEPS)), kind
    assert records[-1]["event"] == "task_finished"


@pytest.mark.parametrize("side_by_side", [1, 4, 64])
async def test_older_records_lie_in_the_store(stage: Stage, side_by_side: int) -> None:
    handle = await long_plan(stage, side_by_side)
    seen = await ended(handle)
    assert seen["older_ref"].startswith("sha256:")
    assert len(seen["events"]) < EVENTS_KEPT
    assert_whole(await every_record(stage, handle, seen))


async def test_nothing_is_lost_over_continue_as_new(short_histories: Stage) -> None:
    handle = await long_plan(short_histories, 4)
    seen = await ended(handle)
    runs = await chain_events(
        short_histories.lab.client, handle.id, handle.first_execution_run_id or ""
    )
    assert len(runs) > 2
    assert_whole(await every_record(short_histories, handle, seen))
    # The older part lies under the first run's id, in more than one object.
    assert len(await stored(short_histories, handle.first_execution_run_id or "",
                            seen["older_ref"])) > 1  # fmt: skip


class Failing:
    """A store that takes no trajectory for some attempts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
        self.asked = 0
        self._times = times
        self._check = activities.trajectory.check_store
        monkeypatch.setattr("activities.trajectory.check_store", self)

    def __call__(self, *arguments: Any) -> None:
        """Fail, or check as ever."""
        self.asked += 1
        if self.asked <= self._times:
            raise ApplicationError("the disk is full", non_retryable=True)
        self._check(*arguments)


@pytest.mark.parametrize("side_by_side", [2, 64])
async def test_a_store_that_takes_nothing_loses_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, side_by_side: int
) -> None:
    failing = Failing(monkeypatch, times=1000)
    handle = await long_plan(stage, side_by_side)
    seen = await ended(handle)
    assert (seen["older_ref"], len(seen["events"])) == ("", seen["event_count"])
    assert_whole(await every_record(stage, handle, seen))
    # It is not asked after every step.
    assert 1 <= failing.asked <= 5


async def test_a_spill_that_failed_is_made_up_for(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = Failing(monkeypatch, times=1)
    handle = await long_plan(stage, 2)
    seen = await ended(handle)
    assert failing.asked == 2
    assert seen["older_ref"]
    assert_whole(await every_record(stage, handle, seen))


async def test_a_short_run_asks_for_nothing(stage: Stage) -> None:
    handle = await stage.start(PlannedModel())
    await handle.result()
    seen = await handle.query("trajectory")
    assert (seen["older_ref"], len(seen["events"])) == ("", seen["event_count"])
    scheduled = [
        event["activityTaskScheduledEventAttributes"]["activityType"]["name"]
        for event in await labs.history(handle)
        if "activityTaskScheduledEventAttributes" in event
    ]
    assert SPILL not in scheduled
