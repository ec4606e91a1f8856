"""The commands of docs/deployment.md, "Keep a collection fresh", against a real server and worker.

How it can go wrong: a command that the Temporal CLI does not take, an input that IndexCorpus
refuses, a queue that nobody serves, and two runs of one collection at the same time.
"""

import asyncio
import contextlib
import json
import re
import shlex
import subprocess
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import ScheduleHandle, WorkflowHandle
from temporalio.testing import WorkflowEnvironment

from activities.ingest.catalogue import collections
from activities.ingest.database import collection_path, writing
from runtime.binary import find_binary
from runtime.settings import Env
from runtime.workers import running_workers
from tests.deploy import files
from tests.workflows import lab as labs
from workflows.contracts.names import INDEX_CORPUS, QUEUE, TOOL_ERROR

_SECONDS = 60.0
_DOCUMENTS = '"/documents"'  # where the container has them; elsewhere in a test
_ID = "fresh-manuals"


def _commands() -> list[str]:
    """The commands of the section, in order, continued lines joined."""
    text = (files.ROOT / "docs/deployment.md").read_text("utf-8")
    section = text.partition("## Keep a collection fresh\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```bash\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return [str(line) for line in "".join(blocks).replace("\\\n", " ").splitlines()]


def _command(word: str) -> str:
    (found,) = [line for line in _commands() if word in line]
    return found


@dataclass
class Place:
    """A folder of documents, its collection, and a shell whose `temporal` finds the server."""

    environment: WorkflowEnvironment
    home: Path
    docs: Path

    @property
    def schedule(self) -> ScheduleHandle:
        """The schedule of the documentation."""
        return self.environment.client.get_schedule_handle(_ID)

    async def shell(self, command: str, code: int = 0) -> str:
        """Run a command of the documentation as it stands there, but for the folder."""
        binary = find_binary()
        assert binary
        variables = {
            "TEMPORAL_ADDRESS": self.environment.client.service_client.config.target_host,
            "PATH": f"{binary.parent}:/usr/bin:/bin",
        }
        done = await asyncio.to_thread(
            subprocess.run,
            ["/bin/sh", "-euc", command.replace(_DOCUMENTS, json.dumps(str(self.docs)))],
            env=files.environment(**variables),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        assert done.returncode == code, (command, done.stdout, done.stderr)
        return done.stdout

    async def run(self, number: int) -> WorkflowHandle[Any, Any]:
        """The schedule's run of this number, as soon as it has started."""
        async with asyncio.timeout(_SECONDS):
            while True:
                info = (await self.schedule.describe()).info
                if info.num_actions >= number:
                    started: Any = info.recent_actions[-1].action
                    return self.environment.client.get_workflow_handle(
                        started.workflow_id, run_id=started.first_execution_run_id
                    )
                await asyncio.sleep(0.05)

    async def idle(self) -> None:
        """Wait until the schedule knows that its run has ended, and into a later second."""
        async with asyncio.timeout(_SECONDS):
            while True:
                await asyncio.sleep(1.1)  # ids hold the second
                if not (await self.schedule.describe()).info.running_actions:
                    return

    @property
    def versions(self) -> dict[str, int | None]:
        """Each collection with its version."""
        return {found.name: found.version for found in collections(self.home)}


@contextlib.asynccontextmanager
async def _place(temporal: WorkflowEnvironment, folder: Path) -> AsyncGenerator[Place]:
    place = Place(temporal, folder / "home", folder / "manuals")
    place.docs.mkdir()
    (place.docs / "ksm.md").write_text("# KSM\n\nMerges equal pages.\n")
    env = Env.model_validate({"SUREFOOT_HOME": str(place.home), "SUREFOOT_ROOTS": str(place.docs)})
    async with running_workers(temporal.client, env):
        try:
            yield place
        finally:
            with contextlib.suppress(Exception):  # most tests have deleted it
                await place.schedule.delete()


@pytest.fixture
async def place(tmp_path: Path) -> AsyncGenerator[Place]:
    async with labs.server() as temporal, _place(temporal, tmp_path) as ready:
        yield ready


async def test_the_schedule_of_the_documentation_keeps_a_collection_fresh(place: Place) -> None:
    steps = [shlex.split(line, comments=True)[2] for line in _commands()]
    assert steps == ["create", "trigger", "describe", "toggle", "toggle", "delete"]

    await place.shell(_command(" create "))
    action: Any = (await place.schedule.describe()).schedule.action
    assert (action.workflow, action.task_queue) == (INDEX_CORPUS, QUEUE)

    await place.shell(_command(" trigger "))
    first = await place.run(1)
    assert re.fullmatch(r"index-manuals-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", first.id)
    result = await asyncio.wait_for(first.result(), _SECONDS)
    assert (result["files"], result["version"]) == ({"indexed": 1}, 1)

    (place.docs / "ksm.md").write_text("# KSM\n\nMerges equal pages of several processes.\n")
    (place.docs / "zram.md").write_text("# zram\n\nCompresses pages in memory.\n")
    await place.idle()
    await place.shell(_command(" trigger "))
    second = await place.run(2)
    result = await asyncio.wait_for(second.result(), _SECONDS)
    assert (result["files"], result["version"]) == ({"indexed": 2}, 2)
    assert place.versions == {"manuals": 2}

    assert '"Total":2' in await place.shell(_command(" describe "))
    await place.shell(_command(" --pause "))
    assert (await place.schedule.describe()).schedule.state.paused
    await place.shell(_command(" --unpause "))
    assert not (await place.schedule.describe()).schedule.state.paused
    await place.shell(_command(" delete "))
    await place.shell(_command(" describe "), code=1)


async def test_a_run_that_finds_the_collection_busy_tries_again(place: Place) -> None:
    await place.shell(_command(" create "))
    with writing(collection_path(place.home, "manuals")):  # as `starter.py index` holds it
        await place.shell(_command(" trigger "))
        run = await place.run(1)
        failure = await _second_attempt(run)
    assert failure.application_failure_info.type == TOOL_ERROR
    assert "is being indexed by another process" in failure.message
    result = await asyncio.wait_for(run.result(), _SECONDS)
    assert result["files"] == {"indexed": 1}


async def _second_attempt(run: WorkflowHandle[Any, Any]) -> Any:
    """The failure of the first attempt, once there is a second one to come."""
    async with asyncio.timeout(_SECONDS):
        while True:
            for pending in (await run.describe()).raw_description.pending_activities:
                if pending.attempt > 1:
                    return pending.last_failure
            await asyncio.sleep(0.05)
