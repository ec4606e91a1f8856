"""One file to one document: bytes read once, hashed, the right reader, title, date, language."""

import datetime
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from activities.ingest.chunks import chunks
from activities.ingest.document import Chunk, Extracted, UnreadableFileError
from activities.ingest.html import read_html
from activities.ingest.markdown import read_markdown, read_text
from activities.ingest.sniff import MAX_BYTES, decode, looks_like_html, refuse_declared_encoding
from workflows.logic.terms import language_of

# A change of what readers or chunks give needs a new number: collections are then read anew.
READERS_VERSION: Final = 1

_MARKDOWN: Final = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx"})
_NO_DOCUMENTS: Final = {
    ".css": "style sheet",
    ".js": "script of a page",
    ".mjs": "script of a page",
    ".map": "source map",
    ".svg": "image",
    ".inv": "inventory of a documentation tool",
}


@dataclass(frozen=True)
class Document:
    """A file as the index takes it in; `sha256` is over `text` as UTF-8."""

    title: str
    topics: list[str]
    date: str
    language: str
    text: str
    sha256: str
    chunks: list[Chunk]
    problem: str


def read_bytes(path: Path, size: int) -> bytes:
    """The bytes of a regular file.

    Raises:
        UnreadableFileError: `unsupported` by its name, `too_large`, or `unreadable`.
    """
    suffix = path.suffix.lower()
    if suffix in _NO_DOCUMENTS:
        raise UnreadableFileError("unsupported", f"{_NO_DOCUMENTS[suffix]}: not a document")
    if size > MAX_BYTES:
        raise UnreadableFileError(
            "too_large", f"{size / 1e6:.1f} MB; files up to {MAX_BYTES / 1e6:.0f} MB are read"
        )
    try:
        # Opened without waiting: a pipe would block for good.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UnreadableFileError("unsupported", "not a regular file")
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UnreadableFileError("unreadable", error.strerror or str(error)) from None
    if len(data) > MAX_BYTES:
        raise UnreadableFileError("too_large", "the file grew over the limit while it was read")
    return data


def read_document(data: bytes, path: str, mtime_ns: int) -> Document:
    """Read a file's bytes.

    Args:
        data: the whole file.
        path: its path, whose ending is a hint and whose name is the last resort for a title.
        mtime_ns: time of its last change, the date of a document that gives none.

    Raises:
        UnreadableFileError: the file gives no document.
    """
    name = PurePosixPath(path)
    extracted = _extract(data, name.suffix.lower())
    pieces = chunks(extracted)
    if not pieces:
        raise UnreadableFileError("empty", "the file holds no text")
    changed = datetime.datetime.fromtimestamp(mtime_ns / 1e9, tz=datetime.UTC)
    return Document(
        title=(extracted.title or name.stem)[:300],
        topics=extracted.topics,
        date=extracted.date or changed.date().isoformat(),
        language=language_of(extracted.text),
        text=extracted.text,
        sha256=hashlib.sha256(extracted.text.encode()).hexdigest(),
        chunks=pieces,
        problem=extracted.problem,
    )


def _extract(data: bytes, suffix: str) -> Extracted:
    text = decode(data)
    if looks_like_html(text, suffix):
        refuse_declared_encoding(data)
        return read_html(text)
    if text.lstrip()[:4].lower() == "<svg":
        raise UnreadableFileError("unsupported", "SVG image: not a format that is read")
    return read_markdown(text) if suffix in _MARKDOWN else read_text(text)
