"""Reading processes: order, hanging and greedy readers, crashes, cancel, nothing left behind.

How it can go wrong: one file holds all others; a killed reader takes its neighbours along; answers
get out of order; a reader sees a key; a process outlives its indexer.
"""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from activities.ingest import pool
from activities.ingest.index import IndexCancelledError, index_folder
from activities.ingest.pool import Job, reading
from activities.ingest.wire import BATCH, Frame, receive, send
from workflows.contracts.corpus import FileProblem, IndexResult

REPOSITORY = Path(__file__).parents[2]

# Stands in for a parser that fails in its own way; everything around it is real.
BAD_READER = """
import os, signal, sys, time
from activities.ingest import child, readers

def read(file, path, mtime_ns, real=readers.read_document):
    if path == "hang.md":
        time.sleep(600)
    if path == "burn.md":
        while True: pass
    if path == "eat.md":
        held = bytearray(1 << 31)
    if path == "grow.md":
        held = []
        while True: held.append(b"x" * 1_000_000)
    if path == "crash.md":
        os.kill(os.getpid(), signal.SIGSEGV)
    if path == "defect.md":
        raise TypeError("no such thing")
    if path == "loud.md":
        print("a library prints this")
        os.write(1, b"and this")
    return real(file, path, mtime_ns)

child.read_document = read
child.PROCESSOR_SECONDS = 1
child.main()
"""


@pytest.fixture(autouse=True)
def _own_readers() -> Iterator[None]:
    pool.close_idle()
    yield
    pool.close_idle()


@pytest.fixture
def bad_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading processes that fail at certain files."""
    script = tmp_path / "bad_reader.py"
    script.write_text(BAD_READER)
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    monkeypatch.setattr(pool, "COMMAND", [sys.executable, str(script)])
    monkeypatch.setattr(pool, "SECONDS", 20.0)


def folder_of(tmp_path: Path, *names: str) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in names:
        (folder / name).write_text(f"# Note\n\nThe text of {name}.\n")
    return folder


def index(tmp_path: Path, folder: Path) -> IndexResult:
    return index_folder(tmp_path / "home", "notes", str(folder), [folder], lambda _: None)


@pytest.mark.usefixtures("bad_reader")
def test_one_bad_file_never_stops_the_rest(tmp_path: Path) -> None:
    bad = ("burn.md", "crash.md", "defect.md", "eat.md", "grow.md", "hang.md")
    good = tuple(f"{letter}.md" for letter in "abcdefghij")
    result = index(tmp_path, folder_of(tmp_path, *bad, *good, "loud.md"))
    assert result.files == {"indexed": 11, "corrupt": 2, "too_large": 2, "unreadable": 2}
    problems: dict[str, FileProblem] = {problem.path: problem for problem in result.problems}
    assert sorted(problems) == sorted(bad)
    assert "took longer than 20 s" in problems["hang.md"].reason
    assert "processor time" in problems["burn.md"].reason
    assert "MB of memory" in problems["eat.md"].reason
    assert "MB of memory" in problems["grow.md"].reason
    assert "crashed (signal 11)" in problems["crash.md"].reason
    assert "TypeError: no such thing" in problems["defect.md"].reason


def _documents(folder: Path, names: list[str]) -> Iterator[Job]:
    for name in names:
        path = folder / name
        frame = {"file": str(path), "path": name, "mtime_ns": 0, "known": ""}
        yield Job(frame, path.stat().st_size)


def test_answers_come_in_order_whatever_their_size(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    names = [f"{n:02}.md" for n in range(40)]
    for number, name in enumerate(names):
        size = 400_000 if number % 7 == 0 else 10
        (folder / name).write_text(f"# {name}\n\n" + f"Sentence of {name}. " * size)
    seen: list[str] = []
    with reading(3) as readers:
        for job, frames in readers.answers(_documents(folder, names), lambda: False):
            kinds: list[str] = []
            chunks = 0
            for frame in frames:
                kinds.append(frame["kind"])
                if frame["kind"] == "document":
                    seen.append(frame["title"])
                if frame["kind"] == "chunks":
                    assert 0 < len(frame["rows"]) <= BATCH
                    chunks += len(frame["rows"])
            assert kinds[0] == "document"
            assert kinds[-1] == "end"
            assert chunks > 0
            assert job.frame["path"] == seen[-1]
    assert seen == names


@pytest.mark.usefixtures("bad_reader")
def test_a_cancel_does_not_wait_for_a_hanging_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "SECONDS", 600.0)
    folder = folder_of(tmp_path, "hang.md")
    started = time.monotonic()

    def cancelled() -> bool:
        return time.monotonic() - started > 1

    before = set(psutil.Process().children())
    with pytest.raises(IndexCancelledError):
        index_folder(tmp_path / "home", "n", str(folder), [folder], lambda _: None, cancelled)
    assert time.monotonic() - started < 60
    assert set(psutil.Process().children()) <= before


def test_a_reader_sees_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    monkeypatch.setenv("SUREFOOT_CODEC_KEYS", "canary")
    index(tmp_path, folder_of(tmp_path, "a.md"))
    (child,) = pool._idle
    environment = psutil.Process(child.process.pid).environ()
    assert "canary" not in str(environment)


def test_idle_readers_are_used_again(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "a.md")
    index(tmp_path, folder)
    (first,) = pool._idle
    (folder / "b.md").write_text("More text.\n")
    index(tmp_path, folder)
    assert first in pool._idle
    first.process.kill()
    first.process.wait()
    (folder / "c.md").write_text("Still more text.\n")
    assert index(tmp_path, folder).files == {"indexed": 3}


def test_frames_survive_the_wire() -> None:
    odd: Frame = {"file": "bad\udcff name", "text": "中文 \0 é\n" * 20_000, "kind": "document"}
    read, write = os.pipe()
    with os.fdopen(read, "rb") as source:
        if os.fork() == 0:
            with os.fdopen(write, "wb") as target:
                send(target, odd)
                send(target, {"kind": "end"})
            os._exit(0)
        os.close(write)
        assert receive(source) == odd
        assert receive(source) == {"kind": "end"}
        assert receive(source) is None
    os.wait()


@pytest.mark.parametrize("data", [b"\xff\xff\xff\xff", b"\0\0\0\x02[]", b"\0\0\0\x01{"])
def test_what_is_no_frame_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "frames").write_bytes(data)
    with (tmp_path / "frames").open("rb") as source, pytest.raises(ValueError, match=r"frame|Exp"):
        receive(source)
