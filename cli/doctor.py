"""`doctor`: look at everything a run needs, and say what to fix."""

import asyncio
import dataclasses
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final, Literal, cast

from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from activities.ingest.catalogue import CollectionInfo, collections, file_statuses
from activities.model.gateway import Gateway
from activities.model.profiles import Profile, ProfileError, Profiles
from activities.model.request import Request
from activities.search.backend import InvalidToolResultError, ToolFailedError
from activities.search.corpus import CorpusBackend
from activities.store.base import EvidenceLostError
from cli.columns import columns
from cli.options import Output
from cli.outcome import OK, OTHER
from cli.pasted import pasted
from cli.records import opened_store
from cli.screen import dump, write
from cli.session import Session, connected, is_embedded, profiles_of, someone_polls, working
from runtime.connect import registered_search_attributes
from runtime.errors import UsageError
from runtime.settings import Env, load_env
from runtime.workers import corpus_backend
from workflows.contracts.base import Strict
from workflows.contracts.corpus import FileStatus
from workflows.contracts.names import SEARCH_ATTRIBUTES
from workflows.contracts.task import Settings, Task
from workflows.logic.resolve import resolve

State = Literal["ok", "warn", "broken"]
_MODEL_SECONDS: Final = 60.0
_PROBE: Final = "doctor"
_NAMED: Final = 3
# Other formats, empty files and programs are left out on purpose.
_AS_IT_SHOULD_BE: Final = frozenset({"indexed", "unsupported", "empty", "binary"})


@dataclasses.dataclass(frozen=True)
class Check:
    """One thing looked at: what was found, and what to do where it is not right."""

    name: str
    state: State
    found: str
    fix: str = ""


class _Ping(Strict):
    ok: bool


async def doctor_command(output: Output, *, model_call: bool) -> int:
    """Run every check; exit code 1 if something is broken."""
    env = load_env()
    checks = [check async for check in _checks(env, model_call=model_call)]
    if output.json:
        write(dump([dataclasses.asdict(check) for check in checks]))
    else:
        lines = [(c.state, c.name, c.found + (f" -> {c.fix}" if c.fix else "")) for c in checks]
        write(columns(lines))
    return OTHER if any(check.state == "broken" for check in checks) else OK


async def _checks(env: Env, *, model_call: bool) -> AsyncGenerator[Check]:
    embedded = is_embedded()
    yield await _store(env)
    yield await _model(env, embedded=embedded, call=model_call)
    async for check in _corpora(env, embedded=embedded):
        yield check
    try:
        async with connected(env, embedded=embedded) as session:
            yield Check("server", "ok", _server(session))
            yield await _worker(session)
            yield await _search_attributes(session)
    except UsageError as error:
        fix = "see the message" if embedded else "start it, or unset TEMPORAL_ADDRESS"
        yield Check("server", "broken", str(error), fix)


def _server(session: Session) -> str:
    kind = "embedded server" if session.embedded else "configured server"
    home = f" of {session.env.home}" if session.embedded else ""
    return f"{kind}{home} answers at {session.address}, namespace {session.client.namespace}"


async def _store(env: Env) -> Check:
    data = b"written by doctor"
    try:
        store = opened_store(env)
        ref = await store.put(_PROBE, data)
        await store.get(_PROBE, ref)
    except (UsageError, OSError, EvidenceLostError) as error:
        return Check("store", "broken", str(error), "set SUREFOOT_STORE to a writable directory")
    return Check("store", "ok", f"{env.store} can be written and read")


async def _model(env: Env, *, embedded: bool, call: bool) -> Check:
    try:
        profiles = profiles_of(env)
    except ProfileError as error:
        return Check("model", "broken", str(error), "set or unset the OPENAI_ variables")
    profile = profiles.for_role("planner", None)
    if profile.kind == "extractive":
        elsewhere = "" if embedded else "; workers elsewhere have settings of their own"
        fix = "set OPENAI_API_KEY and OPENAI_MODEL for a language model"
        return Check("model", "ok", f"{profile.display}{elsewhere}", fix)
    if not call:
        return Check("model", "ok", f"{profile.display} is configured; not asked")
    return await _asked(profiles, profile)


