"""Looking into a collection that a test has built."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from activities.ingest.database import collection_path
from workflows.contracts.corpus import IndexResult

Build = Callable[..., IndexResult]


def query(home: Path, sql: str, name: str = "notes") -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(collection_path(home, name))) as db:
        return db.execute(sql).fetchall()


def documents(home: Path) -> list[object]:
    return [row[0] for row in query(home, "SELECT path FROM documents ORDER BY path")]
