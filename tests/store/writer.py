"""A process that writes objects and a record until it is killed: `writer.py ROOT RUN`.

Every process writes the same sequence of objects, so that they write the same ones at once. It
prints the store's identity, then the number of each object that is kept.
"""

import asyncio
import sys
from itertools import count
from pathlib import Path

from activities.store.files import FileStore


def content(number: int) -> bytes:
    """The object of a number: 64 KiB that tell themselves apart."""
    return f"object {number} 对象\n".encode() * 3000


async def main(root: Path, run: str) -> None:
    store = FileStore(root)
    print(store.store_id, flush=True)  # noqa: T201 - what the test reads
    for number in count():
        await store.put(run, content(number))
        await store.put_record("result", "one name", content(number))
        print(number, flush=True)  # noqa: T201 - what the test reads


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
