"""A session in a process of its own: joins, says which server, leaves when its input ends."""

import asyncio
import json
import sys
from pathlib import Path

from runtime.embedded import EmbeddedServer


async def _session(home: Path) -> None:
    async with await EmbeddedServer.join(home) as server:
        sys.stdout.write(json.dumps({"pid": server.pid, "address": server.address}) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_session(Path(sys.argv[1])))
