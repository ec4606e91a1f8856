"""`corpora`: the collections of the state directory, read from their files, without a server."""

import dataclasses
from typing import Any, Final

from activities.ingest.catalogue import CollectionInfo, collections, file_statuses
from cli.columns import columns
from cli.options import Output
from cli.outcome import OK
from cli.screen import dump, write
from runtime.errors import UsageError
from runtime.settings import Env, load_env
from workflows.contracts.corpus import FileProblem

_LIMIT: Final = 100_000  # rows of `corpora NAME`
_HEAD: Final = ("NAME", "VERSION", "INDEXED", "CHUNKS", "AT", "PATH")


async def corpora_command(name: str | None, output: Output) -> int:
    """List the collections, or one with the status of each file."""
    env = load_env()
    found = collections(env.home)
    if name is not None:
        return _one(env, name, {info.name: info for info in found}, output)
    if output.json:
        write(dump([dataclasses.asdict(info) for info in found]))
    elif found:
        write(columns([_HEAD, *map(_row, found)]))
    else:
        write("no collection yet: `starter.py index PATH --name NAME` makes one")
    return OK


def _one(env: Env, name: str, found: dict[str, CollectionInfo], output: Output) -> int:
    if name not in found:
        there = ", ".join(found) or "there is none yet"
        raise UsageError(f"no collection {name!r}; collections: {there}")
    info = found[name]
    if info.problem:
        raise UsageError(info.problem)
    files = file_statuses(env.home, name, limit=_LIMIT)
    if output.json:
        rows: list[dict[str, Any]] = [file.model_dump(mode="json") for file in files]
        write(dump({**dataclasses.asdict(info), "statuses": rows}))
        return OK
    write(columns([_HEAD, _row(info)]))
    write("")
    # The path comes last: it may hold anything, Chinese and blanks included.
    write(columns([("STATUS", "FILE"), *((f.status, _with_reason(f)) for f in files)]))
    return OK


def _with_reason(file: FileProblem) -> str:
    return f"{file.path}: {file.reason}" if file.reason else file.path


def _row(info: CollectionInfo) -> tuple[object, ...]:
    if info.problem:
        return (info.name, "-", "-", "-", "-", info.problem)
    counts = info.files or {}
    indexed = counts.get("indexed", 0)
    total = sum(counts.values())
    shown = f"{indexed} of {total}" if total != indexed else indexed
    return (info.name, info.version, shown, info.chunks, info.indexed_at, info.root)
