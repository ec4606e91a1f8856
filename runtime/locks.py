"""A lock on a file that many processes share; the kernel drops it when its holder dies.

Each lock has an open file of its own, so two holders in one process exclude each other as two
processes do. Nothing is ever written to the file, and it is never removed.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Final

import portalocker

from runtime.errors import ServerError

_POLL_SECONDS: Final = 0.05


class FileLock:
    """Held exclusively, shared, or not at all."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    def try_lock(self, *, shared: bool = False) -> bool:
        """Take the lock if it is free right now; a lock already held by this object is given up.

        Raises:
            OSError: the file cannot be opened.
        """
        self.release()
        kind = portalocker.LOCK_SH if shared else portalocker.LOCK_EX
        file = self._path.open("ab")
        try:
            portalocker.lock(file, kind | portalocker.LOCK_NB)
        except portalocker.LockException:
            file.close()
            return False
        self._file = file
        return True

    def release(self) -> None:
        """Give the lock up, if it is held."""
        if self._file is not None:
            self._file.close()  # closing drops the lock on every platform
            self._file = None

    @asynccontextmanager
    async def exclusive(self, seconds: float) -> AsyncGenerator[None]:
        """Wait for the lock without blocking the event loop.

        Raises:
            ServerError: it was not free for that long.
        """
        deadline = time.monotonic() + seconds
        while not self.try_lock():
            if time.monotonic() > deadline:
                raise ServerError(
                    f"{self._path}: another session has held this lock for {seconds:.0f} s; "
                    "end the session that hangs, then try again"
                )
            await asyncio.sleep(_POLL_SECONDS)
        try:
            yield
        finally:
            self.release()
