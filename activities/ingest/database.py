"""One collection as one SQLite file: schema, connections, the lock of its indexer.

Readers see the state before or after an update, never between (WAL, one transaction an update),
and a killed indexer leaves the old state. Tokens are ours, parted by blanks; SQLite's `ascii`
tokenizer keeps each whole, because it takes every character beyond ASCII for a letter, whatever
the age of its Unicode tables.
"""

import re
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import portalocker

from activities.ingest.stems import MARK
from workflows.contracts.base import NAME_PATTERN
from workflows.logic.tokens import TOKEN_CHARACTERS

SCHEMA_VERSION: Final = 3
_BUSY_SECONDS = 30.0
# Bytes of tokens that SQLite gathers before it writes a part of its index; the fewer parts there
# are, the fewer have to be merged.
_TOKENS_HELD: Final = 8 * 1024 * 1024

_TABLES: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE files (
  path TEXT PRIMARY KEY, status TEXT NOT NULL, reason TEXT NOT NULL,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, raw_sha256 TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE documents (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, title TEXT NOT NULL, topics TEXT NOT NULL,
  date TEXT NOT NULL, language TEXT NOT NULL, sha256 TEXT NOT NULL, kin TEXT NOT NULL,
  sketch BLOB NOT NULL, text TEXT NOT NULL
);
CREATE INDEX documents_sha256 ON documents (sha256);
CREATE TABLE kin (value INTEGER, document INTEGER, PRIMARY KEY (value, document)) WITHOUT ROWID;
CREATE INDEX kin_document ON kin (document);
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY, document INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
  headings TEXT NOT NULL, links REAL NOT NULL, text TEXT NOT NULL
);
CREATE INDEX chunks_document ON chunks (document);
"""
_TOKEN_TABLES: Final = f"""
CREATE VIRTUAL TABLE ft USING fts5(
  body, head, stems, tokenize = "ascii tokenchars '{TOKEN_CHARACTERS}{MARK}'"
);
INSERT INTO ft (ft, rank) VALUES ('hashsize', {_TOKENS_HELD});
CREATE VIRTUAL TABLE terms USING fts5vocab(ft, 'row');
"""


class CollectionMissingError(OSError):
    """There is no such collection."""


class CollectionDamagedError(OSError):
    """The file of a collection is no collection, or SQLite finds it damaged."""

    def __init__(self, path: Path, error: Exception) -> None:
        super().__init__(
            f"collection {path.stem!r} can not be read ({error}): delete {path.name} in the folder "
            "'corpora' of the state directory and index again"
        )


class IndexBusyError(Exception):
    """Another process or thread is indexing this collection right now."""


def is_name(name: str) -> bool:
    """Whether a text can name a collection."""
    return re.fullmatch(NAME_PATTERN, name) is not None


def collection_path(home: Path, name: str) -> Path:
    """Where the file of a collection lies in a state directory."""
    return home / "corpora" / f"{name}.db"


def collection_names(home: Path) -> list[str]:
    """Names of the collections that have a finished index, sorted."""
    files = sorted((home / "corpora").glob("*.db"))
    return [file.stem for file in files if is_name(file.stem) and _finished(file)]


def _finished(path: Path) -> bool:
    try:
        with closing(open_reader(path)) as db:
            return "version" in meta(db)
    except CollectionMissingError:
        return False
    except CollectionDamagedError:
        # It is shown, so that somebody repairs it.
        return True


def meta(db: sqlite3.Connection) -> dict[str, str | int]:
    """The collection's own record; {} before its first update is finished.

    Raises:
        CollectionDamagedError: its pages cannot be read.
    """
    try:
        return dict(db.execute("SELECT key, value FROM meta").fetchall())
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return {}
        raise CollectionDamagedError(_path(db), error) from error
    except sqlite3.DatabaseError as error:
        raise CollectionDamagedError(_path(db), error) from error


def _path(db: sqlite3.Connection) -> Path:
    return Path(str(db.execute("PRAGMA database_list").fetchone()[2]))


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that only reads; it may move between threads, one at a time.

    Raises:
        CollectionMissingError: no such file.
        CollectionDamagedError: the file is no SQLite database.
    """
    if not path.is_file():
        raise CollectionMissingError(f"collection {path.stem!r} does not exist")
    db: sqlite3.Connection | None = None
    try:
        db = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True,
            isolation_level=None,
            timeout=_BUSY_SECONDS,
            check_same_thread=False,
        )
        db.execute("PRAGMA query_only = 1")
        db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.Error as error:
        if db is not None:
            db.close()
        raise CollectionDamagedError(path, error) from error
    return db


@contextmanager
def writing(path: Path) -> Generator[sqlite3.Connection]:
    """The one transaction of an update: committed at the end, rolled back on any error.

    Raises:
        IndexBusyError: another indexer holds this collection.
        CollectionDamagedError: the file is there and is no healthy collection.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with (
            portalocker.Lock(
                path.with_suffix(".lock"),
                "a",
                timeout=0,
                fail_when_locked=True,
                flags=portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING,
            ),
            closing(
                sqlite3.connect(
                    path, isolation_level=None, timeout=_BUSY_SECONDS, check_same_thread=False
                )
            ) as db,
        ):
            yield from _transaction(db, path)
    except portalocker.exceptions.LockException:
        raise IndexBusyError(
            f"collection {path.stem!r} is being indexed by another process"
        ) from None


def _transaction(db: sqlite3.Connection, path: Path) -> Generator[sqlite3.Connection]:
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("BEGIN IMMEDIATE")
        _prepare(db)
        yield db
        db.execute("COMMIT")
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError | sqlite3.IntegrityError):
            raise
        raise CollectionDamagedError(path, error) from error
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _prepare(db: sqlite3.Connection) -> None:
    """Make the tables; those of another schema are made anew, their files are read again."""
    known = meta(db)
    if known.get("schema") == SCHEMA_VERSION:
        return
    for (name,) in db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN "
        "('terms', 'ft', 'kin', 'chunks', 'documents', 'files', 'meta')"
    ).fetchall():
        db.execute(f"DROP TABLE IF EXISTS {name}")
    for statement in (_TABLES + _TOKEN_TABLES).strip().split(";\n"):
        db.execute(statement.rstrip(";\n"))
    db.execute("INSERT INTO meta VALUES ('schema', ?)", (SCHEMA_VERSION,))
    if "version" in known:
        db.execute("INSERT INTO meta VALUES ('version', ?)", (known["version"],))


def renew_tokens(db: sqlite3.Connection) -> None:
    """Drop every token; the caller writes them anew."""
    db.execute("DROP TABLE terms")
    db.execute("DROP TABLE ft")
    for statement in _TOKEN_TABLES.strip().split(";\n"):
        db.execute(statement.rstrip(";\n"))
