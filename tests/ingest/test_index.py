"""Collections: building, refreshing, pruning, refusing, and what survives a failure.

How it can go wrong: one bad file stops the rest; a file outside gets in; a failed or killed update
leaves half an index; a change is missed, or a version grows without one.
"""

import multiprocessing
import os
import signal
import sqlite3
import sys
from contextlib import closing
from itertools import chain, repeat
from pathlib import Path

import pytest

from activities.ingest import database, index
from activities.ingest.catalogue import collection_root, collections, file_statuses
from activities.ingest.database import (
    CollectionDamagedError,
    CollectionMissingError,
    IndexBusyError,
    collection_path,
    writing,
)
from activities.ingest.index import IndexCancelledError, index_folder
from tests.ingest.built import Build, documents, query
from workflows.contracts.corpus import IndexProgress, IndexResult


def test_a_folder_becomes_a_collection(build: Build, home: Path, folder: Path) -> None:
    result = build()
    assert result == IndexResult(name="notes", version=1, chunks=2, files={"indexed": 2})
    assert documents(home) == ["loop.md", "sub/契约.md"]
    (info,) = collections(home)
    assert (info.name, info.version, info.chunks, info.problem) == ("notes", 1, 2, "")
    assert info.root == str(folder) == collection_root(home, "notes")
    assert info.files == {"indexed": 2}
    assert info.indexed_at.endswith("+00:00")
    assert collection_root(home, "other") is None


def test_a_single_file(build: Build, home: Path, folder: Path) -> None:
    assert build(folder / "loop.md").files == {"indexed": 1}
    assert documents(home) == ["loop.md"]


def test_every_chunk_is_its_range(build: Build, home: Path, folder: Path) -> None:
    (folder / "long.md").write_text("# 标题\n\n" + "中文句子与 English words。" * 400, "utf-8")
    build()
    for text, first, last in query(
        home, "SELECT d.text, first, last FROM chunks JOIN documents d ON d.id = document"
    ):
        assert isinstance(text, str)
        assert isinstance(first, int)
        assert isinstance(last, int)
        piece = text[first:last]
        assert piece
        assert piece == piece.strip()


def test_only_changes_make_a_version(build: Build, home: Path, folder: Path) -> None:
    assert build().version == 1
    assert build().version == 1
    os.utime(folder / "loop.md", ns=(1, 1))
    assert build().version == 1
    (folder / "loop.md").write_text(
        "# Agent loop\n\nIt ends when the goal is met, or not at all.\n"
    )
    assert build().version == 2
    (folder / "loop.md").unlink()
    assert build().version == 3
    assert documents(home) == ["sub/契约.md"]
    assert query(home, "SELECT count(*) FROM ft WHERE ft MATCH 'goal'") == [(0,)]
    assert query(home, "SELECT count(*) FROM terms WHERE term = 'goal'") == [(0,)]


