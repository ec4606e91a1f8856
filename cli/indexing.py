"""Build or refresh collections through the IndexCorpus workflow, with a progress bar."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any, Final, cast

from pydantic import TypeAdapter, ValidationError
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError

from cli.corpora import Corpus, existing_path, name_for, roots_by_name, same_path
from cli.execute import CommandError
from cli.options import Output
from cli.outcome import OK
from cli.pasted import pasted
from cli.patience import patient_result
from cli.plain import line
from cli.screen import Screen, dump, write
from cli.session import Session, connected, is_embedded, someone_polls, working
from runtime.errors import UsageError
from runtime.roots import add_root
from runtime.settings import load_env
from workflows.contracts.base import Name
from workflows.contracts.corpus import IndexProgress
from workflows.contracts.names import INDEX_CORPUS, INVALID_TASK, QUEUE

_POLL: Final = 0.25  # seconds between looks at the heartbeat
_LISTED: Final = 20


async def index_command(path: str, name: str | None, output: Output) -> int:
    """`index PATH --name NAME`."""
    env, embedded = load_env(), is_embedded()
    found = existing_path(path)
    if found is None and embedded:
        raise UsageError(f"{path}: no such file or folder")
    place = found or Path(path)  # with a configured server the path is one on its workers
    if name is None:
        name = name_for(place, roots_by_name(env) if embedded else {})
    _check_name(name)
    corpus = Corpus(name, place)
    with Screen() as screen:
        async with connected(env, embedded=embedded) as session, working(session):
            if embedded:
                _tell_move(session, corpus, screen)
            result = await index(session, corpus, screen)
    if output.json:
        write(dump(result))
    else:
        write(_lines(result))
    return OK


def _check_name(name: str) -> None:
    """Check a collection's name as the workflow will."""
    try:
        TypeAdapter(Name).validate_python(name)
    except ValidationError:
        raise UsageError(
            f"--name: expected 1-64 letters, digits, '.', '_' or '-', found {name!r}"
        ) from None


def _tell_move(session: Session, corpus: Corpus, screen: Screen) -> None:
    before = roots_by_name(session.env).get(corpus.name)
    if before and corpus.path and not same_path(Path(before), corpus.path):
        screen.warn(f"collection {corpus.name} was built from {before}; now from {corpus.path}")


async def index_first(session: Session, corpora: list[Corpus], screen: Screen) -> None:
    """Index every corpus that is a path, one after the other."""
    for corpus in corpora:
        if corpus.path is not None:
            result = await index(session, corpus, screen)
            if not result["chunks"]:
                screen.warn(f"nothing in {corpus.path} could be indexed")


async def index(session: Session, corpus: Corpus, screen: Screen) -> dict[str, Any]:
    """Build or refresh one collection; returns the result of IndexCorpus.

    Raises:
        UsageError: the path or the name is refused.
        CommandError: indexing failed; the index that was there stays as it was.
    """
    path = _sendable(corpus)
    if session.embedded:
        add_root(session.env.home, path)
    elif not await someone_polls(session):
        screen.warn(f"no worker polls on {session.address}: indexing waits for one")
    handle = await _started(session, corpus.name, path)
    try:
        result = await _watched(session, handle, corpus.name, screen)
    except asyncio.CancelledError:
        with contextlib.suppress(asyncio.CancelledError):
            await handle.cancel()
        raise
    screen.clear()
    screen.say(_lines(result, problems=False))
    return result


def _sendable(corpus: Corpus) -> Path:

    path = cast("Path", corpus.path)
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"{str(path)!r}: the name of the folder is not UTF-8; rename it, or link to it"
        ) from None
    return path


async def _started(session: Session, name: str, path: Path) -> WorkflowHandle[Any, Any]:
    """Start IndexCorpus; one collection is built by one run at a time.

    A run that another session left behind is waited for first: what it saw may be older.
    """
    while True:
        try:
            return await session.client.start_workflow(
                INDEX_CORPUS,
                {"name": name, "path": str(path)},
                id=f"index-{name}",
                task_queue=QUEUE,
                static_summary=f"Index {name}",
            )
        except WorkflowAlreadyStartedError:
            with contextlib.suppress(WorkflowFailureError):
                await patient_result(session.client.get_workflow_handle(f"index-{name}"))


async def _watched(
    session: Session, handle: WorkflowHandle[Any, Any], name: str, screen: Screen
) -> dict[str, Any]:

    showing = asyncio.create_task(_show(session, handle, name, screen))
    try:
        return cast("dict[str, Any]", await patient_result(handle))
    except WorkflowFailureError as error:
        kind, reason = _root_cause(error)
        if kind == INVALID_TASK:
            hint = "" if session.embedded else "; a configured server's workers index only what "
            raise UsageError(
                reason + (hint + "their own SUREFOOT_ROOTS allows" if hint else "")
            ) from None
        raise CommandError(f"collection {name} was not indexed: {reason}") from None
    finally:
        showing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await showing


def _root_cause(error: BaseException) -> tuple[str, str]:
    """Type and message of what lies at the bottom of a failure."""
    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, ApplicationError):
        return error.type or "", error.message
    return type(error).__name__, str(error)


async def _show(
    session: Session, handle: WorkflowHandle[Any, Any], name: str, screen: Screen
) -> None:
    """The indexer's heartbeat as a progress bar."""
    while True:
        await asyncio.sleep(_POLL)
        with contextlib.suppress(RPCError):  # the bar is a comfort; the result is waited for apart
            pending = (await handle.describe()).raw_description.pending_activities
            for activity in pending:
                payloads = activity.heartbeat_details.payloads
                if payloads:
                    beat = await session.client.data_converter.decode(payloads, [IndexProgress])
                    screen.bar(f"indexing {name}", beat[0].done, beat[0].total)


def _lines(result: dict[str, Any], *, problems: bool = True) -> str:
    """An IndexResult in words."""
    counts = ", ".join(f"{count} {status}" for status, count in sorted(result["files"].items()))
    text = (
        f"collection {result['name']}, version {result['version']}: "
        f"{result['chunks']} chunks; files: {counts or 'none'}"
    )
    if not problems:
        return text
    shown = result["problems"][:_LISTED]
    lines = [f"  {line(item['path'])}: {item['status']}, {line(item['reason'])}" for item in shown]
    if len(result["problems"]) > _LISTED:
        lines.append(f"  … all of them: `{pasted('corpora', result['name'])}`")
    return "\n".join([text, *lines])
