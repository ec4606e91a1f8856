"""One file to one document: what it really is, the right reader, title, date, language."""

import datetime
import errno
import hashlib
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, BinaryIO, Final

from activities.ingest.chunks import chunks
from activities.ingest.document import Chunk, Extracted, UnreadableFileError
from activities.ingest.encodings import Decoded, decode_text
from activities.ingest.formats import HEAD_BYTES, format_of
from activities.ingest.gzipped import unpacked
from activities.ingest.markdown import read_markdown
from activities.ingest.plain import read_json, read_log, read_table
from activities.ingest.sniff import (
    declared_encoding,
    looks_like_html,
    looks_like_svg,
    made_by_a_tool,
)
from workflows.logic.terms import language_of

# A change of what readers or chunks give needs a new number: collections are then read anew.
READERS_VERSION: Final = 5

# Text beyond is left out and said so; a log of this size is already twenty thousand passages.
TEXT_BYTES: Final = 20 * 1024 * 1024
_MOST_BYTES: Final = {"pdf": 500 * 1024 * 1024, "zip": 200 * 1024 * 1024}

_MARKDOWN: Final = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx"})
_TABLES: Final = {".csv": ",", ".tsv": "\t"}
_JSON: Final = frozenset({".json", ".jsonl", ".ndjson"})
# What a tool that packs scripts calls its work; any other name is but a hint.
_PACKED: Final = {
    ".min.js": "packed script of a page",
    ".min.mjs": "packed script of a page",
    ".min.css": "style sheet",
    ".js.map": "source map",
    ".css.map": "source map",
}
# Opened without waiting: a pipe would block for good.
_OPENING: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_IS_LINK: Final = frozenset({errno.ELOOP, getattr(errno, "EMLINK", errno.ELOOP)})
_REPLACED: Final = "took its place while the folder was being indexed: index again to read it"
# The stream in which Office keeps what a password protects.
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")


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


def refuse_by_name(path: str) -> None:
    """Refuse what is no document by its name, without opening it.

    Raises:
        UnreadableFileError: `unsupported`.
    """
    name = path.lower().removesuffix(".gz")
    kind = next((kind for ending, kind in _PACKED.items() if name.endswith(ending)), "")
    if kind:
        raise _no_document(kind)


def _no_document(kind: str) -> UnreadableFileError:
    return UnreadableFileError("unsupported", f"{kind}: not a document")


@contextmanager
def opened(found: str | Sequence[Any]) -> Generator[BinaryIO]:
    """A regular file, open for reading.

    Args:
        found: a path, or a path with device and inode as the walk met them. Such a file must still
            be the one that stands there: else a link that was put in its place meanwhile would
            lead out of the folder.

    Raises:
        UnreadableFileError: `unsupported` (no regular file), or `unreadable`.
    """
    path, *identity = [found] if isinstance(found, str) else found
    try:
        descriptor = os.open(path, _OPENING | (_NO_LINK if identity else 0))
    except OSError as error:
        if identity and error.errno in _IS_LINK:
            raise UnreadableFileError("unreadable", f"a link {_REPLACED}") from None
        raise UnreadableFileError("unreadable", error.strerror or str(error)) from None
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if identity and identity != [status.st_dev, status.st_ino]:
            raise UnreadableFileError("unreadable", f"another file {_REPLACED}")
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableFileError("unsupported", "not a regular file")
        yield file


def read_document(file: BinaryIO, path: str, mtime_ns: int) -> Document:
    """Read a file.

    Args:
        file: the open file, at its start.
        path: its path, whose ending is a hint and whose name is the last resort for a title.
        mtime_ns: time of its last change, the date of a document that gives none.

    Raises:
        UnreadableFileError: the file gives no document.
    """
    name = PurePosixPath(path)
    extracted = _extract(file, name)
    pieces = chunks(extracted)
    if not pieces:
        raise UnreadableFileError("empty", "the file holds no text")
    changed = datetime.datetime.fromtimestamp(mtime_ns / 1e9, tz=datetime.UTC)
    return Document(
        title=(extracted.title or name.name.removesuffix(".gz").rpartition(".")[0] or name.name)[
            :300
        ],
        topics=extracted.topics,
        date=extracted.date or changed.date().isoformat(),
        language=language_of(extracted.text),
        text=extracted.text,
        sha256=hashlib.sha256(extracted.text.encode()).hexdigest(),
        chunks=pieces,
        problem=extracted.problem,
    )


