"""Failures of other systems (cases/failures.jsonl, group E), each with what is right here.

E03, E05: tests/search/test_corpus.py; E09: test_nasty_files.py; E11, E14: test_index.py.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from activities.ingest.catalogue import file_statuses
from activities.ingest.database import CollectionDamagedError, collection_path
from activities.ingest.index import index_folder
from activities.search.backend import Found
from activities.search.corpus import CorpusBackend
from tests.ingest import pdf_files as pdf
from tests.search.asked import task
from workflows.contracts.corpus import IndexResult

SENTENCE = "生产数据库在法兰克福"
PROSE = "The nightly backup is kept for thirty days and is then deleted. " * 8


def index(home: Path, folder: Path) -> IndexResult:
    return index_folder(home, "notes", str(folder), [folder], lambda _: None)


def search(home: Path, query: str) -> Found:
    asked = task([query], ["notes"], extractive=False, min_cover=0.0)
    return CorpusBackend(home)._search(query, asked)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "docs"
    path.mkdir()
    return path


def test_e06_a_folder_of_good_and_bad_pdf_files(tmp_path: Path, folder: Path) -> None:
    good = pdf.made(pdf.words(PROSE), pdf.words("Second page."))
    damaged = good.replace(b"/Contents", b"/Kontents", 1)
    files = {
        "good.pdf": good,
        "scan.pdf": pdf.made(pdf.image()),
        "locked.pdf": pdf.made(pdf.words(PROSE), user="secret"),
        "cut.pdf": good[:300],
        "zero.pdf": b"",
        "page.pdf": damaged,
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    result = index(tmp_path, folder)
    found = {f.path: f for f in file_statuses(tmp_path, "notes")}
    assert {name: found[name].status for name in files if name != "page.pdf"} == {
        "good.pdf": "indexed",
        "scan.pdf": "scanned",
        "locked.pdf": "encrypted",
        "cut.pdf": "corrupt",
        "zero.pdf": "empty",
    }
    # Files without text are not counted as indexed; what is left of the damaged one can be found.
    assert result.files["indexed"] <= 2
    (second,) = search(tmp_path, "second page").passages  # two copies of one page are one
    assert second.source_id in {"notes:good.pdf", "notes:page.pdf"}
    assert second.headings == ("p. 2",)


def test_e08_one_sentence_in_eight_encodings(tmp_path: Path, folder: Path) -> None:
    files = {
        "utf-8": SENTENCE.encode(),
        "utf-8-bom": SENTENCE.encode("utf-8-sig"),
        "gbk": SENTENCE.encode("gbk"),
        "gb18030": SENTENCE.encode("gb18030"),
        "utf-16le-bom": b"\xff\xfe" + SENTENCE.encode("utf-16-le"),
        "utf-16be-bom": b"\xfe\xff" + SENTENCE.encode("utf-16-be"),
        "utf-16le": SENTENCE.encode("utf-16-le"),
        "big5": "生產資料庫在法蘭克福".encode("big5"),
    }
    for name, data in files.items():
        # Each says which it is, so that copies are told apart.
        (folder / f"{name}.txt").write_bytes(data)
    index(tmp_path, folder)
    found = {f.path.removesuffix(".txt"): f for f in file_statuses(tmp_path, "notes")}
    readable = [name for name, file in found.items() if file.status == "indexed"]
    assert set(list(files)[:6]) <= set(readable)
    for name in set(files) - set(readable):
        assert found[name].reason  # the last two are read, or said not to be
    texts = {p.excerpt for p in search(tmp_path, "法兰克福").passages}
    assert texts <= {SENTENCE, "生產資料庫在法蘭克福"}
    assert search(tmp_path, "数据库").passages


_MEASURED = """
import sys
from pathlib import Path
from activities.ingest.index import index_folder
home, folder = map(Path, sys.argv[1:])
print(index_folder(home, "notes", str(folder), [folder], lambda _: None).model_dump_json())
"""


def test_e10_memory_stays_bounded(tmp_path: Path, folder: Path) -> None:
    block = b"".join(b"line %d of a log that goes on and on\n" % n for n in range(250_000))
    with (folder / "half-a-gigabyte.log").open("wb") as file:
        for _ in range(500_000_000 // len(block)):
            file.write(block)
    (folder / "one-line.txt").write_bytes(b"word " * 10_000_000)
    many = folder / "many"
    many.mkdir()
    for number in range(3_000):
        (many / f"{number}.txt").write_text(f"Note {number}.\n")
    peak = 0
    with subprocess.Popen(
        [sys.executable, "-c", _MEASURED, str(tmp_path / "home"), str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    ) as process:
        watched = psutil.Process(process.pid)
        ended = threading.Event()
        out: list[str] = []

        def wait() -> None:
            out.append(process.communicate()[0])
            ended.set()

        thread = threading.Thread(target=wait)
        thread.start()
        while not ended.wait(0.1):
            try:
                family = [watched, *watched.children(recursive=True)]
                peak = max(peak, sum(p.memory_info().rss for p in family))
            except psutil.Error:
                continue
        thread.join()
    result = IndexResult.model_validate_json(out[0])
    assert result.files == {"indexed": 3_000, "partial": 2}
    reasons = {problem.path: problem.reason for problem in result.problems}
    assert "the first 21.0 of 4" in reasons["half-a-gigabyte.log"]
    assert "of 50.0 MB are indexed" in reasons["one-line.txt"]
    assert peak < 500_000_000, f"{peak / 1e6:.0f} MB"


def test_e13_deleted_renamed_and_edited_files(tmp_path: Path, folder: Path) -> None:
    for name in ("deleted", "renamed", "edited"):
        (folder / f"{name}.md").write_text(f"The {name} file holds the {name} word.\n")
    assert index(tmp_path, folder).version == 1
    (folder / "deleted.md").unlink()
    (folder / "renamed.md").rename(folder / "moved.md")
    (folder / "edited.md").write_text("Now it holds a changed word.\n")
    assert index(tmp_path, folder).version == 2
    assert search(tmp_path, "deleted").passages == ()
    assert [p.source_id for p in search(tmp_path, "renamed").passages] == ["notes:moved.md"]
    assert [p.source_id for p in search(tmp_path, "changed").passages] == ["notes:edited.md"]
    assert search(tmp_path, "edited file").passages[0].sha256
    if os.geteuid():  # root reads everything
        (folder / "moved.md").chmod(0)
        assert index(tmp_path, folder).files == {"indexed": 1, "unreadable": 1}


def test_e16_a_search_that_fails_says_why(tmp_path: Path, folder: Path) -> None:
    (folder / "a.md").write_text(PROSE)
    index(tmp_path, folder)
    path = collection_path(tmp_path, "notes")
    path.with_name("notes.db-wal").unlink(missing_ok=True)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(bytes(data))
    with pytest.raises(CollectionDamagedError, match="index again"):
        search(tmp_path, "backup")
