"""A real Temporal server, real workers, a scripted model and search: what workflow tests run on."""

import asyncio
import json
import subprocess
import uuid
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowHandle
from temporalio.testing import WorkflowEnvironment

from activities.search.corpus import CorpusBackend
from activities.search.teaching import TeachingBackend
from activities.tools.registry import Tool
from runtime.binary import find_binary
from runtime.converter import data_converter
from runtime.settings import Env
from runtime.workers import running_workers
from tests.workflows.scripted import ScriptedModel, ScriptedSearch
from workflows.contracts.names import AGENT_RUN, QUEUE, SEARCH_ATTRIBUTES
from workflows.contracts.task import Settings

KNOWN = ("agent_loop", "tool_contract", "recovery")
RUN_SECONDS = 60.0  # a run of a test that takes longer is stuck


@dataclass
class Lab:
    """Everything a workflow test needs."""

    client: Client
    model: ScriptedModel
    search: ScriptedSearch
    home: Path
    address: str

    async def start(
        self, *inputs: Any, run_id: str | None = None, **options: Any
    ) -> WorkflowHandle[Any, Any]:
        """Start a run with whatever inputs."""
        return await self.client.start_workflow(
            AGENT_RUN,
            args=list(inputs),
            id=run_id or f"run-{uuid.uuid4().hex[:12]}",
            task_queue=QUEUE,
            **options,
        )

    async def run(self, task: dict[str, Any]) -> dict[str, Any]:
        """Run a task to its end and give its result as JSON."""
        handle = await self.start(task)
        return await asyncio.wait_for(handle.result(), RUN_SECONDS)

    async def cli(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the real Temporal CLI against the server."""
        command = [str(find_binary()), *arguments, "--address", self.address]
        return await asyncio.to_thread(
            subprocess.run, command, capture_output=True, text=True, timeout=60, check=False
        )


def environment(home: Path, model_url: str, **more: str) -> Env:
    """Settings as the environment of a worker would give them."""
    return Env.model_validate(
        {
            "OPENAI_API_KEY": "test-key",
            "OPENAI_BASE_URL": model_url,
            "OPENAI_MODEL": "scripted",
            "SUREFOOT_HOME": str(home),
            "SUREFOOT_ROOTS": str(home),
            **more,
        }
    )


@asynccontextmanager
async def server(
    extra: Sequence[str] = (), *, attributes: bool = True
) -> AsyncGenerator[WorkflowEnvironment]:
    """A real server in memory, paced as the embedded one is; our search attributes registered."""
    flags = ["--dynamic-config-value", "history.transferProcessorMaxPollRPS=10000"]
    for name, kind in SEARCH_ATTRIBUTES.items() if attributes else ():
        flags += ["--search-attribute", f"{name}={kind}"]
    environment = await WorkflowEnvironment.start_local(
        data_converter=data_converter(None),
        dev_server_existing_path=str(find_binary()),
        dev_server_extra_args=[*flags, *extra],
    )
    try:
        yield environment
    finally:
        await environment.shutdown()


@asynccontextmanager
async def lab(
    environment_: WorkflowEnvironment,
    home: Path,
    settings: Settings | None = None,
    *,
    collections: bool = False,
    tools: Sequence[Tool] = (),
    variables: Mapping[str, str] | None = None,
) -> AsyncGenerator[Lab]:
    """A lab on a server: one worker of all roles, whose scripts each test sets.

    With `collections` it searches those of its home instead of the scripted notes; `variables`
    are added to the worker's environment.
    """
    search = ScriptedSearch()
    with ScriptedModel() as model:
        env = environment(home, model.url, **(variables or {}))
        backend = CorpusBackend(home) if collections else TeachingBackend(search, set(KNOWN))
        client = environment_.client
        chosen = settings or Settings(
            attempts=1, model_seconds=6, search_seconds=10, heartbeat_seconds=5
        )
        async with running_workers(client, env, backend=backend, settings=chosen, tools=tools):
            address = client.service_client.config.target_host
            yield Lab(client, model, search, home, address)


async def history(handle: WorkflowHandle[Any, Any]) -> list[dict[str, Any]]:
    """The events of a run as JSON."""
    fetched = await handle.fetch_history()
    return json.loads(fetched.to_json())["events"]


async def eventually(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait until a condition of the outside world holds."""
    async with asyncio.timeout(seconds):
        while True:
            if condition():
                return
            await asyncio.sleep(0.02)
