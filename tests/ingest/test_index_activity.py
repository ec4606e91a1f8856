"""The `index` activity: heartbeats with counts, refusals, cancel."""

import asyncio
from pathlib import Path

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.ingest.activities import IndexActivities
from activities.ingest.catalogue import collections
from activities.ingest.database import collection_path, writing
from workflows.contracts.corpus import IndexProgress, IndexTask
from workflows.contracts.names import INVALID_TASK, TOOL_ERROR


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "docs"
    path.mkdir()
    for number in range(5):
        (path / f"{number}.md").write_text(f"# Note {number}\n\n第 {number} 条笔记。\n", "utf-8")
    return path


def activities(home: Path, *roots: Path) -> IndexActivities:
    return IndexActivities(home, lambda: list(roots))


async def test_it_indexes_and_heartbeats(tmp_path: Path, folder: Path) -> None:
    env = ActivityEnvironment()
    beats: list[IndexProgress] = []
    env.on_heartbeat = beats.append
    task = IndexTask(name="notes", path=str(folder))
    result = await env.run(activities(tmp_path, folder).index, task)
    assert result.files == {"indexed": 5}
    assert beats[-1] == IndexProgress(done=5, total=5, path="4.md")


async def test_refusals_are_not_retried(tmp_path: Path, folder: Path) -> None:
    task = IndexTask(name="notes", path=str(folder))
    with pytest.raises(ApplicationError, match="outside") as error:
        await ActivityEnvironment().run(activities(tmp_path).index, task)
    assert (error.value.type, error.value.non_retryable) == (INVALID_TASK, True)


async def test_a_busy_collection_is_retried(tmp_path: Path, folder: Path) -> None:
    task = IndexTask(name="notes", path=str(folder))
    with (
        writing(collection_path(tmp_path, "notes")),
        pytest.raises(ApplicationError, match="being indexed") as error,
    ):
        await ActivityEnvironment().run(activities(tmp_path, folder).index, task)
    assert (error.value.type, error.value.non_retryable) == (TOOL_ERROR, False)


async def test_a_damaged_collection_is_not_retried(tmp_path: Path, folder: Path) -> None:
    path = collection_path(tmp_path, "notes")
    path.parent.mkdir()
    path.write_bytes(b"no database" * 200)
    task = IndexTask(name="notes", path=str(folder))
    with pytest.raises(ApplicationError, match=r"delete notes\.db") as error:
        await ActivityEnvironment().run(activities(tmp_path, folder).index, task)
    assert error.value.non_retryable


async def test_cancel_ends_it_and_changes_nothing(tmp_path: Path, folder: Path) -> None:
    for number in range(400):
        (folder / f"more-{number}.md").write_text("# Text\n\nSome text of a note.\n" * 60)
    env = ActivityEnvironment()
    begun = asyncio.Event()
    env.on_heartbeat = lambda *_: begun.set()
    task = IndexTask(name="notes", path=str(folder))
    running = asyncio.create_task(env.run(activities(tmp_path, folder).index, task))
    await begun.wait()
    env.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert collections(tmp_path) == []
    # The thread has ended: the lock is free.
    with writing(collection_path(tmp_path, "notes")):
        pass