def _extract(file: BinaryIO, name: PurePosixPath) -> Extracted:
    kind, size = _kind(file)
    if kind != "gzip":
        return _read(file, name, kind, size)
    with unpacked(file) as (inner, problem):
        inner_name = PurePosixPath(name.name.removesuffix(".gz"))
        try:
            found = _read(inner, inner_name, *_kind(inner), cut=bool(problem))
        except UnreadableFileError as error:
            reason = "; ".join(filter(None, (error.reason, problem)))
            raise UnreadableFileError(error.status, reason) from None
    return replace(found, problem="; ".join(filter(None, (found.problem, problem))))


def _kind(file: BinaryIO) -> tuple[str, int]:
    """The format of a file and its size in bytes; the file is at its start again."""
    head = file.read(HEAD_BYTES)
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if not head:
        raise UnreadableFileError("empty", "the file holds no text")
    kind = format_of(head)
    if size > _MOST_BYTES.get(kind, size):
        limit = _MOST_BYTES[kind] / 1e6
        raise UnreadableFileError("too_large", f"{size / 1e6:.0f} MB; up to {limit:.0f} MB is read")
    return kind, size


def _read(
    file: BinaryIO, name: PurePosixPath, kind: str, size: int, *, cut: bool = False
) -> Extracted:
    """Read a file of a known format; `cut` is said of the first part of a text."""
    if kind == "gzip":
        raise UnreadableFileError("unsupported", "gzip inside of gzip: not read")
    if kind == "pdf":
        from activities.ingest.pdf import read_pdf  # noqa: PLC0415 - slow, and many folders have none

        return read_pdf(file)
    if kind == "zip":
        from activities.ingest.word import read_docx  # noqa: PLC0415 - the same

        return read_docx(file)
    if kind == "ole":
        raise _ole(file.read(_MOST_BYTES["zip"]))
    return _text(file, name.suffix.lower(), size, cut=cut)


def _ole(data: bytes) -> UnreadableFileError:
    if _ENCRYPTED in data:
        return UnreadableFileError("encrypted", "an office document that needs a password")
    return UnreadableFileError("unsupported", "old office document: not a format that is read")


def _text(file: BinaryIO, suffix: str, size: int, *, cut: bool) -> Extracted:
    data = file.read(TEXT_BYTES)
    long = size > len(data)
    if long:
        data = data[: data.rfind(b"\n", len(data) // 2) + 1] or data
    decoded = decode_text(data, declared_encoding(data), cut=cut or long)
    found = _read_text(decoded, suffix)
    problems = [found.problem, decoded.problem]
    if long:
        part = f"the first {len(data) / 1e6:.1f} of {size / 1e6:.1f} MB"
        # A reader with a limit of its own counts what it leaves out, as far as it is given.
        counted = f"counted over {part}, the rest was not looked at"
        problems.append(counted if found.problem else f"{part} are indexed, the rest is not")
    return replace(found, problem="; ".join(filter(None, problems)))


def _read_text(decoded: Decoded, suffix: str) -> Extracted:
    text = decoded.text
    if looks_like_html(text, suffix):
        from activities.ingest.html import read_html  # noqa: PLC0415 - loads a parser

        return read_html(text)
    if kind := made_by_a_tool(text, suffix):
        raise _no_document(kind)
    if looks_like_svg(text):
        raise UnreadableFileError("unsupported", "SVG image: not a format that is read")
    if suffix in _MARKDOWN:
        return read_markdown(text)
    if suffix in _TABLES:
        return read_table(text, _TABLES[suffix])
    return read_json(text) if suffix in _JSON else read_log(text)
