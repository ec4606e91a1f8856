"""Workers of each role, with everything they need injected.

Three queues, so that workflows, model calls and tools can run and scale apart; `all` serves the
three from one process (INTERFACE, "Names"). No `workflow_failure_exception_types`: a run fails by
an ApplicationError of its own or not at all (DESIGN, "Input and messages").
"""

import asyncio
import dataclasses
import functools
import hashlib
import shlex
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Literal

from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxRestrictions

from activities.close import CloseActivities
from activities.findings import FindingsActivities
from activities.ingest.activities import IndexActivities
from activities.model.activities import ModelActivities
from activities.model.gateway import Gateway
from activities.model.judge_activities import JudgeActivities
from activities.model.plan_activities import PlanActivities
from activities.model.profiles import ProfileError, Profiles, profiles_from
from activities.prepare import PrepareActivities
from activities.search.activities import SearchActivities
from activities.search.backend import SearchBackend
from activities.search.corpus import CorpusBackend
from activities.search.meaning import INSTALL, Meaning, is_installed
from activities.store.files import StoreLocationError, open_store
from activities.store.records import Records
from activities.tools.activities import ToolActivities
from activities.tools.reading import ReadingActivities
from activities.tools.registry import Registry, Tool
from activities.trajectory import TrajectoryActivities
from runtime.connect import registered_search_attributes
from runtime.errors import UsageError
from runtime.roots import allowed_roots
from runtime.sandbox import ContextFreeRunner
from runtime.settings import Env
from runtime.threads import quick_threads
from workflows.agent_run import AgentRun
from workflows.contracts import names
from workflows.contracts.task import Settings
from workflows.index_corpus import IndexCorpus

Role = Literal["all", "workflow", "model", "tools"]

# A killed worker's sticky queue costs its runs this long (default 10 s).
_DEFAULT_ADDRESSES: Final = ("localhost:7233", "127.0.0.1:7233")
_STICKY: Final = timedelta(seconds=1)
# A cancel reaches an activity with a heartbeat; the SDK sends one at most this often.
_HEARTBEAT_THROTTLE: Final = timedelta(seconds=1)
_GRACE: Final = timedelta(seconds=10)  # for acts in flight, of a worker that drains
_GRACE_EMBEDDED: Final = timedelta(seconds=2)  # somebody waits at the keyboard
_CACHED_WORKFLOWS: Final = 200  # of about 0.1 to 0.4 MB each (FIELD-NOTES, "Speed")
_MODEL_CALLS: Final = 64  # they wait for the network
_TOOL_CALLS: Final = 8  # they use the disk and the processor
_PASSED_THROUGH: Final = ("workflows.contracts", "workflows.logic", "pydantic")


@dataclasses.dataclass(frozen=True)
class Serving:
    """What the workers of this process serve.

    Attributes:
        queues: task queues polled.
        model: display name of the planner's model, for a message to people.
        store_id: identity of the evidence store.
    """

    role: Role
    queues: tuple[str, ...]
    model: str
    store_id: str


@dataclasses.dataclass(frozen=True)
class _Parts:
    """Everything that activities are handed."""

    client: Client
    records: Records
    backend: SearchBackend
    profiles: Profiles
    gateway: Gateway
    settings: Settings
    env: Env
    embedded: bool
    tools: Registry


def parse_role(text: str) -> Role:
    """The role a person typed.

    Raises:
        UsageError: it is none; names those there are.
    """
    if text == "all" or text in _MAKERS:
        return text
    raise UsageError(f"--role: expected all, {', '.join(_MAKERS)}, found {text!r}")


@asynccontextmanager
async def running_workers(  # noqa: PLR0913 - one place assembles; each is a choice of its own
    client: Client,
    env: Env,
    *,
    role: Role = "all",
    embedded: bool = False,
    backend: SearchBackend | None = None,
    settings: Settings | None = None,
    tools: Sequence[Tool] = (),
) -> AsyncGenerator[Serving]:
    """Run workers while the body runs; at its end they drain together, then stop.

    Args:
        client: connected with `data_converter` of the same codec keys.
        env: settings and secrets of this process.
        role: which queues are served.
        embedded: whether the server is the state directory's own.
        backend: what is searched; None for the collections of the state directory.
        settings: what `prepare` resolves into runs; None for those of `env`.
        tools: offered besides the search.

    Raises:
        UsageError: the store cannot be opened, or the model configuration makes no sense.
    """
    parts = _assemble(client, env, embedded=embedded, backend=backend, settings=settings)
    parts = dataclasses.replace(parts, tools=Registry(tools))
    makers = _MAKERS if role == "all" else {role: _MAKERS[role]}
    workers = [make(parts) for make in makers.values()]
    serving = Serving(
        role=role,
        queues=tuple(worker.task_queue for worker in workers),
        model=parts.profiles.for_role("planner", None).display,
        store_id=parts.records.store.store_id,
    )
    async with AsyncExitStack() as stack:
        stack.push_async_callback(parts.gateway.close)
        stack.enter_context(quick_threads())
        for worker in workers:
            await stack.enter_async_context(worker)
        try:
            yield serving
        finally:  # together: one after the other, each would take its grace period
            await asyncio.gather(*(worker.shutdown() for worker in workers))


