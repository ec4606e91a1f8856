"""The reading side of one collection: counts, candidates and texts out of one snapshot."""

import re
import sqlite3
import weakref
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final

from activities.ingest.database import (
    CollectionDamagedError,
    CollectionMissingError,
    collection_path,
    meta,
    open_reader,
)
from activities.search.ranking import SQL_RANK, Rows, Tokens, fullest
from workflows.logic.cover import Weighed
from workflows.logic.tokens import query_tokens

_MOST_TERMS: Final = 64
_MOST_RANKED: Final = 1_500
_CACHED_ROWS: Final = 200_000
# In a handful of chunks every word is in half of them.
_FEW_CHUNKS: Final = 200
_CACHED_TERMS: Final = 20_000
_IDLE_CONNECTIONS: Final = 8
_JOINER: Final = re.compile(r"[_.\-/:+#~]+")
# `APIs`, `TaskGroups`; never an ordinary name such as `Windows`.
_PLURAL: Final = re.compile(r"[A-Z]{2,}s|\w*[a-z][A-Z]\w*s")


@dataclass(frozen=True)
class Candidate:
    """A chunk that holds a token of the query; `rank` is its BM25, larger is better.

    `text` goes on to the start of the next chunk, so that neighbours can be joined. `headings` and
    `topics` are JSON lists; `held` are the forms of the query that it holds. `chunk` numbers the
    chunks of a document one after the other; near-identical documents have the same `kin`.
    """

    source_id: str
    title: str
    sha256: str
    start: int
    end: int
    headings: str
    topics: str
    date: str
    path: str
    links: float
    rank: float
    held: frozenset[str]
    tokens: Tokens
    text: str
    chunk: int
    kin: str

    @property
    def passage(self) -> str:
        """The text of its range."""
        return self.text[: self.end - self.start]


class Snapshot:
    """One state of a collection; every question is answered from the same version."""

    def __init__(self, name: str, db: sqlite3.Connection) -> None:
        self.name = name
        self._db = db
        self._version: str | int = -1
        self._frequencies: dict[str, int] = {}
        self._present: dict[str, bool] = {}
        self._rows: dict[str, Rows] = {}
        self._rows_held = 0
        self.chunks = 0

    def begin(self) -> None:
        """Fix the state that is read; what is remembered of another version is forgotten."""
        self._db.execute("BEGIN")
        values = meta(self._db)
        if "version" not in values:
            raise CollectionMissingError(f"collection {self.name!r} has no finished index")
        if values["version"] != self._version:
            self._version = values["version"]
            self._frequencies.clear()
            self._present.clear()
            self._rows.clear()
            self._rows_held = 0
            self.chunks = self._db.execute("SELECT count(*) FROM chunks").fetchone()[0]

    def end(self) -> None:
        """Let the state go."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def frequency(self, token: str) -> int:
        """How many chunks hold a token, in body or headings."""
        known = self._frequencies.get(token)
        if known is None:
            row = self._db.execute("SELECT doc FROM terms WHERE term = ?", (token,)).fetchone()
            known = row[0] if row else 0
            if len(self._frequencies) >= _CACHED_TERMS:
                self._frequencies.clear()
            self._frequencies[token] = known
        return known

    def holds(self, name: str) -> bool:
        """Whether a name occurs: as it is written, or its parts side by side or in one word.

        Of a dotted name (`asyncio.TaskGroup`) all components in one chunk are enough.
        """
        known = self._present.get(name)
        if known is None:
            known = self._holds(name)
            if len(self._present) >= _CACHED_TERMS:
                self._present.clear()
            self._present[name] = known
        return known

    def _holds(self, name: str) -> bool:
        words = query_tokens(name)
        if not words or (" " not in name and self.frequency(words[0]) > 0):
            return True
        return any(map(self._matches, _ways_to_write(name, words)))

    def _matches(self, query: str) -> bool:
        found = self._db.execute("SELECT 1 FROM ft WHERE ft MATCH ? LIMIT 1", (query,))
        return found.fetchone() is not None

    def candidates(self, query: Weighed, limit: int, *, heads: bool = True) -> list[Candidate]:
        """The chunks that hold most of the query, each with its BM25.

        Args:
            query: what is looked for.
            limit: how many chunks.
            heads: whether title, path and headings count.
        """
        found = fullest(query, self._telling, lambda form: self._rows_of(form, heads=heads), limit)
        if found is None:
            found = self._by_rank(query, limit, heads=heads)
        marks = ", ".join("?" * len(found))
        rows = self._db.execute(
            "SELECT d.path, d.title, d.sha256, c.first, c.last, c.headings, d.topics, d.date,"
            " c.links, ft.body, ft.head, ft.stems, c.text, c.id, d.kin"
            " FROM chunks c JOIN documents d ON d.id = c.document JOIN ft ON ft.rowid = c.id"
            f" WHERE c.id IN ({marks})",
            found,
        ).fetchall()
        return [_candidate(self, query, row, heads=heads) for row in rows]

    def _telling(self, form: str) -> int:
        """How many chunks hold a form, 0 for one in more than half of them: it tells nothing."""
        frequency = self.frequency(form)
        return frequency if frequency * 2 <= self.chunks or self.chunks < _FEW_CHUNKS else 0

    def _rows_of(self, form: str, *, heads: bool) -> Rows:
        """The chunks that hold a form."""
        asked = _literal(form) if heads else f"{{body stems}} : {_literal(form)}"
        known = self._rows.get(asked)
        if known is None:
            found = self._db.execute("SELECT rowid FROM ft WHERE ft MATCH ?", (asked,))
            known = frozenset(row for (row,) in found)
            if self._rows_held + len(known) > _CACHED_ROWS:
                self._rows.clear()
                self._rows_held = 0
            self._rows[asked] = known
            self._rows_held += len(known)
        return known

    def _by_rank(self, query: Weighed, limit: int, *, heads: bool) -> list[int]:
        """The best chunks by SQLite's BM25, where all of them hold the same of the query."""
        counted = sorted((max(map(self.frequency, forms)), forms) for forms in query.forms.values())
        asked: list[str] = []
        chunks = 0
        for most, forms in counted:
            if asked and chunks + most > _MOST_RANKED:
                break
            asked += [_literal(form) for form in forms if self.frequency(form)]
            chunks += most
        match = " OR ".join(dict.fromkeys(asked[:_MOST_TERMS]))
        rows = self._db.execute(
            f"SELECT rowid FROM ft WHERE ft MATCH ? ORDER BY {SQL_RANK}, rowid LIMIT ?",
            (match if heads else f"{{body stems}} : ({match})", limit),
        )
        return [row for (row,) in rows]

    def text(self, sha256: str) -> str | None:
        """The whole text of the document with this hash, None where there is none."""
        row = self._db.execute(
            "SELECT text FROM documents WHERE sha256 = ? LIMIT 1", (sha256,)
        ).fetchone()
        return None if row is None else str(row[0])


