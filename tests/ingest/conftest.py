"""A folder of two notes, a state directory, and the indexer that makes one of the other."""

from pathlib import Path

import pytest

from activities.ingest.index import index_folder
from tests.ingest.built import Build
from workflows.contracts.corpus import IndexResult


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "docs"
    path.mkdir()
    (path / "loop.md").write_text("# Agent loop\n\nThe loop ends when the budget is used up.\n")
    (path / "sub").mkdir()
    (path / "sub" / "契约.md").write_text("# 工具契约\n\n工具返回结构化的结果。\n", "utf-8")
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def build(home: Path, folder: Path) -> Build:
    def call(path: Path | str = folder, name: str = "notes") -> IndexResult:
        return index_folder(home, name, str(path), [folder.parent], lambda _: None)

    return call
