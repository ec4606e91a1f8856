"""Tasks side by side that end together: none is left behind when one of them ends the run.

A model call that is cut off is waited for, so that it has ended, and its account is settled, before
the run closes (DESIGN, "Failure": WAIT_CANCELLATION_COMPLETED).
"""

import asyncio
from collections.abc import Collection, Coroutine
from typing import Any, Final

from workflows.engine import Engine

ENDS_TOGETHER: Final = 3  # rules from which what is cut off is waited for


async def run_all(engine: Engine, works: Collection[Coroutine[Any, Any, None]]) -> None:
    """Run all of them side by side to their end; the first that fails ends the others.

    Raises:
        RunEnded: the run was ended meanwhile, or whatever else one of them raises.
    """
    tasks = [asyncio.create_task(work) for work in works]
    # No `finally`: an evicted run is closed outside the event loop, where nothing is awaited.
    try:
        if engine.task.rules >= ENDS_TOGETHER:
            await asyncio.gather(*tasks)  # a cancel reaches all of them at once
        for task in tasks:
            await task
    except (Exception, asyncio.CancelledError):
        await end_all(engine, tasks)
        raise


async def end_all(engine: Engine, tasks: Collection["asyncio.Task[None]"]) -> None:
    """Cancel what still runs, and wait until it has ended; what it raises then says nothing new."""
    for task in tasks:
        task.cancel()
    if engine.task.rules >= ENDS_TOGETHER:
        await asyncio.gather(*tasks, return_exceptions=True)
