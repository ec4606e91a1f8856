"""Waiting for days with workers killed, on a server whose clock skips (failures A22, D03, D11; J).

How it can go wrong: a wait that costs events; an outage that counts as consent or as a refusal; a
decision that was made in time and got lost, or one that came late and counted.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowHandle
from temporalio.testing import TimeSkippingConfig, WorkflowEnvironment

from runtime.binary import find_binary
from runtime.converter import data_converter
from tests.crash import stage
from tests.workflows.people_stage import fates, opened, outcomes, say
from workflows.contracts.names import AGENT_RUN, QUEUE

pytestmark = [pytest.mark.crash, pytest.mark.timeout(240)]

DAY = 24 * 3600.0
SHORT = 5.0  # seconds to answer
OUTAGE = 32.0  # real seconds: a deadline handled more than 30 s late reopens its request
MODELS = {"planner": "extractive", "executor": "extractive", "judge": "extractive"}


@dataclass
class Calendar:
    """A server whose clock skips, and a real worker process on it."""

    environment: WorkflowEnvironment
    worker: stage.WorkerProcess

    async def start(self, run_id: str, **approvals: Any) -> WorkflowHandle[Any, Any]:
        """Start a run that asks."""
        task = {
            **stage.TASK,
            "strategy": "plan",
            "models": MODELS,
            "approvals": approvals,
        }
        return await self.environment.client.start_workflow(
            AGENT_RUN, task, id=run_id, task_queue=QUEUE
        )

    async def days(self, handle: WorkflowHandle[Any, Any], count: float) -> None:
        """Let a run's time pass."""
        await self.environment.fast_forward(handle, timedelta(seconds=count * DAY))

    async def result(self, handle: WorkflowHandle[Any, Any]) -> dict[str, Any]:
        """The result."""
        return await asyncio.wait_for(handle.result(), 120)


@asynccontextmanager
async def calendar(home: Path) -> AsyncGenerator[Calendar]:
    """The stage of these tests."""
    stage.folder(home)
    environment = await WorkflowEnvironment.start_time_skipping_v2(
        ts_config=TimeSkippingConfig(enabled=False),
        data_converter=data_converter(None),
        dev_server_existing_path=str(find_binary()),
        dev_server_extra_args=[
            "--dynamic-config-value",
            "frontend.WorkflowTimeSkippingEnabled=true",
        ],
    )
    try:
        client = environment.client
        env = stage.worker_environment(
            home, client.service_client.config.target_host, client.namespace, "http://127.0.0.1:9"
        )
        async with stage.worker_process(env, home / "worker.log") as worker:
            yield Calendar(environment, worker)
    finally:
        await environment.shutdown()


async def length(handle: WorkflowHandle[Any, Any]) -> int:
    """Length of a history that has come to rest."""
    last = -1
    while True:
        now = len([event async for event in handle.fetch_history_events()])
        if now == last:
            return now
        last = now
        await asyncio.sleep(0.3)


async def test_a_week_costs_what_a_second_costs(tmp_path: Path) -> None:
    async with calendar(tmp_path) as days:
        grown: list[list[int]] = []
        for name, wait in (("second", 1 / DAY), ("week", 7.0)):
            handle = await days.start(name, plan=True, report=True, expires_after_seconds=30 * DAY)
            added: list[int] = []
            for kind in ("plan", "report"):
                request = await opened(handle, kind)
                before = await length(handle)
                await days.days(handle, wait)
                added.append(await length(handle) - before)
                await say(handle, "approve", request)
            result = await days.result(handle)
            assert result["status"] == "succeeded"
            assert result["usage"]["active_seconds"] < 60
            if name == "week":
                assert result["usage"]["waiting_seconds"] > 13 * DAY
            grown.append(added)
        # The server itself notes that its clock was moved: the same for a second and a week.
        assert grown[0] == grown[1]
        assert max(grown[0]) <= 2


async def test_a_worker_that_was_killed_for_three_days(tmp_path: Path) -> None:
    async with calendar(tmp_path) as days:
        handle = await days.start("killed", plan=True)
        request = await opened(handle, "plan")
        days.worker.kill()
        await days.days(handle, 3)
        days.worker.start()
        again = await opened(handle, "plan", seconds=60)
        assert again["id"] == request["id"]
        await say(handle, "approve", request)
        assert (await days.result(handle))["status"] == "succeeded"


async def test_a_decision_in_time_while_no_worker_is_up(tmp_path: Path) -> None:
    """Handled before the deadline: it counts."""
    async with calendar(tmp_path) as days:
        handle = await days.start("in-time", plan=True, expires_after_seconds=2 * DAY)
        request = await opened(handle, "plan")
        days.worker.kill()
        await days.days(handle, 1)
        await say(handle, "approve", request)
        days.worker.start()
        assert (await days.result(handle))["status"] == "succeeded"
        assert await fates(handle) == ["accepted"]


async def test_a_decision_that_is_handled_late_reopens_its_request_once(tmp_path: Path) -> None:
    """An outage over the deadline: the decision does not count, and is asked for once more."""
    async with calendar(tmp_path) as days:
        handle = await days.start("outage", plan=True, expires_after_seconds=SHORT)
        request = await opened(handle, "plan")
        days.worker.kill()
        await say(handle, "approve", request)
        await asyncio.sleep(SHORT + OUTAGE)
        days.worker.start()
        again = await opened(handle, "plan", seconds=60)
        assert again["id"] == request["id"]
        assert again["reopened"]
        assert again["deadline"] > request["deadline"]
        assert await fates(handle) == ["late"]
        result = await days.result(handle)  # nobody decides a second time either
        assert (result["status"], result["stop_reason"]) == ("expired", "expired")
        assert await outcomes(handle) == ["expired"]


async def test_a_deadline_in_working_time_expires_and_a_late_approval_does_not_revive(
    tmp_path: Path,
) -> None:
    """A22: 25 hours, then an approval: an explicit expired result."""
    async with calendar(tmp_path) as days:
        handle = await days.start("expired", plan=True, expires_after_seconds=1 * DAY)
        await opened(handle, "plan")
        await days.days(handle, 25 / 24)
        result = await days.result(handle)
        assert result["status"] == "expired"
        assert result["report"]
