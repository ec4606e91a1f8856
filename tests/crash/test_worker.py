"""kill -9 of the worker at every activity boundary and in the middle of every model call.

The boundaries are read from the recorded history of an undisturbed run. Each kill has a namespace
of its own, so that several run at once on one server.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from runtime.binary import find_binary
from runtime.converter import data_converter
from tests.crash.stage import (
    TASK,
    WorkerProcess,
    answer,
    folder,
    worker_environment,
    worker_process,
)
from tests.shown import show
from tests.workflows.scripted import ScriptedModel
from workflows.contracts.names import AGENT_RUN, QUEUE

AT_ONCE = 5
MOST_BOUNDARIES = 30
KINDS = {
    EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED: "scheduled",
    EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED: "completed",
}


@dataclass
class Outcome:
    """What a run came to, and what the world saw of it."""

    result: dict[str, Any]
    requests: int
    boundaries: list[int]


@dataclass
class Stage:
    """One server for every kill."""

    address: str
    folder: Path

    async def run(
        self, namespace: str, *, at_event: int | None = None, in_call: int | None = None
    ) -> Outcome:
        """One run in a namespace of its own, its worker killed at an event or in a model call."""
        home = self.folder / namespace
        await asyncio.to_thread(folder, home)
        client = await Client.connect(
            self.address, namespace=namespace, data_converter=data_converter(None)
        )
        with ScriptedModel() as model:
            environment = worker_environment(home, self.address, namespace, model.url)
            async with worker_process(environment, home / "worker.log") as worker:
                model.script(_killing(worker, in_call) if in_call else answer)
                handle = await client.start_workflow(
                    AGENT_RUN, TASK, id=f"run-{namespace}", task_queue=QUEUE
                )
                boundaries = await self._watch(handle, worker, at_event)
                result = await asyncio.wait_for(handle.result(), 90)
                return Outcome(result, len(model.requests), boundaries)

    async def _watch(self, handle: Any, worker: WorkerProcess, at_event: int | None) -> list[int]:
        boundaries: list[int] = []
        async for event in handle.fetch_history_events(wait_new_event=True):
            if event.event_type in KINDS:
                boundaries.append(event.event_id)
            if event.event_id == at_event:
                await asyncio.to_thread(worker.kill)
            if worker.process is None:
                await asyncio.to_thread(worker.start)
        return boundaries


def _killing(worker: WorkerProcess, call: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A model that kills the worker which asks for the `call`-th time, before it answers."""
    asked = 0

    def reply(request: dict[str, Any]) -> dict[str, Any]:
        nonlocal asked
        asked += 1
        if asked == call:
            worker.kill()
            worker.start()
        return answer(request)

    return reply


def essence(result: dict[str, Any]) -> dict[str, Any]:
    """What must not depend on a crash; attempts, times and estimates may."""
    usage = result["usage"]
    return {
        "status": result["status"],
        "stop_reason": result["stop_reason"],
        "claims": result["claims"],
        "evidence": [(e["id"], e["source_id"], e["passages"]) for e in result["evidence"]],
        "acts": [usage[k] for k in ("model_calls", "tool_calls", "searches")],
    }


@pytest.mark.crash
@pytest.mark.timeout(600)
async def test_a_worker_killed_anywhere_loses_and_doubles_nothing(tmp_path: Path) -> None:
    names = ["reference", *(f"kill-{n}" for n in range(MOST_BOUNDARIES))]
    flags = ["--dynamic-config-value", "history.transferProcessorMaxPollRPS=10000"]
    for name in names:
        flags += ["--namespace", name]
    async with await WorkflowEnvironment.start_local(
        dev_server_existing_path=str(find_binary()), dev_server_extra_args=flags
    ) as environment:
        stage = Stage(environment.client.service_client.config.target_host, tmp_path)
        reference = await stage.run("reference")
        assert reference.result["status"] == "succeeded"
        calls = reference.result["usage"]["model_calls"]
        kills: list[dict[str, int]] = [{"at_event": e} for e in reference.boundaries]
        kills += [{"in_call": n} for n in range(1, calls + 1)]
        assert len(kills) <= MOST_BOUNDARIES
        limit = asyncio.Semaphore(AT_ONCE)

        async def kill(n: int, where: dict[str, int]) -> Outcome:
            async with limit:
                return await stage.run(f"kill-{n}", **where)

        outcomes = await asyncio.gather(*(kill(n, where) for n, where in enumerate(kills)))
    show(
        f"worker killed at {len(reference.boundaries)} activity boundaries, in {calls} model calls"
    )
    for where, outcome in zip(kills, outcomes, strict=True):
        assert essence(outcome.result) == essence(reference.result), where
        assert outcome.requests <= outcome.result["usage"]["model_attempts"], where
        sources = [e["source_id"] for e in outcome.result["evidence"] if not e["empty"]]
        assert len(sources) == len(set(sources)), where
