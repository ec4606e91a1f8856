"""Search in collections, over real files.

How it can go wrong: query text read as syntax; Chinese, full-width or identifiers not found; an
order that changes; a foreign name passed over; a reader disturbed by a writer.
"""

import asyncio
import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from activities.ingest.database import collection_path
from activities.ingest.index import index_folder
from activities.search.backend import Found
from activities.search.corpus import CorpusBackend
from activities.search.excerpt import excerpt
from tests.case_files import cases_directory
from tests.search.asked import task
from workflows.logic.cover import Weighed
from workflows.logic.terms import content_query

Make = Callable[..., CorpusBackend]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Index texts by file name as a collection; call again to add or change it."""

    def call(files: dict[str, str], name: str = "notes") -> CorpusBackend:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        for path, text in files.items():
            (folder / path).write_text(text, "utf-8")
        index_folder(tmp_path, name, str(folder), [folder], lambda _: None)
        return CorpusBackend(tmp_path)

    return call


def sources(found: Found) -> list[str]:
    return [passage.source_id for passage in found.passages]


async def look(backend: CorpusBackend, query: str, *, min_cover: float = 0.0) -> Found:
    asked = task(
        [query if query.strip() else "x"], ["notes"], extractive=False, min_cover=min_cover
    )
    return await backend.search(query, asked)


# failures.jsonl E03 and E05
CHINESE = {
    "a.md": "部署方案已经在会议上讨论",
    "b.md": "重跑gen-itgc后悬空引用清零",
    "c.md": "上海的天气",
    "d.md": "型号ＡＢＣ１２３，价格㎏计",
}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("部署", ["a.md"]),
        ("上海", ["c.md"]),
        ("雨", []),
        ("itgc", ["b.md"]),
        ("gen-itgc", ["b.md"]),
        ("部署方案", ["a.md"]),
        ("议", ["a.md"]),
        ("ABC123", ["d.md"]),
        ("ＡＢＣ１２３", ["d.md"]),
        ("abc123", ["d.md"]),
        ("kg", ["d.md"]),
    ],
)
async def test_chinese_and_full_width(make: Make, query: str, expected: list[str]) -> None:
    found = await look(make(CHINESE), query)
    assert sources(found) == [f"notes:{path}" for path in expected]
    for passage in found.passages:
        assert passage.excerpt == CHINESE[passage.source_id.partition(":")[2]]


def trial_queries() -> list[str]:
    lines = (cases_directory() / "failures.jsonl").read_text("utf-8").splitlines()
    (case,) = [c for c in map(json.loads, lines) if c["id"] == "E01"]
    listed = [q.strip() for q in case["trial_input"].split(";")]
    return [*listed, 'x" OR body:y', "NEAR(a b)", "a AND", "a\0b", "^a", "ab* -c", "\ud7ff\u200b"]


@pytest.mark.parametrize("query", trial_queries())
async def test_queries_are_literal(make: Make, query: str) -> None:
    shown = query.replace("\0", " ")
    backend = make({"first.md": f"Before. {shown} After.", "second.md": "Nothing of that."})
    found = await look(backend, query)
    assert not found.passages or sources(found)[0] == "notes:first.md"
    assert found.passages or found.note


@pytest.mark.parametrize("query", ["", "   ", "(((", "😀", "\0", "？！"])
async def test_a_query_without_words_has_a_note(make: Make, query: str) -> None:
    backend = make({"a.md": "Some text."})
    found = await look(backend, query)
    assert found == Found(note="the query holds no word that can be searched")
    chinese = task(["智能体循环"], ["notes"])
    assert (await backend.search("？", chinese)).note == "查询中没有可检索的词"


async def test_a_long_query(make: Make) -> None:
    backend = make({"a.md": "The loop ends when the budget is used up."})
    found = await look(backend, "budget " + " ".join(f"word{n} loop" for n in range(2000)))
    assert sources(found) == ["notes:a.md"]
    assert sources(await look(backend, "budget " * 2000)) == ["notes:a.md"]


async def test_identifiers_and_their_parts(make: Make) -> None:
    backend = make({"a.md": "Set `max_retry_count` in TaskGroup.", "b.md": "Nothing here."})
    for query in ("max_retry_count", "retry", "taskgroup", "TaskGroup", "task group", "count"):
        assert sources(await look(backend, query)) == ["notes:a.md"], query


async def test_a_passage_says_where_it_is(make: Make) -> None:
    text = (
        "---\ntitle: Loops\ntopics: [agent_loop]\ndate: 2025-01-02\n---\n"
        "# Agent loop\n\n## Ending\n\nA run ends when its budget is used up.\n"
    )
    backend = make({"loop.md": text, "other.md": "# Other\n\nUnrelated words."})
    asked = task(["How does a budget end a run?", "unrelated matters"], ["notes"])
    (passage,) = (await backend.search("budget", asked)).passages
    whole = await backend.text(passage)
    assert hashlib.sha256(whole.encode()).hexdigest() == passage.sha256
    assert passage.excerpt == whole[passage.start : passage.end]
    assert passage.source_id == "notes:loop.md"
    assert passage.title == "Loops"
    assert passage.headings == ("Agent loop", "Ending")
    assert passage.topics == ("agent_loop",)
    assert passage.date == "2025-01-02"
    assert passage.origin == "loop.md"
    assert passage.covers == {0: 1.0, 1: 0.0}
    assert passage.score > 0


async def test_headings_and_path_count_as_held(make: Make) -> None:
    backend = make({"ksm.md": "# Memory merging\n\n" + "It scans pages. " * 3, "b.md": "Else."})
    asked = task(["memory merging ksm"], ["notes"])
    (passage,) = (await backend.search("memory merging ksm", asked)).passages
    assert passage.covers == {0: 1.0}


async def test_weak_passages_are_dropped(make: Make) -> None:
    backend = make({f"{n}.md": f"The budget of month {n}." for n in range(9)})
    weak = "budget entanglement photosynthesis"
    found = await look(backend, weak, min_cover=0.35)
    assert found.passages == ()
    assert "holds enough of the query (best " in found.note
    assert len((await look(backend, weak)).passages) == 5
    assert "no passage in notes holds a word" in (await look(backend, "entanglement")).note


async def test_foreign_names_refuse_the_extractive_model_only(make: Make) -> None:
    backend = make({"a.md": "How pods are scheduled and how a control plane works."})
    question = "How are Kubernetes pods scheduled?"
    asked = task([question], ["notes"])
    found = await backend.search(asked.topics[0].query, asked)
    assert found == Found(note="not found anywhere in notes: Kubernetes")
    asked = task(["Kubernetes 如何调度 pods？"], ["notes"])
    assert (
        await backend.search("Kubernetes 调度", asked)
    ).note == "在 notes 中没有出现：Kubernetes"
    asked = task([question], ["notes"], extractive=False)
    (passage,) = (await backend.search("pods scheduled", asked)).passages
    assert passage.covers == {0: 0.0}


async def test_names_of_the_topic_whose_query_it_is(make: Make) -> None:
    backend = make({"a.md": "Pods are scheduled."})
    asked = task(["How does the scheduler of Kubernetes work?"], ["notes"])
    # A query without the name: that of the topic, so the topic's names count.
    lower = asked.topics[0].model_copy(update={"query": "pods scheduled"})
    asked = asked.model_copy(update={"topics": [lower]})
    assert (await backend.search("pods scheduled", asked)).passages == ()
    assert len((await backend.search("scheduled pods", asked)).passages) == 1


@pytest.mark.parametrize(
    ("text", "name", "there"),
    [
        ("use asyncio.TaskGroup", "TaskGroup", True),
        ("import asyncio; class TaskGroup", "asyncio.TaskGroup", True),
        ("use asyncio alone", "asyncio.TaskGroup", False),
        ("the file system", "file-system", True),
        ("the filesystem", "file-system", True),
        ("a system of files", "file-system", False),
        ("one API", "APIs", True),
        ("a window", "Windows", False),
        ("copy the page on write", "`copy on write`", False),
        ("a copy on write page", "`copy on write`", True),
        ("《红楼梦》的作者", "《红楼梦》", True),
        ("红色的楼", "《红楼梦》", False),
        ("Python 3.11.2", "Python 3.11", True),
        ("Python 3.12", "Python 3.11", False),
    ],
)
async def test_what_shows_a_name(make: Make, text: str, name: str, *, there: bool) -> None:
    backend = make({"a.md": text + " 说明 matter"})
    asked = task([f"the matter 说明 with {name}"], ["notes"])
    found = await backend.search("matter 说明", asked)
    assert found.passages
    assert (found.passages[0].covers[0] > 0) is there


async def test_lists_of_links_stand_behind_prose(make: Make) -> None:
    links = "\n".join(f"- [budget limits {n}](b{n}.md)" for n in range(20))
    prose = "The budget limits what a run may spend. " * 3
    backend = make({"index.md": links, "prose.md": prose, "else.md": "Something else."})
    asked = task(["budget limits"], ["notes"])
    found = await backend.search("budget limits", asked)
    assert sources(found) == ["notes:prose.md", "notes:index.md"]
    assert found.passages[0].covers[0] == 1.0
    assert found.passages[1].covers[0] < 0.35


async def test_several_collections_are_one_ranking(make: Make, tmp_path: Path) -> None:
    make({"a.md": "The budget ends a run."}, "one")
    make({"a.md": "Budget, budget and again the budget of a run.", "b.md": "Else."}, "two")
    backend = CorpusBackend(tmp_path)
    found = await backend.search("budget run", task(["budget run"], ["one", "two"]))
    assert sorted(sources(found)) == ["one:a.md", "two:a.md"]
    scores = [passage.score for passage in found.passages]
    assert scores == sorted(scores, reverse=True)
    # A name that is in one of them is not foreign.
    make({"k.md": "Kubernetes"}, "two")
    asked = task(["the budget of Kubernetes"], ["one", "two"])
    assert (await backend.search("budget Kubernetes", asked)).passages


async def test_equal_scores_have_an_order(make: Make) -> None:
    words = ("alpha", "beta", "gamma", "delta", "zeta", "theta", "kappa")
    backend = make({f"{word}.md": f"The budget of {word}." for word in words})
    first = await look(backend, "budget")
    assert sources(first) == [f"notes:{word}.md" for word in sorted(words)[:5]]
    assert await look(backend, "budget") == first


def test_an_excerpt_is_where_the_query_stands() -> None:
    text = "First sentence here. " * 40 + "The wanted budget stands here. " + "More text. " * 40
    weighed = Weighed({"budget": 1.0}, {"budget": ("budget",)})
    shown = excerpt(text, weighed, 400)
    assert len(shown) <= 400
    assert shown in text
    assert "budget" in shown
    assert excerpt("short", weighed, 400) == "short"
    assert len(excerpt("x" * 1000, weighed, 400)) == 400


async def test_unknown_collections(make: Make, tmp_path: Path) -> None:
    backend = make({"a.md": "Text."})
    asked = task(["text"], ["notes", "missing", "missing"])
    assert await backend.unknown_names(asked) == [
        "corpora: there is no collection 'missing'; existing: notes"
    ]
    with pytest.raises(OSError, match="collection 'missing' does not exist"):
        await backend.search("text", asked)
    empty = CorpusBackend(tmp_path / "nowhere")
    assert await empty.unknown_names(asked) == [
        f"corpora: there is no collection {name!r}; existing: none" for name in ("notes", "missing")
    ]


async def test_a_damaged_collection_is_an_error(make: Make, tmp_path: Path) -> None:
    backend = make({"a.md": "Some text."})
    assert (await look(backend, "text")).passages
    path = collection_path(tmp_path, "notes")
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA writable_schema = 1")
        db.execute("DROP TABLE chunks")
    with pytest.raises(OSError, match="index again"):
        await look(backend, "text")


async def test_the_text_of_an_older_version_is_gone(make: Make) -> None:
    backend = make({"a.md": "The old budget."})
    (old,) = (await look(backend, "budget")).passages
    assert await backend.text(old) == "The old budget."
    make({"a.md": "The new and longer budget."})
    with pytest.raises(OSError, match="was indexed again"):
        await backend.text(old)
    (new,) = (await look(backend, "budget")).passages
    assert await backend.text(new) == "The new and longer budget."


async def test_readers_beside_a_writer(make: Make, tmp_path: Path) -> None:
    def version(number: int) -> dict[str, str]:
        return {f"{n}.md": f"budget version{number} part{n}" for n in range(8)}

    backend = make(version(0))
    done = threading.Event()

    def write() -> None:
        for number in range(1, 12):
            make(version(number))
        done.set()

    async def read() -> int:
        count = 0
        while not done.is_set():
            found = await look(backend, "budget")
            # Never a mix of two versions.
            assert len({passage.excerpt.split()[1] for passage in found.passages}) == 1
            assert len(found.passages) == 5
            count += 1
        return count

    counts = await asyncio.gather(asyncio.to_thread(write), *(read() for _ in range(4)))
    assert all(count for count in counts[1:])
    (first, *_) = (await look(backend, "budget")).passages
    assert "version11" in first.excerpt


async def test_the_query_of_a_question_finds_its_answer(make: Make) -> None:
    backend = make(
        {
            "loop.md": "# 智能体循环\n\n循环在预算用完时结束。",
            "tool.md": "# 工具契约\n\n工具返回结构化的结果。",
        }
    )
    question = "智能体的循环如何结束？"
    asked = task([question], ["notes"], min_cover=0.35)
    found = await backend.search(content_query(question), asked)
    assert sources(found) == ["notes:loop.md"]
    assert found.passages[0].covers[0] >= 0.35
