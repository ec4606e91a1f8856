"""The main job over folders of real documents, as a user runs it, without key or network.

Every claim must be a verbatim quote from the file it cites, checked against the file itself with
another reader than the product's; a topic the folder does not cover is named; a goal foreign to
the folder ends `failed` without a claim. English (python3-doc, debian-policy, the Markdown of
nodejs) and Chinese (debian-reference-zh-cn).
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.search.debian import POLICY, PYTHON, chinese_reference, needed
from tests.shown import show

ROOT = Path(__file__).parents[1]
FILES = 300
MARK = re.compile(r"\[E(\d+)\]")
pytestmark = [pytest.mark.debian, pytest.mark.timeout(300)]


class _Text(HTMLParser):
    """All text of a page: a reader of the standard library, not the product's."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def squeezed(text: str) -> str:
    """Without white space, and without what a reader may add: bullets, cell bars, pilcrows."""
    return re.sub(r"[\s|•¶\-*]", "", text)


def raw_text(path: Path) -> str:
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        return squeezed(html.unescape(text))
    reader = _Text()
    reader.feed(text)
    return squeezed("".join(reader.parts))


def run(home: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "TEMPORAL_"))
    }
    done = subprocess.run(
        [sys.executable, str(ROOT / "starter.py"), "run", *arguments, "--json"],
        env={**environment, "SUREFOOT_HOME": str(home)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def check_claims(result: dict[str, Any], folder: Path) -> int:
    """Every passage stands in the file it cites; every mark in the report is evidence."""
    quotes = 0
    for item in result["evidence"]:
        if not item["passages"]:
            continue
        source = raw_text(folder / item["source_id"].partition(":")[2])
        for passage in item["passages"]:
            assert squeezed(passage) in source, (item["source_id"], passage)
            quotes += 1
    known = {item["id"] for item in result["evidence"]}
    assert {f"E{n}" for n in MARK.findall(result["report"])} <= known
    assert quotes == result["claims"]["supported"]
    return quotes


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """300 real HTML and Markdown files in one folder."""
    folder = tmp_path_factory.mktemp("english") / "manuals"
    markdown = sorted(Path("/usr/share/doc/nodejs/api").glob("*.md"))
    if not markdown:
        pytest.skip("needs the Markdown of package nodejs (/usr/share/doc/nodejs/api)")
    policy = [p for p in sorted(needed(POLICY, "debian-policy").glob("*.html")) if p.is_file()]
    python = needed(PYTHON, "python3-doc")
    pages = sorted((python / "library").glob("*.html"))
    kinds = {"policy": policy, "node": markdown[:40]}
    kinds["python"] = pages[: FILES - sum(len(paths) for paths in kinds.values())]
    for name, paths in kinds.items():
        (folder / name).mkdir(parents=True)
        for path in paths:
            shutil.copy(path, folder / name)
    assert sum(1 for p in folder.rglob("*") if p.is_file()) == FILES
    return folder


def check_plan(result: dict[str, Any], foreign: str) -> None:
    """Five topics, one of them not covered: a step each, side by side, and the gap is named."""
    assert (result["strategy"], result["status"]) == ("plan", "partially_succeeded")
    assert (result["coverage"], result["missing_topics"]) == (0.8, [foreign])
    assert [step["status"] for step in result["steps"]] == ["DONE"] * 4 + ["FAILED"]
    assert result["claims"]["supported"] >= 4
    gaps = result["report"].partition(foreign)[2]
    assert gaps
    assert result["usage"]["searches"] >= len(result["steps"])


def test_a_report_over_300_english_files(english: Path, tmp_path: Path) -> None:
    covered = [
        "asyncio event loop", "maintainer scripts of a package", "file system watch",
        "regular expression groups",
    ]  # fmt: skip
    foreign = "Kubernetes pod autoscaling"
    topics = [argument for t in [*covered, foreign] for argument in ("--topic", t)]
    goal = "How are events, packages and files handled?"
    code, result = run(tmp_path, goal, *topics, "--corpus", str(english))
    quotes = check_claims(result, english)
    show(f"English: {FILES} files, {quotes} claims, every one verbatim in the file it cites")
    assert code == 0
    check_plan(result, foreign)
    assert quotes >= len(covered)
    assert foreign in result["report"]
    assert result["model"].startswith("extractive")
    code, result = run(tmp_path, "How do I bake sourdough bread from rye?", "--corpus", "manuals")
    assert (code, result["status"]) == (1, "failed")
    assert check_claims(result, english) == 0
    assert not any(item["passages"] for item in result["evidence"])


def test_a_report_over_chinese_pages(tmp_path: Path) -> None:
    folder = chinese_reference(tmp_path / "参考手册")
    covered = ["软件包管理", "systemd 服务", "文件系统的权限", "网络接口的配置"]
    foreign = "Kubernetes 集群的自动伸缩"
    topics = [argument for t in [*covered, foreign] for argument in ("--topic", t)]
    code, result = run(
        tmp_path / "home", "Debian 如何管理软件包、服务和权限？", *topics, "--corpus", str(folder)
    )
    quotes = check_claims(result, folder)
    show(f"Chinese: {quotes} claims, every one verbatim in the file it cites")
    assert (code, result["language"]) == (0, "zh")
    check_plan(result, foreign)
    assert quotes >= len(covered)
    assert "未覆盖" in result["report"]
    code, result = run(tmp_path / "home", "怎样烤制黑麦酸面包？", "--corpus", "参考手册")
    assert (code, result["status"]) == (1, "failed")
    assert check_claims(result, folder) == 0
