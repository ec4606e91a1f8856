"""The `index` activity: the indexer in a thread, heartbeats with counts, a clean cancel."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.ingest.database import CollectionDamagedError, IndexBusyError
from activities.ingest.index import IndexCancelledError, IndexRefusedError, index_folder
from workflows.contracts import names
from workflows.contracts.corpus import IndexProgress, IndexResult, IndexTask

_HEARTBEAT_SECONDS: Final = 0.5
_MESSAGE_CHARACTERS = 500


class IndexActivities:
    """Activities on collections of one state directory.

    `roots` is asked at each call, so that a folder that was allowed meanwhile counts.
    """

    def __init__(self, home: Path, roots: Callable[[], list[Path]]) -> None:
        self._home = home
        self._roots = roots

    @activity.defn(name=names.INDEX)
    async def index(self, task: IndexTask) -> IndexResult:
        """Build or refresh a collection; heartbeats are `IndexProgress`.

        On cancel the indexer stops before its next file and changes nothing.

        Raises:
            ApplicationError: `InvalidTask`, not retryable, for what is refused; `ToolError`,
                retryable, when the collection is busy or the disk fails.
        """
        stop = threading.Event()
        latest = IndexProgress()

        def note(progress: IndexProgress) -> None:
            nonlocal latest
            latest = progress

        def work() -> IndexResult:
            roots = self._roots()
            return index_folder(self._home, task.name, task.path, roots, note, stop.is_set)

        running = asyncio.ensure_future(asyncio.to_thread(work))
        try:
            while not running.done():
                activity.heartbeat(latest)
                await asyncio.wait({running}, timeout=_HEARTBEAT_SECONDS)
            activity.heartbeat(latest)
            return _checked(running)
        finally:
            # The thread ends before the activity does, also when it is cancelled: a next attempt
            # would find the collection locked.
            stop.set()
            await _ended(running)


def _checked(running: asyncio.Future[IndexResult]) -> IndexResult:
    try:
        return running.result()
    except IndexRefusedError as error:
        raise ApplicationError(
            str(error)[:_MESSAGE_CHARACTERS], type=names.INVALID_TASK, non_retryable=True
        ) from None
    except CollectionDamagedError as error:
        raise ApplicationError(
            str(error)[:_MESSAGE_CHARACTERS], type=names.TOOL_ERROR, non_retryable=True
        ) from None
    except (IndexBusyError, OSError, sqlite3.Error) as error:
        raise ApplicationError(str(error)[:_MESSAGE_CHARACTERS], type=names.TOOL_ERROR) from None


async def _ended(running: asyncio.Future[IndexResult]) -> None:
    if running.done():
        return
    await asyncio.wait({running})
    error = running.exception()
    if error is not None and not isinstance(error, IndexCancelledError):
        activity.logger.warning("the cancelled indexer ended with an error: %s", error)
