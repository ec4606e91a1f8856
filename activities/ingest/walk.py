"""The files under a folder: odd names, links, loops, what is left out and why.

Names are shown printable: bytes that are no UTF-8 and control characters are written as escapes.
Links are followed inside of the folder; each real file is met once, in the order of names.
"""

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workflows.contracts.corpus import FileStatus

# Folders of tools: nobody means their content when indexing a project.
_TOOL_FOLDERS: Final = frozenset({"node_modules", "__pycache__"})
# Beside one of these a documentation tool keeps copies of its sources and its scripts.
_SPHINX_MARKS: Final = frozenset({"objects.inv", "searchindex.js"})
_SPHINX_FOLDERS: Final = frozenset({"_sources", "_static"})

_LATEST_NS: Final = 2**63 - 1


@dataclass(frozen=True)
class FoundFile:
    """A file to read: where it is, its path as shown (POSIX, relative), size and time.

    `real` is no link itself. `identity` (device and inode) tells the reader whether it is still
    the file that was found here.
    """

    real: Path
    path: str
    size: int
    mtime_ns: int
    identity: tuple[int, int]


@dataclass(frozen=True)
class LeftOut:
    """A file or folder that is not read, with its status and the reason."""

    path: str
    status: FileStatus
    reason: str


@dataclass(frozen=True)
class _Open:
    """A folder that the walk stands in: where it is, its path as shown, names yet to come."""

    real: Path
    path: str
    identity: tuple[int, int]
    names: Iterator[str]
    built: bool  # a documentation tool keeps its copies here


def shown(name: str) -> str:
    """A path as it is stored and shown: printable, valid Unicode."""
    raw = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(
        c if c.isprintable() or c in " \u3000" else c.encode("unicode_escape").decode() for c in raw
    )


class Walker:
    """Walks one folder; `walk` gives every file and every thing left out exactly once."""

    def __init__(self, root: Path, home: Path | None = None) -> None:
        self._root = root.resolve()
        # The state directory holds copies of what was read: never a source itself.
        self._home = home.resolve() if home is not None else None
        self._seen: set[tuple[int, int]] = set()
        self._paths: set[str] = set()
        # The folders from the root to where the walk stands. No recursion: folders may be nested
        # deeper than Python's own stack reaches.
        self._open: list[_Open] = []

    def walk(self) -> Iterator[FoundFile | LeftOut]:
        """Every file under the root; the root itself if it is a file."""
        yield from self._entry(self._root, "" if self._root.is_dir() else self._root.name)
        while self._open:
            folder = self._open[-1]
            name = next(folder.names, None)
            if name is None:
                self._open.pop()
                continue
            path = f"{folder.path}/{name}" if folder.path else name
            if (reason := _reason_to_skip(name, built=folder.built)) is not None:
                yield self._left(path, "unsupported", reason)
            else:
                yield from self._entry(folder.real / name, path)

    def _entry(self, entry: Path, path: str) -> Iterator[FoundFile | LeftOut]:
        """What is at a path: a file, a folder to go into, or why it is left out."""
        try:
            if entry.is_symlink():
                entry = entry.resolve(strict=True)
                if not entry.is_relative_to(self._root):
                    reason = f"the link leads out of the folder, to {entry}"
                    yield self._left(path, "outside_root", reason)
                    return
            status = entry.stat()
        except (OSError, RuntimeError) as error:
            # pathlib reports a link that leads to itself as RuntimeError in Python 3.11.
            looped = isinstance(error, RuntimeError) or getattr(error, "errno", 0) == errno.ELOOP
            text = "the link leads to itself" if looped else getattr(error, "strerror", str(error))
            yield self._left(path, "loop" if looped else "unreadable", text)
            return
        identity = (status.st_dev, status.st_ino)
        if stat.S_ISDIR(status.st_mode):
            yield from self._folder(entry, path, identity)
        elif identity not in self._seen:
            self._seen.add(identity)
            # SQLite holds no later time.
            changed = min(status.st_mtime_ns, _LATEST_NS)
            yield FoundFile(entry, self._unique(path), status.st_size, changed, identity)

    def _folder(self, real: Path, path: str, identity: tuple[int, int]) -> Iterator[LeftOut]:
        """Go into a folder, or say why not."""
        try:
            names = sorted(os.listdir(real), key=os.fsencode)
        except OSError as error:
            yield self._left(path or ".", "unreadable", error.strerror or str(error))
            return
        if any(folder.identity == identity for folder in self._open):
            yield self._left(path, "loop", "the link leads to a folder it stands in")
            return
        if real == self._home and real != self._root:
            yield self._left(path, "unsupported", "state directory, not read")
            return
        if identity in self._seen:
            return
        self._seen.add(identity)
        built = not _SPHINX_MARKS.isdisjoint(names)
        # Real entries first, so that a file is named by its own path, not by a link to it.
        names.sort(key=lambda name: os.path.islink(real / name))
        self._open.append(_Open(real, path, identity, iter(names), built))

    def _left(self, path: str, status: FileStatus, reason: str) -> LeftOut:
        return LeftOut(self._unique(path), status, shown(reason))

    def _unique(self, path: str) -> str:
        """The shown path; two names that look the same when shown are told apart."""
        base = candidate = shown(path)
        number = 2
        while candidate in self._paths:
            candidate = f"{base} ({number})"
            number += 1
        self._paths.add(candidate)
        return candidate


def _reason_to_skip(name: str, *, built: bool) -> str | None:
    if name.startswith("."):
        return "hidden: names that start with a dot are not read"
    if name in _TOOL_FOLDERS:
        return "folder of a tool, not read"
    if built and name in _SPHINX_FOLDERS:
        return "copies of sources and scripts beside built documentation, not read"
    return None
