"""Which collections there are, and the status of their files (`starter.py corpora`)."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from activities.ingest.database import (
    CollectionDamagedError,
    collection_names,
    collection_path,
    meta,
    open_reader,
)
from workflows.contracts.corpus import FileProblem, FileStatus


@dataclass(frozen=True)
class CollectionInfo:
    """A collection as it is shown.

    Attributes:
        root: the folder or file it was made from.
        version: grows by one with each update that changed something.
        indexed_at: ISO time of the last update, UTC.
        files: how many files ended with each status.
        problem: why it can not be read, "" if it can; everything else is then blank.
    """

    name: str
    root: str = ""
    version: int = 0
    indexed_at: str = ""
    chunks: int = 0
    files: dict[str, int] | None = None
    problem: str = ""


def collections(home: Path) -> list[CollectionInfo]:
    """Every collection of a state directory, sorted by name; damaged ones with their problem."""
    return [_info(home, name) for name in collection_names(home)]


def collection_root(home: Path, name: str) -> str | None:
    """The folder or file a collection was made from; None if there is no such collection."""
    if name not in collection_names(home):
        return None
    return _info(home, name).root


def file_statuses(
    home: Path, name: str, status: FileStatus | None = None, limit: int = 1000
) -> list[FileProblem]:
    """Files of a collection with status and reason, by path; only those of `status` if given.

    Raises:
        CollectionMissingError: there is no such collection.
        CollectionDamagedError: its file can not be read.
    """
    path = collection_path(home, name)
    try:
        with closing(open_reader(path)) as db:
            rows = db.execute(
                "SELECT path, status, reason FROM files WHERE ? IN ('', status)"
                " ORDER BY path LIMIT ?",
                (status or "", limit),
            ).fetchall()
    except sqlite3.Error as error:
        raise CollectionDamagedError(path, error) from error
    return [FileProblem(path=p, status=s, reason=r) for p, s, r in rows]


def _info(home: Path, name: str) -> CollectionInfo:
    path = collection_path(home, name)
    try:
        with closing(open_reader(path)) as db:
            values = meta(db)
            return CollectionInfo(
                name=name,
                root=str(values["root"]),
                version=int(values["version"]),
                indexed_at=str(values["indexed_at"]),
                chunks=db.execute("SELECT count(*) FROM chunks").fetchone()[0],
                files=dict(
                    db.execute("SELECT status, count(*) FROM files GROUP BY status ORDER BY 1")
                ),
            )
    except (OSError, sqlite3.Error, KeyError) as error:
        return CollectionInfo(name=name, problem=str(error))
