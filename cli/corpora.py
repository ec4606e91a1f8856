"""What `--corpus` names: folders that are indexed first, and collections that exist."""

import contextlib
import dataclasses
import hashlib
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from activities.ingest.catalogue import collections
from runtime.errors import UsageError
from runtime.settings import Env

DEFAULT: Final = "default"
_NAME_LENGTH: Final = 64
_DIGEST: Final = 6
_SHOWN: Final = 20


@dataclasses.dataclass(frozen=True)
class Corpus:
    """A collection of a run; with a path it is indexed before the run starts."""

    name: str
    path: Path | None = None


def chosen(arguments: Sequence[str], env: Env, *, embedded: bool) -> list[Corpus]:
    """What the `--corpus` arguments name, in order, each collection once.

    An existing path is a path; anything else is a name. With a configured server collections are
    its workers' own, so names are checked there.

    Raises:
        UsageError: neither a path nor a collection; no argument and no collection `default`.
    """
    known = roots_by_name(env) if embedded else {}
    taken = dict(known)
    corpora: list[Corpus] = []
    for argument in arguments or (DEFAULT,):
        path = existing_path(argument) if arguments else None
        if path is not None:
            name = name_for(path, taken) if embedded else _with_digest(slug(path), path)
            taken[name] = str(path)
            corpora.append(Corpus(name, path))
        else:
            if embedded and argument not in known:
                raise _unknown(argument, list(known), given=bool(arguments))
            corpora.append(Corpus(argument))
    return list({corpus.name: corpus for corpus in corpora}.values())


def roots_by_name(env: Env) -> dict[str, str]:
    """Collections of the state directory, each with the path it was built from."""
    return {info.name: info.root for info in collections(env.home)}


def existing_path(argument: str) -> Path | None:
    """The absolute path of an existing file or folder, else None."""
    with contextlib.suppress(OSError, ValueError):
        path = Path(argument).expanduser()
        if argument and path.exists():
            return Path(os.path.abspath(path))
    return None


def name_for(path: Path, taken: Mapping[str, str], wanted: str = "") -> str:
    """A collection's name for a path: `wanted`, or the path's slug.

    A digest is added where another path has that name, so that nobody's collection is replaced.
    """
    name = wanted or slug(path)
    root = taken.get(name)
    # A damaged collection has no root; it is not touched.
    if root is None or (root and same_path(Path(root), path)):
        return name
    return _with_digest(name, path)


def slug(path: Path) -> str:
    """A path's last part as a name: letters of any script, digits, `.`, `_`, `-`."""
    stem = path.stem if path.is_file() else path.name
    folded = unicodedata.normalize("NFKC", stem.encode("utf-8", "replace").decode()).casefold()
    name = re.sub(r"[^\w.-]+", "-", folded).strip("-.")
    return name[:_NAME_LENGTH].rstrip("-.") or "corpus"


def same_path(one: Path, other: Path) -> bool:
    """Whether two paths name the same place, links followed."""
    return os.path.realpath(one) == os.path.realpath(other)


def _with_digest(name: str, path: Path) -> str:
    place = os.fsencode(os.path.realpath(path))
    digest = hashlib.sha256(place).hexdigest()[:_DIGEST]
    return f"{name[: _NAME_LENGTH - _DIGEST - 1]}-{digest}"


def _unknown(name: str, known: list[str], *, given: bool) -> Exception:

    shown = ", ".join(known[:_SHOWN]) + (", …" if len(known) > _SHOWN else "")
    there = f"there are: {shown}" if known else "there is none yet"
    if given:
        return UsageError(
            f"--corpus {name}: neither an existing path nor a collection; {there}. "
            f"`starter.py index PATH --name NAME` makes one"
        )
    return UsageError(
        f"no --corpus given and no collection {DEFAULT!r}; {there}. Name a folder with "
        f"`--corpus PATH`, or index one as the default: `starter.py index PATH --name {DEFAULT}`"
    )
