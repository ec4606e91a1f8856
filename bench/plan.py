"""Wall time of a plan's parallel steps over its critical path, beside a bare workflow.

    uv run python -m bench.plan [STEPS...]

Each step is a caller-given call of a tool, then write, one support call and the goal call; every
model call takes 200 ms. The critical path is the model time of one chain, the topic call of closing
included. The bare workflow runs as many chains of as many waiting activities, nothing else.
"""

import asyncio
import statistics
import sys
import tempfile
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from temporalio import activity, workflow
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from bench.slow_model import CALL_SECONDS
from tests.workflows.plan_stage import TASK, Stage, staged

ROUNDS: Final = 5
STEPS: Final = (8, 64)
_CHAIN: Final = 3  # write, support, goal
_QUEUE: Final = "surefoot-bench-plan"


@activity.defn(name="wait")
async def wait() -> None:
    """A model call of a bare chain."""
    await asyncio.sleep(CALL_SECONDS)


@workflow.defn(name="BareChains", sandboxed=False)
class BareChains:
    """Chains of waiting activities side by side, then one more."""

    @workflow.run
    async def run(self, chains: int) -> None:
        """Run them."""
        await asyncio.gather(*(self._chain(_CHAIN) for _ in range(chains)))
        await self._chain(1)

    async def _chain(self, calls: int) -> None:
        for _ in range(calls):
            await workflow.execute_activity(
                wait, start_to_close_timeout=timedelta(seconds=30), task_queue=_QUEUE
            )


@asynccontextmanager
async def _model() -> AsyncGenerator[str]:
    """The base URL of a slow model in another process: a real one takes none of ours either."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench.slow_model",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the model has no pipes")
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.stdin.close()
        await process.wait()


async def _seconds(handle: WorkflowHandle[Any, Any]) -> float:
    """From start to close, by the server's clock."""
    await handle.result()
    told = await handle.describe()
    if told.close_time is None:
        raise RuntimeError("the run is not closed")
    return (told.close_time - told.start_time).total_seconds()


async def _plan(stage: Stage, steps: int) -> float:
    plan: dict[str, Any] = {
        "steps": [
            {
                "id": f"s{n}",
                "goal": f"Fetch the sales of quarter Q3, part {n}",
                "accept": "a row for each product",
                "tool": "fetch_sales",
                "args": {"quarters": ["Q3"]},
            }
            for n in range(steps)
        ]
    }
    limits: dict[str, Any] = {
        "max_concurrency": min(64, steps),
        "max_model_calls": 10 * steps,
        "max_tool_calls": 2 * steps,
        "max_rounds": 3 * steps,
    }
    task: dict[str, Any] = {**TASK, "required_topics": [], "plan": plan, "limits": limits}
    handle = await stage.lab.start(task, run_id=f"bench-{uuid.uuid4().hex[:8]}")
    seconds = await _seconds(handle)
    result = await handle.result()
    if any(step["status"] != "DONE" for step in result["steps"]):
        raise RuntimeError(f"a step failed: {result['steps']}")
    return seconds


async def _bare(client: Client, chains: int) -> float:
    worker = Worker(
        client,
        task_queue=_QUEUE,
        workflows=[BareChains],
        activities=[wait],
        workflow_runner=UnsandboxedWorkflowRunner(),
        max_concurrent_activities=64,
    )
    async with worker:
        handle = await client.start_workflow(
            "BareChains", chains, id=f"bare-{uuid.uuid4().hex[:8]}", task_queue=_QUEUE
        )
        return await _seconds(handle)


async def _measure(counts: list[int]) -> None:
    path = CALL_SECONDS * (_CHAIN + 1)
    with tempfile.TemporaryDirectory() as home:
        async with _model() as url, staged(Path(home), variables=_at(url)) as stage:
            await _plan(stage, 2)  # modules are imported, connections opened
            for count in counts:
                plans: list[float] = []
                bares: list[float] = []
                for _ in range(ROUNDS):
                    plans.append(await _plan(stage, count))
                    bares.append(await _bare(stage.lab.client, count))
                plan, bare = statistics.median(plans), statistics.median(bares)
                print(
                    f"{count} steps: {plan:.2f} s, {plan / path:.2f} of the critical path"
                    f" ({path:.1f} s; {min(plans) / path:.2f} to {max(plans) / path:.2f});"
                    f" bare {bare:.2f} s, {bare / path:.2f}; ratio {plan / bare:.2f}"
                )


def _at(url: str) -> dict[str, str]:
    return {"OPENAI_BASE_URL": url}


def main() -> None:
    """Measure for the counts given."""
    counts = [int(argument) for argument in sys.argv[1:]] or list(STEPS)
    asyncio.run(_measure(counts))


if __name__ == "__main__":
    main()
