"""Speed of collections: indexing, a refresh without changes, searches, and the memory it takes.

    uv run python -m bench.search FOLDER [QUERY]...

Without queries, headings of the collection's own sections are asked. A folder with files of several
formats is indexed as a whole, then each format apart. Memory is that of this process and its
readers together, at its peak; processor time is theirs too, and tells what a busy machine hides.
"""

import asyncio
import json
import shutil
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

import psutil

from activities.ingest.database import collection_path, open_reader
from activities.ingest.index import index_folder
from activities.ingest.pool import close_idle
from activities.search.corpus import CorpusBackend
from workflows.contracts.task import ResolvedLimits, ResolvedTask, ResolvedTopic
from workflows.logic.terms import content_query, names_of

_ROUNDS = 5
_TOPICS = 40
_SHORTEST = 8
_WORDS = 8
_QUERY = 80
_FORMATS: Final = {
    ".html": "HTML", ".htm": "HTML", ".md": "Markdown", ".pdf": "PDF", ".docx": "Word",
}  # fmt: skip
# What a collection has less of than this is not measured apart.
_LEAST_FILES = 20


def task_of(query: str, corpora: list[str]) -> ResolvedTask:
    """A task whose only topic is a query."""
    topic = ResolvedTopic(
        id=query[:200], question=query[:500], query=content_query(query), names=names_of(query)
    )
    return ResolvedTask(
        goal=query,
        topics=[topic],
        strategy="react",
        corpora=corpora,
        tools=["search"],
        language="en",
        limits=ResolvedLimits(
            max_model_calls=6, max_tool_calls=4, max_no_progress=2, max_active_seconds=60
        ),
        planner="extractive",
        model="extractive",
        extractive=False,
    )


class _Memory:
    """The largest sum of resident memory of this process and its children."""

    def __init__(self) -> None:
        self.peak = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "_Memory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        me = psutil.Process()
        while not self._stop.wait(0.05):
            try:
                held = sum(p.memory_info().rss for p in (me, *me.children(recursive=True)))
            except psutil.Error:
                continue
            self.peak = max(self.peak, held)


@dataclass(frozen=True)
class _Times:
    """Seconds of an update on the clock and of processors, the readers' too."""

    wall: float
    processor: float


def _index(home: Path, folder: Path, name: str = "bench") -> _Times:
    close_idle()  # readers that are kept would not be counted, and save their start
    started, used = time.perf_counter(), _processor()
    index_folder(home, name, str(folder), [folder], lambda _: None)
    wall = time.perf_counter() - started
    close_idle()
    return _Times(wall, _processor() - used)


def _processor() -> float:
    used = psutil.Process().cpu_times()
    return used.user + used.system + used.children_user + used.children_system


def _format(path: str) -> str:
    suffix = PurePosixPath(path.lower().removesuffix(".gz")).suffix
    kind = _FORMATS.get(suffix, "text")
    return f"{kind}, gzipped" if path.endswith(".gz") else kind


def _indexed(home: Path) -> dict[str, list[str]]:
    """The paths of the documents of each format."""
    db = open_reader(collection_path(home, "bench"))
    found: dict[str, list[str]] = {}
    for (path,) in db.execute("SELECT path FROM documents ORDER BY path"):
        found.setdefault(_format(path), []).append(path)
    db.close()
    return {kind: paths for kind, paths in sorted(found.items()) if len(paths) >= _LEAST_FILES}


def _apart(home: Path, folder: Path, formats: dict[str, list[str]]) -> None:
    """Each format indexed by itself."""
    for number, (kind, paths) in enumerate(formats.items()):
        name = f"bench-{number}"
        with tempfile.TemporaryDirectory() as temporary:
            for path in filter(lambda path: (folder / path).is_file(), paths):
                copy = Path(temporary, path)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(folder / path, copy)
            _told(home, kind, _index(home, Path(temporary).resolve(), name), name)


def _topics(home: Path) -> list[str]:
    """Headings of sections from all over the collection, as somebody would ask for them.

    Where there are hardly any, the first words of passages.
    """
    db = open_reader(collection_path(home, "bench"))
    rows = db.execute(
        "SELECT headings, substr(text, 1, 200) FROM chunks ORDER BY id * 7919 % 100003"
    ).fetchall()
    db.close()
    paths = (json.loads(headings) for headings, _ in rows)
    last = (str(path[-1]) for path in paths if len(path) > 1)
    asked = list(dict.fromkeys(h for h in last if len(h) > _SHORTEST and h[:3] != "p. "))
    words = (" ".join(text.split()[:_WORDS])[:_QUERY] for _, text in rows[:_TOPICS])
    return [*asked, *filter(None, words)][:_TOPICS]


async def _searches(home: Path, queries: list[str]) -> list[float]:
    backend = CorpusBackend(home)
    times: list[float] = []
    for query in queries * _ROUNDS:
        task = task_of(query, ["bench"])
        started = time.perf_counter()
        await backend.search(task.topics[0].query, task)
        times.append((time.perf_counter() - started) * 1000)
    return times


def _told(home: Path, what: str, times: _Times, name: str = "bench") -> None:
    """How much was read in how long."""
    db = open_reader(collection_path(home, name))
    files, size = db.execute(
        "SELECT count(*), sum(size) FROM files WHERE status IN ('indexed', 'partial')"
    ).fetchone()
    text = db.execute("SELECT sum(length(text)) FROM documents").fetchone()[0]
    chunks = db.execute("SELECT count(*) FROM chunks").fetchone()[0]
    pages = db.execute(
        "SELECT count(DISTINCT document || headings) FROM chunks"
        " JOIN documents d ON d.id = document"
        " WHERE headings LIKE '%\"p. %' AND d.path LIKE '%.pdf'"
    ).fetchone()[0]
    db.close()
    print(f"{what}: {files} files of {size / 1e6:.1f} MB, {chunks} chunks")
    for seconds, kind in ((times.wall, "a second"), (times.processor, "a processor second")):
        print(
            f"  {seconds:.1f} s: {size / 1e6 / seconds:.1f} MB of files,"
            f" {text / 1e6 / seconds:.1f} million characters"
            + (f", {pages / seconds:.0f} pages" if pages else "")
            + f" {kind}"
        )


def main() -> None:
    """Index a folder into a temporary state directory and search it."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        with _Memory() as memory:
            times = _index(home, folder)
        _told(home, "all", times)
        print(f"memory: {memory.peak / 1e6:.0f} MB at its peak")
        print(f"refresh without changes: {_index(home, folder).wall * 1000:.0f} ms")
        found = asyncio.run(_searches(home, sys.argv[2:] or _topics(home)))
        p50 = statistics.median(found)
        p95 = statistics.quantiles(found, n=20)[18]
        print(f"search: p50 {p50:.1f} ms, p95 {p95:.1f} ms over {len(found)} searches")
        formats = _indexed(home)
        if len(formats) > 1:
            _apart(home, folder, formats)


if __name__ == "__main__":
    main()
