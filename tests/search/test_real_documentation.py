"""Real documentation: what the HTML reader keeps, and the rule for *not covered* on real topics.

The numbers shown at the end are what DESIGN calls for: covered topics are not lost, foreign ones
are caught. The bounds leave room for other versions of the packages.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from activities.ingest.html import read_html
from activities.ingest.index import index_folder
from activities.search.corpus import CorpusBackend
from tests.search.asked import task
from tests.search.debian import POLICY, PYTHON, chinese_reference, needed
from tests.shown import LINES

TOPICS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "data" / "topics.json").read_text("utf-8")
)

pytestmark = pytest.mark.debian


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> CorpusBackend:
    home = tmp_path_factory.mktemp("english")
    for name, folder, package in (
        ("python", PYTHON, "python3-doc"),
        ("policy", POLICY, "debian-policy"),
    ):
        root = needed(folder, package)
        result = index_folder(home, name, str(root), [root], lambda _: None)
        assert set(result.files) <= {"indexed", "unsupported", "outside_root"}
        assert not [p for p in result.problems if p.path.endswith(".html")]
    return CorpusBackend(home)


@pytest.fixture(scope="module")
def chinese(tmp_path_factory: pytest.TempPathFactory) -> CorpusBackend:
    home = tmp_path_factory.mktemp("chinese")
    root = chinese_reference(home / "pages")
    result = index_folder(home, "reference", str(root), [root], lambda _: None)
    assert set(result.files) == {"indexed"}
    return CorpusBackend(home)


async def covered(backend: CorpusBackend, question: str, corpora: list[str]) -> bool:
    asked = task([question], corpora, min_cover=0.35)
    found = await backend.search(asked.topics[0].query, asked)
    assert found.passages or found.note
    return any(p.covers[0] >= asked.settings.topic_cover for p in found.passages)


async def shares(
    backend: CorpusBackend, language: str, group: str, corpora: list[str]
) -> tuple[float, float]:
    """Share of covered topics that are kept, and of foreign ones that are caught."""
    topics = TOPICS[language][group]
    lost = [t for t in topics["covered"] if not await covered(backend, t, corpora)]
    missed = [t for t in topics["foreign"] if await covered(backend, t, corpora)]
    LINES.append(
        f"not covered, {language}, {group}: {len(lost)} of {len(topics['covered'])} covered topics "
        f"lost {lost}, {len(missed)} of {len(topics['foreign'])} foreign ones not caught {missed}"
    )
    return 1 - len(lost) / len(topics["covered"]), 1 - len(missed) / len(topics["foreign"])


@pytest.mark.parametrize("group", ["tuned", "held_out"])
async def test_topics_in_english(english: CorpusBackend, group: str) -> None:
    kept, caught = await shares(english, "english", group, ["python", "policy"])
    assert kept >= 0.95
    assert caught >= 0.8


@pytest.mark.parametrize("group", ["tuned", "held_out"])
async def test_topics_in_chinese(chinese: CorpusBackend, group: str) -> None:
    kept, caught = await shares(chinese, "chinese", group, ["reference"])
    assert kept >= 0.75
    assert caught >= 0.9


async def test_passages_fit_their_texts(english: CorpusBackend) -> None:
    asked = task(["How does asyncio.TaskGroup handle cancellation?"], ["python"], min_cover=0.35)
    found = await english.search(asked.topics[0].query, asked)
    assert found.passages[0].source_id == "python:library/asyncio-task.html"
    for passage in found.passages:
        text = await english.text(passage)
        assert passage.excerpt in text[passage.start : passage.end]
        assert "Previous topic" not in text


NOISE = re.compile(
    r"Table of Contents|Previous topic|Next topic|Show Source|Quick search|©|¶|_static|<div|&nbsp;"
)


@pytest.mark.parametrize(
    ("page", "kept"),
    [
        (
            "library/queue.html",
            [
                "class queue.LifoQueue(maxsize=0)\nConstructor for a LIFO queue.",
                "If maxsize is less than or equal to zero, the queue size is infinite.",
            ],
        ),
        (
            "library/stdtypes.html",
            ["Operation | Result | Notes", "x in s | True if an item of s is equal to x"],
        ),
        ("tutorial/controlflow.html", [">>> for i in range(5):\n...     print(i)"]),
        ("library/logging.html", ["Level | Numeric value", "CRITICAL | 50"]),
    ],
)
def test_what_is_kept_of_python_s_pages(page: str, kept: list[str]) -> None:
    extracted = read_html((needed(PYTHON, "python3-doc") / page).read_text("utf-8"))
    assert not NOISE.search(extracted.text)
    for text in kept:
        assert text in extracted.text
    for heading in extracted.headings:
        assert " ".join(extracted.text[heading.start :].split()).startswith(heading.title)


def test_what_is_kept_of_the_chinese_reference(tmp_path: Path) -> None:
    folder = chinese_reference(tmp_path / "pages")
    extracted = read_html((folder / "ch01.zh-cn.html").read_text("utf-8"))
    assert extracted.title == "第 1 章 GNU/Linux 教程"
    assert extracted.text.startswith("第 1 章 GNU/Linux 教程")
    assert "上一页" not in extracted.text
    assert extracted.text.count("1.1.12. sudo 配置") == 1
    assert "软件包 | 流行度 | 大小 | 说明" in extracted.text
    assert "\n\n注意\n遵循 Unix 传统" in extracted.text
    assert extracted.headings[1].title == "1.1. 控制台基础"
