"""Start runs and see them to their end: `run`, `start`, `resume`, `watch`."""

import asyncio
import dataclasses
import logging
from typing import Any

from temporalio.client import WorkflowExecutionStatus
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from cli.answer import answer
from cli.choosing import given
from cli.corpora import Corpus, chosen
from cli.follow import follow
from cli.indexing import index_first
from cli.options import Follow, RunOptions, StartOptions, TaskOptions
from cli.outcome import OK, Outcome, exit_code
from cli.pasted import pasted
from cli.records import stored_result
from cli.screen import Screen, dump, write
from cli.session import SILENT, Session, connected, is_embedded, profiles_of, someone_polls, working
from cli.task import new_id, task_of
from runtime.errors import UsageError
from runtime.settings import Env, load_env
from workflows.contracts.base import cut_bytes
from workflows.contracts.names import AGENT_RUN, QUEUE
from workflows.contracts.task import Task

_SUMMARY_BYTES = 200
_LISTING_SECONDS = 1.0  # the list of runs lags a little behind a server that was just started


@dataclasses.dataclass(frozen=True)
class Job:
    """A checked task with the corpora that are indexed before it starts."""

    task: Task
    corpora: list[Corpus]
    workflow_id: str


async def run_command(options: RunOptions) -> int:
    """`run GOAL`: the main job to its end."""
    env, embedded = _environment()
    job = _job(options, env, embedded=embedded)
    return await perform(env, job, options, embedded=embedded)


async def start_command(options: StartOptions) -> int:
    """`start GOAL`: the same, but returns as soon as the run is on the server."""
    env, embedded = _environment()
    job = _job(options, env, embedded=embedded)
    with Screen() as screen:
        async with connected(env, embedded=embedded) as session:
            if any(corpus.path for corpus in job.corpora):
                async with working(session):
                    await index_first(session, job.corpora, screen)
            await begin(session, job)
            polled = await someone_polls(session)
            _tell_started(session, job.workflow_id, screen, polled=polled, output=options.json)
    return OK


async def resume_command(workflow_id: str | None, options: Follow) -> int:
    """`resume [ID]`: go on with what a session of this state directory left behind."""
    given({"ID": workflow_id})
    env, embedded = _environment()
    if not embedded:
        raise UsageError(
            "resume is for the embedded server; on a configured server a run goes on as soon as a "
            "worker polls (`uv run worker.py`): follow it with `starter.py watch ID`"
        )
    with Screen(events=options.events) as screen:
        async with connected(env, embedded=True, log_level=_level(options)) as session:
            ids = [workflow_id] if workflow_id is not None else await _open_runs(session)
            async with working(session):
                outcomes = [await _ended(session, each, screen) for each in ids]
            if not ids:
                screen.say("nothing to resume: no run is open in this state directory")
            if options.json and workflow_id is None:
                write(dump([{"workflow_id": o.workflow_id, **o.document()} for o in outcomes]))
                return max((exit_code(o, strict=options.strict) for o in outcomes), default=OK)
            codes = [
                await answer(env, each, screen, as_json=options.json, strict=options.strict)
                for each in outcomes
            ]
    return max(codes, default=OK)


async def watch_command(workflow_id: str, options: Follow) -> int:
    """`watch ID`: follow a run to its end; whoever works on it works elsewhere."""
    env, embedded = load_env(), is_embedded()
    with Screen(events=options.events) as screen:
        async with connected(env, embedded=embedded) as session:
            if await is_open(session, workflow_id) and not await someone_polls(session):
                screen.warn(_nobody_works(session, workflow_id))
            outcome = await _ended(session, workflow_id, screen)
            return await answer(env, outcome, screen, as_json=options.json, strict=options.strict)


async def perform(env: Env, job: Job, options: Follow, *, embedded: bool) -> int:
    """Index, start, follow and answer, in one process."""
    with Screen(events=options.events) as screen:
        async with (
            connected(env, embedded=embedded, log_level=_level(options)) as session,
            working(session),
        ):
            await index_first(session, job.corpora, screen)
            await begin(session, job)
            screen.say(f"run {job.workflow_id}")
            if session.ui:
                screen.say(f"Web UI: {session.ui_of(job.workflow_id)}")
            if not embedded and not await someone_polls(session):
                screen.warn(_nobody_works(session, job.workflow_id))
            outcome = await _followed(session, job.workflow_id, screen)
            return await answer(env, outcome, screen, as_json=options.json, strict=options.strict)


