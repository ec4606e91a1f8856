"""Heartbeats beside a call, so that cancel arrives and a dead worker is noticed."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from temporalio import activity

_FIRST: Final = 0.5  # seconds; a call that ends before is one request to the server less
_SECONDS: Final = 1.0


@asynccontextmanager
async def heartbeats() -> AsyncGenerator[None]:
    """Heartbeat every second while the body runs; the SDK throttles what goes out."""

    async def beat() -> None:
        await asyncio.sleep(_FIRST)
        while True:
            activity.heartbeat()
            await asyncio.sleep(_SECONDS)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
