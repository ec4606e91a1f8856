"""worker.py as a process: roles, drain, usage errors; and what encryption leaves to be read."""

import asyncio
import base64
import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import (
    DescribeWorkflowExecutionRequest,
    GetWorkflowExecutionHistoryRequest,
)
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError
from werkzeug import Request, Response

from runtime.connect import connect
from runtime.converter import data_converter
from runtime.embedded import EmbeddedServer
from runtime.settings import load_env
from runtime.workers import running_workers
from workflows.contracts import names

REPOSITORY = Path(__file__).parents[2]
GOAL = "How is kernel samepage merging enabled?"
NOTE = "# KSM\n\nKernel samepage merging is enabled by writing 1 to /sys/kernel/mm/ksm/run.\n"
FINISH = {"plan": ["x"], "action": "finish", "query": "", "sufficient": False, "draft": ""}
KEYS = "k1:" + base64.b64encode(b"k" * 32).decode()


class Running:
    """A worker process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        assert process.stderr
        self._err = process.stderr

    async def line(self) -> str:
        """The next line of its standard error."""
        async with asyncio.timeout(30):
            return (await self._err.readline()).decode()

    async def drain(self) -> str:
        """SIGTERM; what it still said. It must end with 0."""
        self.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(30):
            rest = (await self._err.read()).decode()
            assert await self.process.wait() == 0, rest
        return rest


@contextlib.asynccontextmanager
async def _worker(*args: str, **variables: str) -> AsyncGenerator[Running]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("worker.py", *args),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        cwd=REPOSITORY,
        env=os.environ | variables,
    )
    running = Running(process)
    try:
        yield running
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def _refused(*args: str, **variables: str) -> str:
    """The one line of a worker that cannot start."""
    async with _worker(*args, **variables) as running, asyncio.timeout(30):
        _, err = await running.process.communicate()
        assert running.process.returncode == 2
    assert len(err.decode().splitlines()) == 1
    return err.decode()


def _variables(server: EmbeddedServer, home: Path, docs: Path) -> dict[str, str]:
    docs.mkdir(exist_ok=True)
    (docs / "ksm.md").write_text(NOTE)
    return {
        "TEMPORAL_ADDRESS": server.address,
        "SUREFOOT_HOME": str(home),
        "SUREFOOT_ROOTS": str(docs),
    }


async def _run(client: Client, kind: str, workflow_id: str, given: dict[str, Any]) -> Any:
    async with asyncio.timeout(60):
        return await client.execute_workflow(kind, given, id=workflow_id, task_queue=names.QUEUE)


async def test_three_workers_of_one_role_each_do_the_job_together(
    server: EmbeddedServer, tmp_path: Path
) -> None:
    variables = _variables(server, tmp_path / "home", tmp_path / "docs")
    client = await connect(data_converter(None), server.address)
    async with (
        _worker("--role", "workflow", **variables) as one,
        _worker("--role", "model", **variables) as two,
        _worker("--role", "tools", **variables) as three,
    ):
        workers = (one, two, three)
        said = [await worker.line() for worker in workers]
        assert said[0].startswith(f"serving surefoot at {server.address}, namespace default")
        assert said[1].startswith(f"serving surefoot-model at {server.address}")
        assert said[2].startswith(f"serving surefoot-tools at {server.address}")
        docs = {"name": "default", "path": str(tmp_path / "docs")}
        assert (await _run(client, names.INDEX_CORPUS, "roles-index", docs))["chunks"] == 1
        result = await _run(client, names.AGENT_RUN, "roles-run", {"goal": GOAL})
        assert result["status"] == "succeeded"
        assert "/sys/kernel/mm/ksm/run" in result["report"]
        for worker in workers:
            assert (await worker.drain()).splitlines()[-2:] == ["draining", "stopped"]


async def test_a_model_call_in_flight_is_finished_before_the_worker_stops(
    server: EmbeddedServer, tmp_path: Path, httpserver: HTTPServer
) -> None:
    called, go_on = threading.Event(), threading.Event()

    def answer(_request: Request) -> Response:
        called.set()
        go_on.wait(20)
        decision = {
            "plan": ["x"],
            "action": "finish",
            "query": "",
            "sufficient": False,
            "draft": "",
        }
        message = {"role": "assistant", "content": json.dumps(decision), "refusal": None}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
        return Response(json.dumps(body | {"choices": [choice]}), content_type="application/json")

    httpserver.expect_request("/v1/chat/completions").respond_with_handler(answer)
    variables = _variables(server, tmp_path / "home", tmp_path / "docs") | {
        "OPENAI_API_KEY": "sk-canary-1234567",
        "OPENAI_BASE_URL": httpserver.url_for("/v1"),
        "OPENAI_MODEL": "m",
    }
    client = await connect(data_converter(None), server.address)
    async with _worker(**variables) as worker:
        assert "model m" in await worker.line()
        docs = {"name": "default", "path": str(tmp_path / "docs")}
        await _run(client, names.INDEX_CORPUS, "drain-index", docs)
        handle = await client.start_workflow(
            names.AGENT_RUN, {"goal": GOAL}, id="drain-run", task_queue=names.QUEUE
        )
        assert await asyncio.to_thread(called.wait, 20)
        worker.process.send_signal(signal.SIGTERM)
        assert await worker.line() == "draining\n"
        go_on.set()
        assert (await worker.drain()).splitlines() == ["stopped"]
    history = await handle.fetch_history()
    kinds = [event.WhichOneof("attributes") for event in history.events]
    completed = kinds.count("activity_task_completed_event_attributes")
    assert completed == 2  # prepare and decide
    assert "activity_task_failed_event_attributes" not in kinds
    await handle.terminate()


async def test_usage_errors_are_one_line_and_exit_code_2(server: EmbeddedServer) -> None:
    address = {"TEMPORAL_ADDRESS": server.address}
    said = await asyncio.gather(
        _refused("--role", "cook", **address),
        _refused(TEMPORAL_ADDRESS="127.0.0.1:1"),
    )
    assert said[0].startswith("worker.py: --role: expected all, model, tools, workflow, found 'co")
    assert said[1].startswith("worker.py: no Temporal server answers at 127.0.0.1:1")
    said = await asyncio.gather(
        _refused(OPENAI_API_KEY="sk-canary-1234567", **address),
        _refused(SUREFOOT_CODEC_KEYS="sk-canary-1234567", **address),
    )
    assert "model" in said[0]
    assert "SUREFOOT_CODEC_KEYS" in said[1]
    assert "canary" not in "".join(said)
    said = [await _refused(SUREFOOT_STORE="s3://bucket/x", **address)]
    assert said[0].startswith("worker.py: SUREFOOT_STORE: ")


async def _raw(client: Client, workflow_id: str) -> bytes:
    """Everything the server keeps of a run, as bytes: history, memo, metadata."""
    execution = WorkflowExecution(workflow_id=workflow_id)
    service, namespace = client.workflow_service, client.namespace
    history = await service.get_workflow_execution_history(
        GetWorkflowExecutionHistoryRequest(namespace=namespace, execution=execution)
    )
    described = await service.describe_workflow_execution(
        DescribeWorkflowExecutionRequest(namespace=namespace, execution=execution)
    )
    return history.SerializeToString() + described.SerializeToString()


async def test_with_keys_nothing_of_a_run_can_be_read_on_the_server(
    server: EmbeddedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in _variables(server, tmp_path / "home", tmp_path / "docs").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SUREFOOT_CODEC_KEYS", KEYS)
    env = load_env()
    client = await connect(data_converter(env.codec))
    async with running_workers(client, env):
        docs = {"name": "default", "path": str(tmp_path / "docs")}
        await _run(client, names.INDEX_CORPUS, "sealed-index", docs)
        result = await _run(client, names.AGENT_RUN, "sealed-run", {"goal": GOAL})
        assert result["status"] == "succeeded"
        with pytest.raises(WorkflowFailureError) as failed:
            await _run(client, names.AGENT_RUN, "sealed-bad", {"samepage": 1})
        # What is sent in the clear, or sealed with a key that no worker has, is an input like
        # any other: read, or refused as InvalidTask.
        plain = await connect(data_converter(None))
        assert (await _run(client, names.AGENT_RUN, "open-run", {"goal": GOAL}))["status"]
        other = await connect(data_converter(KEYS.replace("k1:", "k2:")))
        with pytest.raises(WorkflowFailureError) as unknown:
            await _run(other, names.AGENT_RUN, "foreign-run", {"goal": GOAL})
        with pytest.raises(WorkflowFailureError) as unread:
            await _run(plain, names.AGENT_RUN, "plain-bad", {"samepage": 1})
    for error in (failed, unknown, unread):
        cause = error.value.cause
        assert isinstance(cause, ApplicationError)
        assert cause.type == names.INVALID_TASK
    assert "samepage" in str(failed.value.cause)
    raw = await _raw(client, "sealed-run") + await _raw(client, "sealed-bad")
    assert b"samepage" not in raw
    assert b"kernel" not in raw
    assert b"binary/encrypted" in raw
