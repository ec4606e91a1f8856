"""Many real processes on one store, killed in the middle of writing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from activities.store.base import ref_of
from activities.store.files import FileStore
from tests.store.writer import content

REPOSITORY = Path(__file__).parents[2]
WRITERS = 4
OBJECTS = 25


def start(root: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.store.writer", str(root), "run"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )


@pytest.mark.crash
async def test_killed_writers_leave_no_torn_object(tmp_path: Path) -> None:
    root = tmp_path / "new store"
    writers = [start(root) for _ in range(WRITERS)]
    identities: set[str] = set()
    kept: list[int] = []
    for writer in writers:
        assert writer.stdout is not None
        identities.add(writer.stdout.readline().strip())
    for writer in writers:  # each is killed somewhere in a write of its own
        assert writer.stdout is not None
        kept += [int(writer.stdout.readline()) for _ in range(OBJECTS)]
        writer.send_signal(signal.SIGKILL)
        kept += [int(line) for line in writer.stdout.read().split()]
        writer.wait()
        writer.stdout.close()
    store = FileStore(root)
    assert identities == {store.store_id}
    for number in set(kept):  # what a writer said was kept is whole
        assert await store.get("run", ref_of(content(number))) == content(number)
    objects = [path for path in (root / "objects").rglob("*") if path.is_file()]
    for path in objects:  # and so is everything else that stands there
        assert ref_of(path.read_bytes()) == "sha256:" + path.name
    assert len(objects) >= OBJECTS
    record = await store.get_record("result", "one name")
    assert record in {content(number) for number in range(max(kept) + 2)}
