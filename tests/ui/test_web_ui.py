"""A run that is started by the Temporal CLI and approved in the Web UI.

How it can go wrong: the details cannot be read where people read them; the dialog sends something
the run does not take; what is shown differs from what is granted.
"""

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.conftest import KSM, ZRAM
from tests.cli.console import Console
from tests.ui.served import Served, served
from tests.ui.web_ui import WebUi, browser, chromium

TASK: dict[str, Any] = {
    "goal": "Which in-kernel features save memory?",
    "required_topics": ["ksm", "zram"],
    "corpora": ["notes"],
    "approvals": {"plan": True},
}
ZH: dict[str, Any] = {
    **TASK,
    "goal": "哪些内核功能可以节省内存？",
    "required_topics": ["zram 压缩内存"],
    "approvals": {"plan": True, "approvers": ["李雷"], "expires_after_seconds": 86_400},
}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    chromium()
    folder = tmp_path_factory.mktemp("ui")
    notes = folder / "notes"
    notes.mkdir()
    (notes / "ksm.md").write_text(KSM, "utf-8")
    (notes / "压缩.md").write_text(ZRAM, "utf-8")
    assert Console(folder / "home").run("index", str(notes), "--name", "notes").code == 0
    with served(folder) as ready:
        yield ready


@pytest.fixture(scope="module")
def ui(here: Served) -> Iterator[WebUi]:
    with browser(here.ui) as window:
        yield window
        assert window.hosts == {here.ui.removeprefix("http://")}


def rows(frame: Any, number: int) -> list[list[str]]:
    """The cells of a table of the details, which must be a real table."""
    table = frame.locator("table").nth(number)
    return [
        [cell.strip() for cell in row.locator("th, td").all_inner_texts()]
        for row in table.locator("tr").all()
    ]


def test_a_plan_is_read_and_approved_in_the_web_ui(here: Served, ui: WebUi) -> None:
    here.start("by-ui", TASK)
    request = here.request_id("by-ui", "plan", 1)
    ui.open_run("by-ui")
    frame = ui.details(request)
    assert "Waiting: Approval of the plan" in frame.locator("h3").inner_text()
    asked, plan, budgets = (rows(frame, number) for number in range(3))
    assert asked[0] == ["Step", "Goal", "Criterion", "Waits for", "Topics", "Tool"]
    assert [(row[0], row[4]) for row in asked[1:]] == [("s1", "ksm"), ("s2", "zram")]
    assert "ksm" in asked[1][2]
    assert plan[0] == ["Step", "Goal", "Status", "Attempts", "Verdict", "Evidence"]
    assert [(row[0], row[2]) for row in plan[1:]] == [("s1", "PENDING"), ("s2", "PENDING")]
    assert budgets[0][1:] == ["used", "of", "left"]
    ui.send_signal("approve", {"request_id": request, "by": "ann"})
    ui.wait_completed()
    ui.page.get_by_role("tab", name="Timeline").click()
    ui.page.get_by_text('"succeeded"').first.wait_for()
    (done,) = here.requests("by-ui")
    assert (done["outcome"], done["by"]) == ("approved", "ann")


def test_code_blocks_fit_the_pane_and_can_be_pasted(here: Served, ui: WebUi) -> None:
    here.start("by-shell", TASK)
    request = here.request_id("by-shell", "plan", 1)
    ui.open_run("by-shell")
    frame = ui.details(request)
    blocks = [block.inner_text() for block in frame.locator("pre").all()]
    approve, reject, ours = blocks
    assert json.loads(shlex.split(reject)[-1]).keys() == {"request_id", "by", "comment"}
    assert ours.strip() == f"uv run starter.py approve by-shell {request}"
    for pre in frame.locator("pre").all():
        assert pre.evaluate("e => e.scrollWidth <= e.clientWidth"), pre.inner_text()
    done = here.sh(approve)
    assert done.returncode == 0, done.stderr
    ui.wait_completed()
    assert here.requests("by-shell")[0]["by"] == "YOUR NAME"


def test_chinese_details_and_the_wrong_person(here: Served, ui: WebUi) -> None:
    here.start("zh", ZH)
    request = here.request_id("zh", "plan", 1)
    ui.open_run("zh")
    frame = ui.details(request)
    assert "等待：批准计划" in frame.locator("h3").inner_text()
    assert "李雷" in frame.locator("main").inner_text()
    assert rows(frame, 0)[0][:3] == ["步骤", "目标", "标准"]
    ui.send_signal("approve", {"request_id": request, "by": "韩梅梅"})
    ui.send_signal("approve", {"request_id": request, "by": "李雷", "comment": "同意"})
    ui.wait_completed()
    (done,) = here.requests("zh")
    assert (done["outcome"], done["by"], done["comment"]) == ("approved", "李雷", "同意")
    told = here.temporal(
        *("workflow", "query", "--workflow-id", "zh", "--type", "requests", "-o", "json")
    )
    assert re.findall(r'"fate": "(\w+)"', told) == ["not_allowed", "accepted"]


def test_a_finished_report_is_read_and_released_in_the_web_ui(here: Served, ui: WebUi) -> None:
    here.start("release", {**TASK, "approvals": {"report": True}})
    request = here.request_id("release", "report", 1)
    ui.open_run("release")
    frame = ui.details(request)
    block = frame.locator("pre").first
    assert "# Research report" in block.inner_text()
    assert block.evaluate("e => e.scrollWidth <= e.clientWidth")
    ui.send_signal("approve", {"request_id": request, "by": "ann"})
    ui.wait_completed()
