"""Building and refreshing a collection, all of it in one transaction.

A file is read again when its size, time or content changed; files that are gone leave the index.
One bad file never stops the rest: each ends with a status and a reason. If the update fails or is
cancelled, the index before it stays.
"""

import datetime
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from activities.ingest.database import collection_path, is_name, meta, writing
from activities.ingest.document import UnreadableFileError
from activities.ingest.documents import TOKENS, Documents
from activities.ingest.pool import Job, reading
from activities.ingest.readers import READERS_VERSION, refuse_by_name
from activities.ingest.walk import FoundFile, LeftOut, Walker
from activities.ingest.wire import Frame, goes_on
from workflows.contracts.corpus import (
    PROBLEMS_SHOWN,
    FileProblem,
    FileStatus,
    IndexProgress,
    IndexResult,
)

# A file changed within the last moments may change again without a new time stamp.
_SETTLED_NS: Final = 2_000_000_000


class IndexRefusedError(ValueError):
    """What was asked for is not allowed or not there; the message says what is expected."""


class IndexCancelledError(Exception):
    """The caller asked to stop; nothing was changed."""


def index_folder(
    home: Path,
    name: str,
    path: str,
    roots: Sequence[Path],
    progress: Callable[[IndexProgress], None],
    cancelled: Callable[[], bool] = lambda: False,
) -> IndexResult:
    """Make a collection from a folder or a single file, or refresh it.

    Args:
        home: the state directory.
        name: the collection; one that exists is refreshed, also from another folder.
        path: a folder or file under one of `roots`.
        roots: folders that may be indexed.
        progress: told the counts after each file.
        cancelled: asked before each file and while one is read.

    Raises:
        IndexRefusedError: bad name, no such path, or a path outside the roots.
        IndexBusyError: the collection is being indexed elsewhere.
        IndexCancelledError: `cancelled` said so.
        CollectionDamagedError: the collection's file is damaged.
        OSError, sqlite3.Error: the disk failed.
    """
    if not is_name(name):
        raise IndexRefusedError(
            f"name: expected 1 to 64 letters, digits, '_', '.' or '-', found {name[:80]!r}"
        )
    root = allowed_path(path, roots)
    with writing(collection_path(home, name)) as db:
        update = _Update(db, root, progress, cancelled)
        return update.run(name, list(Walker(root, home).walk()))


def allowed_path(path: str, roots: Sequence[Path]) -> Path:
    """The real path of what is to be indexed, under one of the roots by its parts.

    Raises:
        IndexRefusedError: it is not there, no path at all, or outside of every root.
    """
    if not path.strip() or any(c < " " for c in path):
        raise IndexRefusedError(f"path: expected a folder or file, found {path[:200]!r}")
    try:
        real = Path(path).resolve(strict=True)
    except (OSError, RuntimeError):
        raise IndexRefusedError(f"path: no such folder or file: {path[:200]!r}") from None
    known = [root.resolve() for root in roots]
    if not any(real.is_relative_to(root) for root in known):
        allowed = ", ".join(str(root) for root in known) or "none"
        raise IndexRefusedError(
            f"path: {str(real)!r} is outside of the folders that may be indexed"
            f" (allowed: {allowed})"
        )
    return real


