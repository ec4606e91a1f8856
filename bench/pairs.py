"""Milliseconds of a decide-and-search pair: `AgentRun` beside a bare loop of the same activities.

    uv run python -m bench.pairs [ROUNDS [PAIRS]]

Both run in alternation on one embedded server, in one process with its workers and the scripted
model. A pair lasts from one `decide` to the next, by the server's own event times. Each search
brings five passages of new documents, which is the hardest case (tests/workflows/long_run).
"""

import asyncio
import itertools
import logging
import statistics
import sys
import tempfile
import uuid
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client
from temporalio.worker import Worker

from activities.search.corpus import CorpusBackend
from bench.bare import BARE, Bare
from runtime.connect import connect
from runtime.converter import data_converter
from runtime.embedded import EmbeddedServer
from runtime.settings import Env
from runtime.workers import running_workers, workflow_runner
from tests.workflows import long_run
from tests.workflows.scripted import ScriptedModel
from workflows.contracts.names import AGENT_RUN, DECIDE, QUEUE

ROUNDS: Final = 5
PAIRS: Final = 60
_SKIPPED: Final = 3  # pairs at a run's start: connections are opened, modules imported
_FEWEST_PAIRS: Final = 10
_BARE_QUEUE: Final = "surefoot-bench"
_WANTED: Final = 1.3


@dataclass
class Measured:
    """What one of the two workflows took, over all rounds."""

    workflow: str
    queue: str
    pairs: list[float] = field(default_factory=list[float])  # ms each
    rounds: list[float] = field(default_factory=list[float])  # median ms of each round
    bytes: float = 0.0
    requests: list[int] = field(default_factory=list[int])  # bytes of each user message

    def __str__(self) -> str:
        deciles = statistics.quantiles(self.pairs, n=10)
        rounds = " ".join(f"{each:.1f}" for each in self.rounds)
        return (
            f"{self.workflow:9} median {statistics.median(self.pairs):5.1f} ms a pair "
            f"(p10 {deciles[0]:.1f}, p90 {deciles[8]:.1f}; rounds: {rounds}), "
            f"{self.bytes:.0f} B of history a pair"
        )


def pair_times(events: Sequence[HistoryEvent]) -> list[float]:
    """Milliseconds from each `decide` to the next."""
    scheduled = EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    at = [
        event.event_time.ToNanoseconds() / 1e6
        for event in events
        if event.event_type == scheduled
        and event.activity_task_scheduled_event_attributes.activity_type.name == DECIDE
    ]
    return [later - earlier for earlier, later in itertools.pairwise(at)]


@dataclass
class Bench:
    """A server with its workers, and the model that every run asks."""

    client: Client
    model: ScriptedModel
    pairs: int

    async def measure(self, measured: Measured, *, warm_up: bool = False) -> None:
        """Run one of the two once."""
        self.model.script(long_run.script(self.pairs + 1))
        task: dict[str, Any] = long_run.task(self.pairs + 1)
        handle = await self.client.start_workflow(
            measured.workflow, task, id=f"pairs-{uuid.uuid4().hex}", task_queue=measured.queue
        )
        await handle.result()
        if warm_up:
            return
        run_id = handle.first_execution_run_id or ""
        runs = await long_run.chain_events(self.client, handle.id, run_id)
        times = [time for events in runs for time in pair_times(events)][_SKIPPED:]
        measured.pairs += times
        measured.rounds.append(statistics.median(times))
        measured.bytes = long_run.bytes_per_pair(runs, _SKIPPED, self.pairs)
        measured.requests = [long_run.user_message_size(r) for r in self.model.requests]


def bare_worker(client: Client) -> Worker:
    """A worker of the bare loop with the options that `runtime.workers` gives to `AgentRun`."""
    return Worker(
        client,
        task_queue=_BARE_QUEUE,
        build_id="bench",
        workflows=[Bare],
        workflow_runner=workflow_runner(),
        max_cached_workflows=200,
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
        graceful_shutdown_timeout=timedelta(seconds=2),
    )


def environment(home: Path, url: str) -> Env:
    """Settings of the workers: this folder, the scripted model."""
    return Env.model_validate(
        {
            "OPENAI_API_KEY": "bench",
            "OPENAI_BASE_URL": url,
            "OPENAI_MODEL": "scripted",
            "SUREFOOT_HOME": str(home),
        }
    )


async def run(home: Path, rounds: int, pairs: int) -> tuple[Measured, Measured]:
    """Measure both, taking turns, and which one goes first as well."""
    ours, bare = Measured(AGENT_RUN, QUEUE), Measured(BARE, _BARE_QUEUE)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(await EmbeddedServer.join(home))
        model = stack.enter_context(ScriptedModel())
        client = await connect(data_converter(None), server.address)
        env, backend = environment(home, model.url), CorpusBackend(home)
        await stack.enter_async_context(
            running_workers(client, env, embedded=True, backend=backend)
        )
        await stack.enter_async_context(bare_worker(client))
        bench = Bench(client, model, pairs)
        for measured in (ours, bare):
            await bench.measure(measured, warm_up=True)
        for number in range(rounds):
            for measured in (ours, bare) if number % 2 else (bare, ours):
                await bench.measure(measured)
    return ours, bare


def main() -> None:
    """Print both, and their ratio."""
    given = sys.argv[1:]
    if len(given) > 2 or not all(text.isdecimal() for text in given):
        sys.exit(__doc__)
    rounds, pairs = [int(text) for text in given] + [ROUNDS, PAIRS][len(given) :]
    if rounds < 1 or pairs < _FEWEST_PAIRS:
        sys.exit(f"expected at least 1 round of {_FEWEST_PAIRS} pairs, found {rounds} of {pairs}")
    logging.getLogger("temporalio").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        long_run.build_folder(home, pairs)
        ours, bare = asyncio.run(run(home, rounds, pairs))
    print(f"{rounds} rounds of {pairs} pairs each, taking turns")
    print(ours, bare, sep="\n")
    ratio = statistics.median(ours.pairs) / statistics.median(bare.pairs)
    by_round = [a / b for a, b in zip(ours.rounds, bare.rounds, strict=True)]
    print(
        f"ratio {ratio:.2f} (median of rounds {statistics.median(by_round):.2f}, "
        f"{min(by_round):.2f} to {max(by_round):.2f}); wanted: at most {_WANTED}"
    )
    same = "the same" if ours.requests == bare.requests else "DIFFERENT: not comparable"
    print(f"size of every model request: {same}")


if __name__ == "__main__":
    main()