async def begin(session: Session, job: Job) -> None:
    """Start the execution.

    Raises:
        UsageError: the id was used before.
    """
    try:
        await session.client.start_workflow(
            AGENT_RUN,
            job.task.model_dump(mode="json", exclude_unset=True),
            id=job.workflow_id,
            task_queue=QUEUE,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            static_summary=cut_bytes(job.task.goal, _SUMMARY_BYTES),
        )
    except WorkflowAlreadyStartedError:
        raise UsageError(
            f"--id {job.workflow_id}: a run with this id exists; choose another, or look at it "
            f"with `{pasted('show', job.workflow_id)}`"
        ) from None


async def is_open(session: Session, workflow_id: str) -> bool:
    """Whether a run is known to the server and has not ended."""
    try:
        found = await session.client.get_workflow_handle(workflow_id).describe()
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise
    return found.status is WorkflowExecutionStatus.RUNNING


def _level(options: Follow) -> int:
    return SILENT if options.events else logging.ERROR


def _environment() -> tuple[Env, bool]:

    env, embedded = load_env(), is_embedded()
    if embedded:  # elsewhere only the workers know the models
        profiles_of(env)
    return env, embedded


def _job(options: TaskOptions, env: Env, *, embedded: bool) -> Job:

    task_of(options, [])  # what is wrong with the task is told before what is wrong with paths
    given({"--id": options.id})
    corpora = chosen(options.corpus, env, embedded=embedded)
    names = [corpus.name for corpus in corpora] if options.corpus else []
    return Job(task_of(options, names), corpora, options.id or new_id())


async def _followed(session: Session, workflow_id: str, screen: Screen) -> Outcome:
    """Follow; whoever is interrupted is told how to go on."""
    try:
        return await follow(session, workflow_id, screen)
    except asyncio.CancelledError:
        screen.clear()
        goes_on = (
            f"go on with `{pasted('resume', workflow_id)}`"
            if session.embedded
            else f"it goes on; follow it with `{pasted('watch', workflow_id)}`"
        )
        screen.say(f"left run {workflow_id}, nothing is lost: {goes_on}")
        raise


async def _ended(session: Session, workflow_id: str, screen: Screen) -> Outcome:
    """The outcome of a run: waited for if it is open, from the store if the server forgot it."""
    if not await is_open(session, workflow_id):
        kept = await stored_result(session.env, workflow_id)
        if kept is not None:
            return Outcome(workflow_id, "completed", result=kept)
    return await _followed(session, workflow_id, screen)


async def _open_runs(session: Session) -> list[str]:
    """Ids of open runs, oldest first."""
    query = f"WorkflowType = '{AGENT_RUN}' AND ExecutionStatus = 'Running'"
    for pause in (_LISTING_SECONDS, 0.0):
        found = [execution async for execution in session.client.list_workflows(query)]
        if found or not pause:
            return [e.id for e in sorted(found, key=lambda e: e.start_time)]
        await asyncio.sleep(pause)
    return []


def _nobody_works(session: Session, workflow_id: str) -> str:
    if session.embedded:
        return (
            f"no session works on it: `{pasted('resume', workflow_id)}` or `{pasted('serve')}` does"
        )
    return (
        f"no worker polls on {session.address}: the run waits until one does (`uv run worker.py`)"
    )


def _tell_started(
    session: Session, workflow_id: str, screen: Screen, *, polled: bool, output: bool
) -> None:
    names = ("watch", "show", "stop", *(["resume"] if session.embedded else []))
    commands = {name: pasted(name, workflow_id) for name in names}
    if output:
        document: dict[str, Any] = {
            "workflow_id": workflow_id,
            "address": session.address,
            "ui": session.ui_of(workflow_id),
            "worker_polls": polled,
            "commands": commands,
        }
        write(dump(document))
    else:
        write("\n".join([workflow_id, *(f"  {command}" for command in commands.values())]))
    if not polled:
        screen.warn(_nobody_works(session, workflow_id))