def test_a_change_of_equal_size_and_time_is_seen(build: Build, home: Path, folder: Path) -> None:
    file = folder / "loop.md"
    before = file.stat()
    build()
    file.write_text(file.read_text().replace("budget", "wallet"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert build().version == 2
    assert query(home, "SELECT count(*) FROM ft WHERE ft MATCH 'wallet'") == [(1,)]


def test_another_root_takes_over(build: Build, home: Path, folder: Path) -> None:
    build()
    other = folder.parent / "other"
    other.mkdir()
    (other / "new.md").write_text("New text.\n")
    assert build(other).version == 2
    assert documents(home) == ["new.md"]
    assert collection_root(home, "notes") == str(other)


def test_new_tokens_and_new_readers_renew_everything(
    build: Build, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build()
    monkeypatch.setattr(index, "TOKENS", "99")
    assert build().version == 2
    assert build().version == 2
    assert query(home, "SELECT count(*) FROM ft WHERE ft MATCH 'budget'") == [(1,)]
    monkeypatch.setattr(index, "READERS_VERSION", 99)
    assert build().version == 3
    monkeypatch.setattr(database, "SCHEMA_VERSION", 99)
    assert build().version == 4
    assert query(home, "SELECT count(*) FROM documents") == [(2,)]


def test_each_file_ends_with_a_status(build: Build, home: Path, folder: Path) -> None:
    (folder / "notes.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    (folder / "one-nul.md").write_bytes(b"text \0 text")
    (folder / "gbk.txt").write_bytes("生产数据库".encode("gbk"))
    (folder / "nothing.md").write_bytes(b"")
    (folder / "head.md").write_text("---\ntopics: [a\n---\nText.\n")
    (folder / "huge.txt").write_bytes(b"x" * (20 * 1024 * 1024 + 1))
    (folder / "style.css").write_text("p {}")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("secret")
    (folder / "node_modules").mkdir()
    os.mkfifo(folder / "pipe")
    result = build()
    assert result.files == {
        "indexed": 3,
        "partial": 2,
        "binary": 1,
        "empty": 1,
        "unsupported": 5,
    }
    statuses = {p.path: p.status for p in file_statuses(home, "notes")}
    assert statuses[".git"] == statuses["pipe"] == "unsupported"
    assert [p.path for p in file_statuses(home, "notes", "binary")] == ["one-nul.md"]
    assert all(p.reason for p in result.problems)
    # Failures stand before what is merely of another format.
    assert [p.status for p in result.problems][-5:] == ["unsupported"] * 5
    (folder / "one-nul.md").write_text("repaired\n")
    assert build().files["indexed"] == 4


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file(build: Build, folder: Path) -> None:
    (folder / "closed.md").write_text("closed")
    (folder / "closed.md").chmod(0)
    assert build().files == {"indexed": 2, "unreadable": 1}


def test_a_file_from_the_far_future(build: Build, folder: Path) -> None:
    os.utime(folder / "loop.md", ns=(10**9, 13_000_000_000 * 10**9))
    assert build().files == {"indexed": 2}
    assert build().version == 1


def test_what_failed_is_tried_again(build: Build, home: Path, folder: Path) -> None:
    build()
    with closing(sqlite3.connect(collection_path(home, "notes"))) as db:
        db.execute(
            "UPDATE files SET status = 'corrupt', reason = 'crashed', raw_sha256 = ''"
            " WHERE path = 'loop.md'"
        )
        db.commit()
    assert build().files == {"indexed": 2}


def test_progress_counts_files(home: Path, folder: Path) -> None:
    seen: list[IndexProgress] = []
    index_folder(home, "notes", str(folder), [folder], seen.append)
    assert [(p.done, p.total, p.path) for p in seen] == [
        (0, 2, ""),
        (1, 2, "loop.md"),
        (2, 2, "sub/契约.md"),
    ]


def test_a_cancelled_update_changes_nothing(build: Build, home: Path, folder: Path) -> None:
    build()
    (folder / "loop.md").write_text("something else entirely")
    answers = chain([False], repeat(True))
    with pytest.raises(IndexCancelledError):
        index_folder(home, "notes", str(folder), [folder], lambda _: None, lambda: next(answers))
    assert query(home, "SELECT count(*) FROM ft WHERE ft MATCH 'budget'") == [(1,)]
    assert build().version == 2


def test_a_failed_first_update_leaves_no_collection(home: Path, folder: Path) -> None:
    def fail(_: IndexProgress) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        index_folder(home, "notes", str(folder), [folder], fail)
    assert collections(home) == []


def test_two_indexers_of_one_collection(build: Build, home: Path) -> None:
    with writing(collection_path(home, "notes")):
        with pytest.raises(IndexBusyError, match="being indexed by another process"):
            build()
        assert build(name="other").version == 1
    assert build().version == 1


def test_a_damaged_collection_is_named(build: Build, home: Path) -> None:
    build()
    path = collection_path(home, "notes")
    for file in path.parent.glob("notes.db*"):
        file.unlink()
    path.write_bytes(b"this is no database" * 100)
    (info,) = collections(home)
    assert "notes" in info.problem
    with pytest.raises(CollectionDamagedError, match=r"delete notes\.db"):
        build()
    with pytest.raises(CollectionDamagedError):
        file_statuses(home, "notes")
    with pytest.raises(CollectionMissingError):
        file_statuses(home, "other")


def _index_and_wait(home: Path, folder: Path, ready: "multiprocessing.Queue[int]") -> None:
    def note(progress: IndexProgress) -> None:
        if progress.done == 2:
            ready.put(progress.done)
            signal.pause()

    index_folder(home, "notes", str(folder), [folder], note)


@pytest.mark.crash
def test_a_killed_update_leaves_the_old_index(build: Build, home: Path, folder: Path) -> None:
    build()
    (folder / "loop.md").write_text("killed before this was kept")
    context = multiprocessing.get_context("spawn")
    ready = context.Queue()
    process = context.Process(target=_index_and_wait, args=(home, folder, ready))
    process.start()
    ready.get(timeout=60)
    process.kill()
    process.join()
    assert query(home, "PRAGMA integrity_check") == [("ok",)]
    assert query(home, "SELECT count(*) FROM ft WHERE ft MATCH 'budget'") == [(1,)]
    assert build().version == 2
    assert query(home, "SELECT count(*) FROM ft WHERE ft MATCH 'killed'") == [(1,)]


def test_a_damaged_collection_leaves_the_others_alone(tmp_path: Path) -> None:
    for name in ("good", "bad"):
        folder = tmp_path / name
        folder.mkdir()
        for number in range(30):
            (folder / f"{number}.md").write_text(f"# Note {number}\n\n" + "words " * 400, "utf-8")
        index_folder(tmp_path, name, str(folder), [folder], lambda _: None)
    path = database.collection_path(tmp_path, "bad")
    path.with_name("bad.db-wal").unlink(missing_ok=True)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(bytes(data))
    assert database.collection_names(tmp_path) == ["bad", "good"]
    bad, good = collections(tmp_path)
    assert "delete bad.db" in bad.problem
    assert (good.problem, good.chunks > 0) == ("", True)
