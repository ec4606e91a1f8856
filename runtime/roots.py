"""Folders that may be indexed: `SUREFOOT_ROOTS`, and in a state directory also `roots.json`.

Paths named on the command line are recorded in `roots.json`, which the directory's own workers
read; with a configured server only `SUREFOOT_ROOTS` counts (INTERFACE, "Environment").
"""

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Final

import portalocker

from runtime.errors import UsageError
from runtime.settings import Env, absolute

_FILE: Final = "roots.json"


def add_root(home: Path, path: Path) -> None:
    """Allow a folder (or one file) to be indexed from this state directory; idempotent.

    Raises:
        UsageError: the path does not exist, or the state directory cannot be written.
    """
    root = absolute(path)
    if not root.exists():
        raise UsageError(f"{root}: no such file or folder")
    try:
        home.mkdir(parents=True, exist_ok=True)
        with (home / "roots.lock").open("a") as lock:
            portalocker.lock(lock, portalocker.LOCK_EX)
            known = recorded_roots(home)
            if root not in known:
                _write(home / _FILE, [str(p) for p in (*known, root)])
    except OSError as error:
        raise UsageError(f"{home}: the state directory cannot be written: {error}") from error


def recorded_roots(home: Path) -> list[Path]:
    """What `roots.json` of a state directory allows; nothing where there is none.

    Raises:
        UsageError: the file is no JSON list of texts.
    """
    file = home / _FILE
    try:
        data: Any = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: expected a JSON list of paths: {error}") from error
    if not isinstance(data, list) or not all(isinstance(p, str) for p in data):  # pyright: ignore[reportUnknownVariableType]
        raise UsageError(f"{file}: expected a JSON list of paths")
    return [Path(str(p)) for p in data]  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]


def allowed_roots(env: Env, *, embedded: bool) -> list[Path]:
    """Every folder that may be indexed now; read afresh on each call."""
    recorded = recorded_roots(env.home) if embedded else []
    return [*env.roots, *(path for path in recorded if path not in env.roots)]


def _write(file: Path, paths: list[str]) -> None:
    """Replace the file in one step, so that a reader never sees half of it."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=_FILE)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            json.dump(paths, out, ensure_ascii=False, indent=1)
        Path(name).replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
