"""kill -9 of the indexer at twenty moments, and readers beside a writer.

How it can go wrong: a half-written index answers; the file is damaged; a reader gets an error while
an update is committed; reading processes go on without their indexer.
"""

import random
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from activities.ingest.catalogue import collections
from activities.ingest.database import collection_path
from activities.ingest.index import index_folder
from activities.search.corpus import CorpusBackend
from tests.search.asked import task

pytestmark = pytest.mark.crash

_FILES = 120
_INDEXER = """
import sys
from pathlib import Path
from activities.ingest.index import index_folder
home, folder = map(Path, sys.argv[1:])
print("start", flush=True)
index_folder(home, "notes", str(folder), [folder], lambda p: print(p.done, flush=True))
"""


def _write(folder: Path, mark: str) -> None:
    """Every file anew; each holds the mark, so that a mixed index would be seen."""
    folder.mkdir(exist_ok=True)
    for number in range(_FILES):
        words = " ".join(f"word{number}x{n}" for n in range(900))
        (folder / f"{number:03}.md").write_text(f"# Note {number}\n\nmark {mark}\n\n{words}\n")


def _marks(home: Path) -> dict[str, int]:
    with closing(sqlite3.connect(collection_path(home, "notes"))) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        db.execute("INSERT INTO ft(ft) VALUES ('integrity-check')")
        return {
            mark: db.execute("SELECT count(*) FROM ft WHERE ft MATCH ?", (mark,)).fetchone()[0]
            for mark in ("alpha", "beta")
        }


def test_twenty_kills_leave_the_old_or_the_new_index(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "docs"
    _write(folder, "alpha")
    index_folder(home, "notes", str(folder), [folder], lambda _: None)
    current, other = "alpha", "beta"
    moments = random.Random(3)
    finished = 0
    for _ in range(20):
        _write(folder, other)
        with subprocess.Popen(
            [sys.executable, "-c", _INDEXER, str(home), str(folder)],
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            wanted = str(moments.randint(0, _FILES))
            for line in process.stdout:
                if line.strip() == wanted:
                    break
            time.sleep(moments.random() * 0.05)
            readers = psutil.Process(process.pid).children() if process.poll() is None else []
            process.kill()
        found = _marks(home)
        assert sorted(found.values()) == [0, _FILES]
        if found[other]:
            finished += 1
            current, other = other, current
        gone, left = psutil.wait_procs(readers, timeout=20)
        assert not left, f"{len(gone)} readers ended, {len(left)} did not"
    assert finished < 20
    index_folder(home, "notes", str(folder), [folder], lambda _: None)
    assert sorted(_marks(home).values()) == [0, _FILES]
    (info,) = collections(home)
    assert info.files == {"indexed": _FILES}


def _unexpected(backend: CorpusBackend, *, whole: bool) -> list[object]:
    """What of one search is not as it must be, in the old version as in the new one."""
    asked = task(["mark note"], ["notes"], extractive=False, min_cover=0.0)
    found = backend._search("mark note", asked)
    if len(found.passages) != 5:
        return [found]
    for passage in found.passages:
        try:
            # What was found is quoted from the version that was found, or not at all.
            text = backend._text(passage) if whole else passage.excerpt
        except OSError as error:
            return [] if "indexed again" in str(error) else [error]
        if "mark" not in text:
            return [text]
    return []


def test_four_readers_beside_a_writer(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "docs"
    _write(folder, "alpha")
    index_folder(home, "notes", str(folder), [folder], lambda _: None)
    stop = threading.Event()
    wrong: list[object] = []
    searches = [0] * 4

    def read(place: int) -> None:
        backend = CorpusBackend(home)
        while not stop.is_set():
            try:
                wrong.extend(_unexpected(backend, whole=place % 2 == 1))
            except Exception as error:  # noqa: BLE001 - any error at all is what must not be
                wrong.append(error)
            searches[place] += 1

    threads = [threading.Thread(target=read, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for mark in ("beta", "alpha", "beta", "alpha"):
        _write(folder, mark)
        index_folder(home, "notes", str(folder), [folder], lambda _: None)
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert min(searches) > 10
