"""Documents and their chunks in a collection's tables: added, removed, tokenised anew.

Near-identical documents are kin: they carry the same mark, the first one's, so that two copies are
never taken for two independent sources.
"""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from activities.ingest.database import renew_tokens
from activities.ingest.document import Chunk
from activities.ingest.rows import Row, head_tokens, row_of
from activities.ingest.sketch import KEYS, alike, pack, unpack
from activities.ingest.stems import STEMS_VERSION
from workflows.logic.tokens import TOKENS_VERSION

# The rules that made the tokens of a collection; others make them anew.
TOKENS: Final = f"{TOKENS_VERSION}.{STEMS_VERSION}"
_MOST_COMPARED = 64
_KIN_CHARACTERS = 16


class Documents:
    """The documents of one collection, inside of an update's transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.changed = False
        self._next = db.execute("SELECT coalesce(max(id), 0) + 1 FROM chunks").fetchone()[0]

    def remove(self, path: str) -> None:
        """Remove a document, if there is one at this path."""
        row = self._db.execute("SELECT id FROM documents WHERE path = ?", (path,)).fetchone()
        if row is None:
            return
        self.changed = True
        self._db.execute(
            "DELETE FROM ft WHERE rowid IN (SELECT id FROM chunks WHERE document = ?)", row
        )
        self._db.execute("DELETE FROM chunks WHERE document = ?", row)
        self._db.execute("DELETE FROM kin WHERE document = ?", row)
        self._db.execute("DELETE FROM documents WHERE id = ?", row)

    def add(self, path: str, document: dict[str, Any]) -> int:
        """Add a document without its chunks (a frame of kind `document`); gives its id."""
        self.changed = True
        added = self._db.execute(
            "INSERT INTO documents (path, title, topics, date, language, sha256, kin, sketch, text)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, x'', ?)",
            (
                path,
                document["title"],
                json.dumps(document["topics"], ensure_ascii=False),
                document["date"],
                document["language"],
                document["sha256"],
                document["sha256"][:_KIN_CHARACTERS],
                document["text"],
            ),
        )
        return added.lastrowid or 0

    def add_chunks(self, document: int, text: str, rows: Sequence[Row]) -> None:
        """Add chunks of a document's text with their tokens, in the order of the text."""
        numbered = list(enumerate(rows, self._next))
        self._next += len(numbered)
        self._db.executemany(
            "INSERT INTO chunks (id, document, first, last, headings, links, text)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (number, document, first, last, headings, links, text[first:following])
                for number, (first, last, following, headings, links, *_) in numbered
            ],
        )
        self._add_tokens(numbered)

    def end(self, document: int, sketch: Sequence[int]) -> None:
        """All chunks are there: look which documents this one is a copy of."""
        self._db.execute(
            "UPDATE documents SET sketch = ?, kin = coalesce(?, kin) WHERE id = ?",
            (pack(sketch), self._kin_of(sketch), document),
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO kin VALUES (?, ?)",
            [(value, document) for value in sketch[:KEYS]],
        )

    def tokenise_again(self) -> None:
        """Write every token anew, by the rules of today."""
        renew_tokens(self._db)
        for document, path, title in self._db.execute(
            "SELECT id, path, title FROM documents ORDER BY id"
        ).fetchall():
            self.changed = True
            head = head_tokens(title, path)
            chunks = self._db.execute(
                "SELECT id, first, last, headings, text FROM chunks WHERE document = ?", (document,)
            ).fetchall()
            again: list[tuple[int, Row]] = []
            for number, first, last, names, text in chunks:
                chunk = Chunk(first, last, tuple(json.loads(names)))
                again.append((number, row_of(chunk, text[: last - first], last, head)[0]))
            self._add_tokens(again)

    def _add_tokens(self, numbered: Sequence[tuple[int, Row]]) -> None:
        self._db.executemany(
            "INSERT INTO ft (rowid, body, head, stems) VALUES (?, ?, ?, ?)",
            [(number, *row[5:]) for number, row in numbered],
        )

    def _kin_of(self, sketch: Sequence[int]) -> str | None:
        """The mark of the first document that this one is a copy of, None if of none."""
        keys = list(sketch[:KEYS])
        marks = ", ".join("?" * len(keys))
        for kin, other in self._db.execute(
            "SELECT kin, sketch FROM documents WHERE id IN"
            f" (SELECT document FROM kin WHERE value IN ({marks}) LIMIT {_MOST_COMPARED})"
            " ORDER BY id",
            keys,
        ):
            if alike(sketch, unpack(other)):
                return kin
        return None