async def _asked(profiles: Profiles, profile: Profile) -> Check:
    """One real call: nothing else shows that key, address and model fit together."""
    gateway = Gateway(profiles)
    request = Request(
        reply=_Ping,
        schema_name=_PROBE,
        system="Reply with the JSON object that the schema asks for, ok being true.",
        user="{}",
        timeout=_MODEL_SECONDS,
    )
    started = time.monotonic()
    try:
        await gateway.complete(profile, request)
    except ApplicationError as error:
        return Check("model", "broken", f"{profile.display}: {error.message}", "see the message")
    finally:
        await gateway.close()
    seconds = time.monotonic() - started
    return Check("model", "ok", f"{profile.display} answered in {seconds:.1f} s")


async def _corpora(env: Env, *, embedded: bool) -> AsyncGenerator[Check]:
    found = collections(env.home)
    if not found and embedded:
        fix = "`starter.py index PATH --name default`, or `run --corpus PATH`"
        yield Check("corpora", "warn", "no collection yet", fix)
    try:
        backend = corpus_backend(env)
    except UsageError as error:
        yield Check("search", "broken", str(error), "install it, or unset SUREFOOT_SEMANTIC")
        backend = CorpusBackend(env.home)
    for info in found:
        yield await _searched(env, backend, info)


async def _searched(env: Env, backend: CorpusBackend, info: CollectionInfo) -> Check:
    """One real query, for the name of the collection's own place."""
    name = f"corpus {info.name}"
    if info.problem:
        return Check(name, "broken", info.problem, "see the message")
    again = f"index it again: `{pasted('index', info.root, name=info.name)}`"
    query = Path(info.root).name or info.name
    task = resolve(Task(goal=query, corpora=[info.name]), "", "", Settings(), extractive=False)
    try:
        hits = await backend.search(query, task)
    except (OSError, ToolFailedError, InvalidToolResultError) as error:
        return Check(name, "broken", str(error), again)
    if not info.chunks:
        return Check(name, "warn", f"{info.root}: nothing in it was indexed", again)
    count = f"{info.chunks} chunks, a query for {query!r} gave {len(hits.passages)} passages"
    unread = await asyncio.to_thread(_not_read, env, info)
    found = f"{info.root}, version {info.version}: {count}{unread}"
    if not unread:
        return Check(name, "ok", found)
    return Check(name, "warn", found, f"all of them: `{pasted('corpora', info.name)}`")


def _not_read(env: Env, info: CollectionInfo) -> str:
    """The files that were not fully read, the first with their reasons."""
    failed = {k: n for k, n in (info.files or {}).items() if k not in _AS_IT_SHOULD_BE}
    if not failed:
        return ""
    first = [
        file
        for status in failed
        for file in file_statuses(env.home, info.name, cast("FileStatus", status), _NAMED)
    ]
    named = sorted(first, key=lambda file: file.path)[:_NAMED]
    shown = "; ".join(f"{file.path} ({file.status}: {file.reason})" for file in named)
    more = sum(failed.values()) - len(named)
    return f"; not fully read: {shown}" + (f" and {more} more" if more else "")


async def _worker(session: Session) -> Check:
    if not session.embedded:
        if await someone_polls(session):
            return Check("worker", "ok", "a worker polls")
        return Check("worker", "broken", "no worker polls", "start one: `uv run worker.py`")
    # On a home of its own nothing is left behind that this worker could go on with.
    with tempfile.TemporaryDirectory() as home:
        env = session.env.model_copy(update={"home": Path(home), "store": str(Path(home) / "s")})
        try:
            async with connected(env, embedded=True) as probe, working(probe):
                pass
        except (UsageError, ProfileError, RuntimeError, RPCError) as error:
            return Check("worker", "broken", str(error), "see the message")
    return Check("worker", "ok", "a worker starts in this environment")


async def _search_attributes(session: Session) -> Check:
    missing = sorted(
        set(SEARCH_ATTRIBUTES) - set(await registered_search_attributes(session.client))
    )
    if not missing:
        return Check("search attributes", "ok", "all are registered")
    flags = " ".join(f"--name {name} --type {SEARCH_ATTRIBUTES[name]}" for name in missing)
    return Check(
        "search attributes",
        "warn",
        f"missing: {', '.join(missing)}; runs work without, the run list cannot filter by them",
        f"`uv run temporal operator search-attribute create {flags}`",
    )
