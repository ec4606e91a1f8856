"""Speed of collections: indexing, a refresh without changes, searches, and the memory it takes.

    uv run python -m bench.search FOLDER [QUERY]...

Without queries, headings of the collection's own sections are asked. Memory is that of this process
and its readers together, at its peak. Figures of PDF files count pages as well.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

from activities.ingest.catalogue import collections
from activities.ingest.database import collection_path, open_reader
from activities.ingest.index import index_folder
from activities.search.corpus import CorpusBackend
from workflows.contracts.task import ResolvedLimits, ResolvedTask, ResolvedTopic
from workflows.logic.terms import content_query, names_of

_ROUNDS = 5
_TOPICS = 40
_SHORTEST = 8


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


def _index(home: Path, folder: Path) -> float:
    started = time.perf_counter()
    index_folder(home, "bench", str(folder), [folder], lambda _: None)
    return time.perf_counter() - started


def _topics(home: Path) -> list[str]:
    """Headings of sections from all over the collection, as somebody would ask for them."""
    db = open_reader(collection_path(home, "bench"))
    rows = db.execute(
        "SELECT headings FROM chunks WHERE headings LIKE '%,%' ORDER BY id * 7919 % 100003"
    ).fetchall()
    db.close()
    last = (str(json.loads(headings)[-1]) for (headings,) in rows)
    return list(dict.fromkeys(h for h in last if len(h) > _SHORTEST and h[:3] != "p. "))[:_TOPICS]


async def _searches(home: Path, queries: list[str]) -> list[float]:
    backend = CorpusBackend(home)
    times: list[float] = []
    for query in queries * _ROUNDS:
        task = task_of(query, ["bench"])
        started = time.perf_counter()
        await backend.search(task.topics[0].query, task)
        times.append((time.perf_counter() - started) * 1000)
    return times


def _told(home: Path, seconds: float) -> None:
    """How much was read in how long."""
    (info,) = collections(home)
    db = open_reader(collection_path(home, "bench"))
    size = db.execute(
        "SELECT sum(size) FROM files WHERE status IN ('indexed', 'partial')"
    ).fetchone()[0]
    text = db.execute("SELECT sum(length(text)) FROM documents").fetchone()[0]
    pages = db.execute(
        "SELECT count(DISTINCT document || headings) FROM chunks WHERE headings LIKE '%\"p. %'"
    ).fetchone()[0]
    db.close()
    print(f"files: {info.files}, chunks: {info.chunks}")
    print(
        f"index: {seconds:.1f} s, {size / 1e6 / seconds:.1f} MB/s of files, "
        f"{text / 1e6 / seconds:.1f} million characters of text a second"
        + (f", {pages / seconds:.0f} pages of PDF a second" if pages else "")
    )


def main() -> None:
    """Index a folder into a temporary state directory and search it."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        with _Memory() as memory:
            seconds = _index(home, folder)
        _told(home, seconds)
        print(f"memory: {memory.peak / 1e6:.0f} MB at its peak")
        print(f"refresh without changes: {_index(home, folder) * 1000:.0f} ms")
        times = asyncio.run(_searches(home, sys.argv[2:] or _topics(home)))
        p50 = statistics.median(times)
        p95 = statistics.quantiles(times, n=20)[18]
        print(f"search: p50 {p50:.1f} ms, p95 {p95:.1f} ms over {len(times)} searches")


if __name__ == "__main__":
    main()