class _Update:
    """One update of a collection, inside of its transaction."""

    def __init__(
        self,
        db: sqlite3.Connection,
        root: Path,
        progress: Callable[[IndexProgress], None],
        cancelled: Callable[[], bool],
    ) -> None:
        self._db = db
        self._root = root
        self._progress = progress
        self._cancelled = cancelled
        self._meta = meta(db)
        self._documents = Documents(db)
        same_readers = self._meta.get("readers") == READERS_VERSION
        self._trust_content = same_readers
        self._trust_times = same_readers and self._meta.get("root") == str(root)
        self._before_ns = int(self._meta.get("indexed_ns", 0)) - _SETTLED_NS
        self._done = self._total = 0

    def run(self, name: str, entries: list[FoundFile | LeftOut]) -> IndexResult:
        started_ns = time.time_ns()
        if self._meta.get("tokens") != TOKENS:
            self._documents.tokenise_again()
        self._total = len(entries)
        self._progress(IndexProgress(done=0, total=self._total))
        reading_now: dict[str, FoundFile] = {}
        with reading() as pool:
            for job, frames in pool.answers(self._jobs(entries, reading_now), self._cancelled):
                self._take(reading_now.pop(job.frame["path"]), frames)
        self._prune({entry.path for entry in entries})
        self._finish(started_ns)
        return _result(self._db, name)

    def _jobs(
        self, entries: list[FoundFile | LeftOut], reading_now: dict[str, FoundFile]
    ) -> Iterator[Job]:
        """What has to be read; everything else is done on the way."""
        for entry in entries:
            self._stop_if_cancelled()
            if isinstance(entry, LeftOut):
                self._left_out(entry)
            elif (known := self._known(entry)) is not None:
                reading_now[entry.path] = entry
                frame = {
                    "file": [str(entry.real), *entry.identity],
                    "path": entry.path,
                    "mtime_ns": entry.mtime_ns,
                    "known": known,
                }
                yield Job(frame, entry.size)
                continue
            self._tell(entry.path)

    def _known(self, file: FoundFile) -> str | None:
        """The hash of the reading that still holds, "" if none; None if nothing is to be read."""
        row = self._db.execute(
            "SELECT status, size, mtime_ns, raw_sha256 FROM files WHERE path = ?", (file.path,)
        ).fetchone()
        # What was never read has no hash: it may have failed for a reason that is gone.
        untouched = row is not None and row[3] and row[1:3] == (file.size, file.mtime_ns)
        if untouched and self._trust_times and file.mtime_ns < self._before_ns:
            return None
        try:
            refuse_by_name(file.path)
        except UnreadableFileError as error:
            self._refused(file, error.status, error.reason, "")
            return None
        return row[3] if row is not None and self._trust_content else ""

    def _take(self, file: FoundFile, frames: Iterator[Frame]) -> None:
        """What the reader made of a file."""
        document = 0
        problem = raw = text = ""
        last = None
        for last in frames:
            if last["kind"] == "document":
                problem, raw, text = last["problem"], last["raw"], last["text"]
                self._documents.remove(file.path)
                document = self._documents.add(file.path, last)
            elif last["kind"] == "chunks":
                self._documents.add_chunks(document, text, last["rows"])
        if last is None or goes_on(last):
            self._stop_if_cancelled()
            raise RuntimeError(f"no whole answer about {file.path}")
        if last["kind"] == "end":
            self._documents.end(document, last["sketch"])
            self._set_status(file, "partial" if problem else "indexed", problem, raw)
        elif last["kind"] == "refused":
            self._refused(file, last["status"], last["reason"], last["raw"])
        else:
            self._touch(file)
        self._tell(file.path)

    def _tell(self, path: str) -> None:
        self._done += 1
        self._progress(IndexProgress(done=self._done, total=self._total, path=path))

    def _stop_if_cancelled(self) -> None:
        if self._cancelled():
            raise IndexCancelledError(f"indexing of {self._root} was cancelled")

    def _left_out(self, entry: LeftOut) -> None:
        self._documents.remove(entry.path)
        self._db.execute(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, 0, 0, '')",
            (entry.path, entry.status, entry.reason),
        )

    def _refused(self, file: FoundFile, status: FileStatus, reason: str, raw: str) -> None:
        self._documents.remove(file.path)
        self._set_status(file, status, reason, raw)

    def _touch(self, file: FoundFile) -> None:
        self._db.execute(
            "UPDATE files SET size = ?, mtime_ns = ? WHERE path = ?",
            (file.size, file.mtime_ns, file.path),
        )

    def _set_status(self, file: FoundFile, status: FileStatus, reason: str, raw: str) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)",
            (file.path, status, reason, file.size, file.mtime_ns, raw),
        )

    def _prune(self, present: set[str]) -> None:
        for (path,) in self._db.execute("SELECT path FROM files").fetchall():
            if path not in present:
                self._documents.remove(path)
                self._db.execute("DELETE FROM files WHERE path = ?", (path,))

    def _finish(self, started_ns: int) -> None:
        version = int(self._meta.get("version", 0))
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        values: dict[str, str | int] = {
            "version": version + 1 if self._documents.changed or version == 0 else version,
            "root": str(self._root),
            "readers": READERS_VERSION,
            "tokens": TOKENS,
            "indexed_at": now,
            "indexed_ns": started_ns,
        }
        self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())


def _result(db: sqlite3.Connection, name: str) -> IndexResult:
    # Failures first: files of other formats are many and seldom a surprise.
    rows = db.execute(
        "SELECT path, status, reason FROM files WHERE status != 'indexed'"
        " ORDER BY status = 'unsupported', path LIMIT ?",
        (PROBLEMS_SHOWN,),
    ).fetchall()
    return IndexResult(
        name=name,
        version=int(meta(db)["version"]),
        chunks=db.execute("SELECT count(*) FROM chunks").fetchone()[0],
        files=dict(db.execute("SELECT status, count(*) FROM files GROUP BY status ORDER BY 1")),
        problems=[FileProblem(path=p, status=s, reason=r) for p, s, r in rows],
    )
