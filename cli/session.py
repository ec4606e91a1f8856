"""A connection to the server that a command works with, and workers where it brings its own.

With no address or profile configured that is the embedded server of the state directory, with one
configured it is that one (INTERFACE, "Command line").
"""

import contextlib
import dataclasses
import logging
import os
import socket
import time
from collections.abc import AsyncGenerator
from typing import Final
from urllib.parse import quote

import psutil
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client

from activities.model.profiles import Profiles, profiles_from
from runtime.connect import configured, connect
from runtime.converter import data_converter
from runtime.embedded import EmbeddedServer
from runtime.logs import configure_logging
from runtime.settings import Env
from runtime.workers import running_workers
from workflows.contracts.names import QUEUE

SILENT: Final = logging.CRITICAL + 1  # where standard error belongs to events
_POLL_AGE: Final = (
    75.0  # seconds; a poll lasts 60, so an older one belongs to a worker that is gone
)


@dataclasses.dataclass(frozen=True)
class Session:
    """What commands work with.

    Attributes:
        embedded: whether the server belongs to the state directory.
        address: of the server, "" where a profile names it.
        ui: address of the Web UI, "" where it is not known.
    """

    env: Env
    client: "Client"
    embedded: bool
    address: str = ""
    ui: str = ""

    def ui_of(self, workflow_id: str) -> str:
        """Where the Web UI shows a run; "" where no Web UI is known."""
        if not self.ui:
            return ""
        return (
            f"{self.ui}/namespaces/{self.client.namespace}/workflows/{quote(workflow_id, safe='')}"
        )


def is_embedded() -> bool:
    """Whether nothing is configured, so that commands use the state directory's own server."""
    return not configured()


def profiles_of(env: Env) -> Profiles:
    """The model profiles of this environment; also a check before anything is started.

    Raises:
        ProfileError: a key without a model, and the like.
    """
    return profiles_from(
        env.api_key,
        env.openai_base_url,
        env.openai_model,
        env.openai_model_planner,
        env.openai_model_executor,
        env.openai_model_judge,
    )


@contextlib.asynccontextmanager
async def connected(
    env: Env, *, embedded: bool, port: int | None = None, log_level: int = logging.ERROR
) -> AsyncGenerator[Session]:
    """Join the embedded server, or connect to the configured one; no worker yet.

    Args:
        env: settings of this process.
        embedded: whether the state directory's own server is used.
        port: the port it must have, None for any.
        log_level: what workers of this process log to standard error; attempts that are tried
            again are warnings, which a person who waits for a report need not see.

    Raises:
        UsageError: the server cannot be started or does not answer, with address and hint.
    """
    configure_logging(env.log, secrets=env.secrets, level=log_level)
    converter = data_converter(env.codec)
    if not embedded:
        client = await connect(converter)
        yield Session(env, client, embedded=False, address=client.service_client.config.target_host)
        return

    server = await EmbeddedServer.join(env.home, port=port)
    try:
        client = await connect(converter, server.address)
        yield Session(env, client, embedded=True, address=server.address, ui=server.ui_url)
    finally:
        await server.leave()


@contextlib.asynccontextmanager
async def working(session: Session, *, always: bool = False) -> AsyncGenerator[None]:
    """Run the workers of this process: embedded only, unless `always`."""
    if not session.embedded and not always:
        yield
        return

    async with running_workers(session.client, session.env, embedded=session.embedded):
        yield


@contextlib.asynccontextmanager
async def answering(session: Session) -> AsyncGenerator[bool]:
    """Whether somebody answers queries and updates while the body runs.

    On the embedded server that is always so: where no session works, this process runs workflow
    code, and only that. Activities which a run then asks for wait for a session; they have no
    deadline of that kind.
    """
    polled = await someone_polls(session)
    if polled or not session.embedded:
        yield polled
        return
    async with running_workers(session.client, session.env, role="workflow", embedded=True):
        yield True


async def someone_polls(session: Session) -> bool:
    """Whether a worker elsewhere polls for runs, as far as the server knows.

    A process of this machine that is gone does not count, though the server lists it a while, and
    neither do this process's own workers: they end with the command.
    """
    answer = await session.client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=session.client.namespace,
            task_queue=TaskQueue(name=QUEUE),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
    )
    now = time.time()
    return any(
        now - poller.last_access_time.seconds < _POLL_AGE and _may_live(poller.identity)
        for poller in answer.pollers
    )


def _may_live(identity: str) -> bool:
    """False for `<pid>@<this host>` of this process, or of one that is gone."""
    pid, _, host = identity.partition("@")
    if host != socket.gethostname() or not pid.isdigit():
        return True
    return int(pid) != os.getpid() and psutil.pid_exists(int(pid))