def _assemble(
    client: Client,
    env: Env,
    *,
    embedded: bool,
    backend: SearchBackend | None,
    settings: Settings | None,
) -> _Parts:
    try:
        records = Records(open_store(env.store))
    except StoreLocationError as error:
        raise UsageError(f"SUREFOOT_STORE: {error}") from error
    try:
        profiles = profiles_from(
            env.api_key,
            env.openai_base_url,
            env.openai_model,
            env.openai_model_planner,
            env.openai_model_executor,
            env.openai_model_judge,
        ).priced(env.prices)
    except ProfileError as error:
        raise UsageError(str(error)) from error
    return _Parts(
        client=client,
        records=records,
        backend=backend or corpus_backend(env),
        profiles=profiles,
        gateway=Gateway(profiles),
        settings=settings or env.settings(embedded=embedded),
        env=env,
        embedded=embedded,
        tools=Registry(),
    )


def corpus_backend(env: Env) -> CorpusBackend:
    """The search in the collections of the state directory.

    Raises:
        UsageError: order by meaning is wanted, and its extra is not installed.
    """
    if env.semantic and not is_installed():
        raise UsageError(f"SUREFOOT_SEMANTIC: the extra is not installed; {INSTALL} installs it")
    return CorpusBackend(env.home, meaning=Meaning() if env.semantic else None)


def workflow_runner() -> ContextFreeRunner:
    """The sandbox of workflows: our pure modules pass through, nothing else does (DESIGN)."""
    restrictions = SandboxRestrictions.default.with_passthrough_modules(*_PASSED_THROUGH)
    return ContextFreeRunner(restrictions=restrictions)


def _workflow_worker(parts: _Parts) -> Worker:
    async def registered() -> list[str]:
        return await registered_search_attributes(parts.client)

    prepare = PrepareActivities(
        parts.records,
        parts.backend,
        parts.profiles,
        parts.settings.model_copy(update={"cli": _cli(parts.client)}),
        registered,
        parts.tools.specs(),
    )
    closing = CloseActivities(parts.records)
    return _worker(
        parts,
        names.QUEUE,
        [
            prepare.prepare,
            prepare.retask,
            closing.close,
            closing.draft,
            FindingsActivities(parts.records).gather,
            TrajectoryActivities(parts.records).spill,
        ],
        workflows=[AgentRun, IndexCorpus],
        workflow_runner=workflow_runner(),
        max_cached_workflows=_CACHED_WORKFLOWS,
        sticky_queue_schedule_to_start_timeout=_STICKY,
        # The answer to an update repeats it, and the server takes updates beyond the limit: not to
        # answer would stick the run. What a run sends of its own is bounded by its rules.
        disable_payload_error_limit=True,
    )


def _model_worker(parts: _Parts) -> Worker:
    model = ModelActivities(parts.records, parts.gateway)
    planned = PlanActivities(parts.records, parts.gateway)
    judge = JudgeActivities(parts.records, parts.gateway)
    return _worker(
        parts,
        names.MODEL_QUEUE,
        [
            model.decide,
            model.answer,
            planned.plan,
            planned.step_action,
            planned.write,
            judge.support,
            judge.goal,
            judge.topic,
            judge.conflict,
        ],
        max_concurrent_activities=_MODEL_CALLS,
    )


def _tools_worker(parts: _Parts) -> Worker:
    search = SearchActivities(parts.records, parts.backend)
    reading = ReadingActivities(parts.records, parts.backend)
    tools = ToolActivities(parts.records, parts.tools)
    index = IndexActivities(
        parts.env.home, lambda: allowed_roots(parts.env, embedded=parts.embedded)
    )
    return _worker(
        parts,
        names.TOOLS_QUEUE,
        [search.search, reading.read, reading.look, tools.tool, tools.check_call, index.index],
        max_concurrent_activities=_TOOL_CALLS,
    )


def _cli(client: Client) -> str:
    """What a `temporal` command needs to reach this server; "" for its own defaults."""
    address, namespace = client.service_client.config.target_host, client.namespace
    flags = [] if address in _DEFAULT_ADDRESSES else ["--address", address]
    flags += [] if namespace == "default" else ["--namespace", namespace]
    return shlex.join(flags)


def _worker(
    parts: _Parts, queue: str, activities: Sequence[Callable[..., Any]], **options: Any
) -> Worker:
    return Worker(
        parts.client,
        task_queue=queue,
        build_id=_build_id(),
        activities=activities,
        max_heartbeat_throttle_interval=_HEARTBEAT_THROTTLE,
        default_heartbeat_throttle_interval=_HEARTBEAT_THROTTLE,
        graceful_shutdown_timeout=_GRACE_EMBEDDED if parts.embedded else _GRACE,
        **options,
    )


@functools.cache
def _build_id() -> str:
    """Which code ran a workflow task, as histories show it.

    Without one the SDK hashes the bytecode of every loaded module: about a second at each start.
    """
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for package in ("workflows", "activities", "runtime"):
        for file in sorted((root / package).rglob("*.py")):
            digest.update(file.read_bytes())
    return f"surefoot-{digest.hexdigest()[:12]}"


_MAKERS: Final[dict[Role, Callable[[_Parts], Worker]]] = {
    "model": _model_worker,
    "tools": _tools_worker,
    "workflow": _workflow_worker,
}