class Collections:
    """Connections to the collections of a state directory, kept open and lent out."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = Lock()
        self._idle: dict[str, list[tuple[tuple[int, int], Snapshot]]] = {}
        weakref.finalize(self, _close_all, self._idle)

    @contextmanager
    def snapshot(self, name: str) -> Generator[Snapshot]:
        """One state of a collection.

        Raises:
            CollectionMissingError, CollectionDamagedError: both are OSErrors.
        """
        path = collection_path(self._home, name)
        identity, snapshot = self._take(name, path)
        healthy = False
        try:
            snapshot.begin()
            yield snapshot
            healthy = True
        except sqlite3.Error as error:
            raise CollectionDamagedError(path, error) from error
        except CollectionMissingError:
            healthy = True
            raise
        finally:
            self._give_back(name, identity, snapshot, healthy=healthy)

    def _take(self, name: str, path: Path) -> tuple[tuple[int, int], Snapshot]:
        try:
            status = path.stat()
        except OSError:
            raise CollectionMissingError(f"collection {name!r} does not exist") from None
        identity = (status.st_dev, status.st_ino)
        with self._lock:
            idle = self._idle.get(name, [])
            while idle:
                known, snapshot = idle.pop()
                if known == identity:
                    return identity, snapshot
                # The file was replaced under its name.
                snapshot.close()
        return identity, Snapshot(name, open_reader(path))

    def _give_back(
        self, name: str, identity: tuple[int, int], snapshot: Snapshot, *, healthy: bool
    ) -> None:
        with self._lock:
            idle = self._idle.setdefault(name, [])
            if healthy and len(idle) < _IDLE_CONNECTIONS:
                snapshot.end()
                idle.append((identity, snapshot))
                return
        snapshot.close()


def _candidate(
    snapshot: Snapshot, query: Weighed, row: tuple[Any, ...], *, heads: bool
) -> Candidate:
    path, title, sha256, first, last, headings, topics, date, links = row[:9]
    body, head, stems, text, chunk, kin = row[9:]
    tokens = Tokens(body, head if heads else "", stems)
    rank, held = tokens.ranked(query)
    return Candidate(
        source_id=f"{snapshot.name}:{path}",
        title=title,
        sha256=sha256,
        start=first,
        end=last,
        headings=headings,
        topics=topics,
        date=date,
        path=path,
        links=links,
        rank=rank,
        held=held,
        tokens=tokens,
        text=text,
        chunk=chunk,
        kin=kin,
    )


def _close_all(idle: dict[str, list[tuple[tuple[int, int], Snapshot]]]) -> None:
    for lent in idle.values():
        for _, snapshot in lent:
            snapshot.close()


def _literal(token: str) -> str:
    return '"' + token.replace('"', '""') + '"'


def _ways_to_write(name: str, words: list[str]) -> list[str]:
    """FTS queries, any of which shows that a name occurs."""
    ways = [_literal(" ".join(words))]
    if " " in name:
        return ways
    components = [part.casefold() for part in _JOINER.split(name) if part]
    if len(components) > 1:
        ways += [_literal(" ".join(components)), _literal("".join(components))]
        if "." in name and all(part.isalpha() for part in components):
            ways.append(" AND ".join(map(_literal, components)))
    elif len(words) > 1:
        ways.append(_literal(" ".join(words[1:])))
    if _PLURAL.fullmatch(name):
        ways.append(_literal(name[:-1].casefold()))
    return ways
