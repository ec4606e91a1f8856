"""Building and refreshing a collection, all of it in one transaction.

A file is read again when its size, time or content changed; files that are gone leave the index.
One bad file never stops the rest: each ends with a status and a reason. If the update fails or is
cancelled, the index before it stays.
"""

import datetime
import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from activities.ingest.database import collection_path, is_name, meta, renew_tokens, writing
from activities.ingest.document import Chunk, UnreadableFileError
from activities.ingest.readers import READERS_VERSION, Document, read_bytes, read_document
from activities.ingest.walk import FoundFile, LeftOut, Walker
from workflows.contracts.corpus import (
    PROBLEMS_SHOWN,
    FileProblem,
    FileStatus,
    IndexProgress,
    IndexResult,
)
from workflows.logic.tokens import TOKENS_VERSION, tokens

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
        cancelled: asked before each file.

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
        update = _Update(db, root)
        return update.run(name, list(Walker(root, home).walk()), progress, cancelled)


def allowed_path(path: str, roots: Sequence[Path]) -> Path:
    """The real path of what is to be indexed, under one of the roots by its parts.

    Raises:
        IndexRefusedError: it is not there, no path at all, or outside of every root.
    """
    if not path.strip() or any(ord(c) < 32 for c in path):  # noqa: PLR2004 - control characters
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

    def __init__(self, db: sqlite3.Connection, root: Path) -> None:
        self._db = db
        self._root = root
        self._meta = meta(db)
        self._changed = False
        same_readers = self._meta.get("readers") == READERS_VERSION
        self._trust_content = same_readers
        self._trust_times = same_readers and self._meta.get("root") == str(root)
        self._before_ns = int(self._meta.get("indexed_ns", 0)) - _SETTLED_NS

    def run(
        self,
        name: str,
        entries: list[FoundFile | LeftOut],
        progress: Callable[[IndexProgress], None],
        cancelled: Callable[[], bool],
    ) -> IndexResult:
        started_ns = time.time_ns()
        if self._meta.get("tokens") != TOKENS_VERSION:
            self._tokenise_again()
        progress(IndexProgress(done=0, total=len(entries)))
        for number, entry in enumerate(entries, 1):
            if cancelled():
                raise IndexCancelledError(f"indexing of {name!r} was cancelled")
            if isinstance(entry, LeftOut):
                self._left_out(entry)
            else:
                self._file(entry)
            progress(IndexProgress(done=number, total=len(entries), path=entry.path))
        self._prune({entry.path for entry in entries})
        self._finish(started_ns)
        return _result(self._db, name)

    def _file(self, file: FoundFile) -> None:
        row = self._db.execute(
            "SELECT status, size, mtime_ns, raw_sha256 FROM files WHERE path = ?", (file.path,)
        ).fetchone()
        untouched = row is not None and row[1:3] == (file.size, file.mtime_ns)
        if untouched and self._trust_times and file.mtime_ns < self._before_ns:
            return
        raw = ""
        try:
            data = read_bytes(file.real, file.size)
            raw = hashlib.sha256(data).hexdigest()
            if row is not None and row[3] == raw and self._trust_content:
                self._touch(file)
                return
            document = read_document(data, file.path, file.mtime_ns)
        except UnreadableFileError as error:
            self._remove_document(file.path)
            self._set_status(file, error.status, error.reason, raw)
            return
        self._remove_document(file.path)
        self._add_document(file.path, document)
        status: FileStatus = "partial" if document.problem else "indexed"
        self._set_status(file, status, document.problem, raw)

    def _left_out(self, entry: LeftOut) -> None:
        self._remove_document(entry.path)
        self._db.execute(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, 0, 0, '')",
            (entry.path, entry.status, entry.reason),
        )

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

    def _remove_document(self, path: str) -> None:
        row = self._db.execute("SELECT id FROM documents WHERE path = ?", (path,)).fetchone()
        if row is None:
            return
        self._changed = True
        self._db.execute(
            "DELETE FROM ft WHERE rowid IN (SELECT id FROM chunks WHERE document = ?)", row
        )
        self._db.execute("DELETE FROM chunks WHERE document = ?", row)
        self._db.execute("DELETE FROM documents WHERE id = ?", row)

    def _add_document(self, path: str, document: Document) -> None:
        self._changed = True
        added = self._db.execute(
            "INSERT INTO documents (path, title, topics, date, language, sha256, text)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                path,
                document.title,
                json.dumps(document.topics, ensure_ascii=False),
                document.date,
                document.language,
                document.sha256,
                document.text,
            ),
        )
        head = tokens(f"{document.title}\n{path}")
        for chunk in document.chunks:
            row = self._db.execute(
                "INSERT INTO chunks (document, first, last, headings, links)"
                " VALUES (?, ?, ?, ?, ?)",
                (
                    added.lastrowid,
                    chunk.start,
                    chunk.end,
                    json.dumps(chunk.headings, ensure_ascii=False),
                    chunk.links,
                ),
            )
            self._add_tokens(row.lastrowid or 0, document.text, chunk, head)

    def _add_tokens(self, chunk_id: int, text: str, chunk: Chunk, head: list[str]) -> None:
        words = dict.fromkeys([*head, *tokens("\n".join(chunk.headings))])
        self._db.execute(
            "INSERT INTO ft (rowid, body, head) VALUES (?, ?, ?)",
            (chunk_id, " ".join(tokens(text[chunk.start : chunk.end])), " ".join(words)),
        )

    def _tokenise_again(self) -> None:
        renew_tokens(self._db)
        for document, path, title, text in self._db.execute(
            "SELECT id, path, title, text FROM documents ORDER BY id"
        ).fetchall():
            self._changed = True
            head = tokens(f"{title}\n{path}")
            for chunk_id, first, last, headings in self._db.execute(
                "SELECT id, first, last, headings FROM chunks WHERE document = ?", (document,)
            ).fetchall():
                chunk = Chunk(first, last, tuple(json.loads(headings)))
                self._add_tokens(chunk_id, text, chunk, head)

    def _prune(self, present: set[str]) -> None:
        for (path,) in self._db.execute("SELECT path FROM files").fetchall():
            if path not in present:
                self._remove_document(path)
                self._db.execute("DELETE FROM files WHERE path = ?", (path,))

    def _finish(self, started_ns: int) -> None:
        version = int(self._meta.get("version", 0))
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        values: dict[str, str | int] = {
            "version": version + 1 if self._changed or version == 0 else version,
            "root": str(self._root),
            "readers": READERS_VERSION,
            "tokens": TOKENS_VERSION,
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
