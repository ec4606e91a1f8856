"""The parts of the command line that need no process: names, tasks, exit codes, tables, notes."""

import dataclasses
import os
from pathlib import Path
from typing import Any, get_args

import pytest

from cli.columns import columns
from cli.corpora import existing_path, name_for, slug
from cli.demo import NOTES
from cli.look import dollars
from cli.options import RunOptions
from cli.outcome import Outcome, exit_code
from cli.screen import Screen, dump
from cli.task import new_id, seconds_of, task_of
from workflows.contracts.result import Status
from workflows.logic.parse import InvalidTaskError


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("python3-doc", "python3-doc"),
        ("Memory Notes", "memory-notes"),
        ("内核 文档", "内核-文档"),
        ("ＡＢＣ", "abc"),
        (" . ", "corpus"),
        ("!!!", "corpus"),
        ("x" * 90, "x" * 64),
    ],
)
def test_slug_is_a_valid_name(tmp_path: Path, name: str, expected: str) -> None:
    assert slug(tmp_path / name) == expected


def test_slug_of_a_file_leaves_its_ending_out(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("x")
    assert slug(tmp_path / "notes.md") == "notes"


def test_a_name_of_another_folder_gets_a_digest(tmp_path: Path) -> None:
    mine, other = tmp_path / "a" / "docs", tmp_path / "b" / "docs"
    mine.mkdir(parents=True)
    other.mkdir(parents=True)
    taken = {"docs": str(other)}
    name = name_for(mine, taken)
    assert name.startswith("docs-")
    assert name_for(mine, taken) == name
    assert name_for(other, taken) == "docs"
    (tmp_path / "link").symlink_to(other)
    assert name_for(tmp_path / "link", {"link": str(other)}) == "link"


def test_what_is_no_path_is_none() -> None:
    for argument in ("", "no-such-thing", "x" * 5000, "a/b/c/d"):
        assert existing_path(argument) is None


def options_with(**changes: Any) -> RunOptions:
    return dataclasses.replace(RunOptions(goal="What saves memory?"), **changes)


def test_only_what_was_given_goes_into_the_task() -> None:
    task = task_of(options_with(), [])
    assert task.model_dump(mode="json", exclude_unset=True) == {
        "goal": "What saves memory?",
        "required_topics": [],
    }


def test_options_become_fields() -> None:
    options = options_with(
        goal="什么能节省内存？", topic=["ksm", "压缩"], language="zh", strategy="react",
        max_model_calls=3, max_tool_calls=0, max_active_seconds=1.5, max_cost=0.25,
    )  # fmt: skip
    assert task_of(options, ["notes"]).model_dump(mode="json", exclude_unset=True) == {
        "goal": "什么能节省内存？",
        "required_topics": ["ksm", "压缩"],
        "corpora": ["notes"],
        "strategy": "react",
        "language": "zh",
        "limits": {
            "max_model_calls": 3,
            "max_tool_calls": 0,
            "max_cost": 0.25,
            "max_active_seconds": 1.5,
        },
    }


def test_options_about_people_become_approvals() -> None:
    options = options_with(
        approve=" plan, report,tools ", approver=["ann", "陈"], expires_after="1.5h", ask=True
    )
    assert task_of(options, []).model_dump(mode="json", exclude_unset=True)["approvals"] == {
        "plan": True,
        "report": True,
        "tools": "all",
        "questions": True,
        "approvers": ["ann", "陈"],
        "expires_after_seconds": 5400.0,
    }


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("30m", 1800), (" 12 H ", 43_200), ("3d", 259_200), ("0.5d", 43_200)],
)
def test_spans_of_time(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-1h", "1w", "1h30m", "1e3", "h", "inf", "١h x"])
def test_what_is_no_span_of_time_says_what_is(text: str) -> None:
    with pytest.raises(InvalidTaskError, match="90s, 30m, 12h or 3d"):
        seconds_of(text)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"expires_after": "9" * 400 + "d"}, "expires_after_seconds"),
        ({"expires_after": "0"}, "expires_after_seconds"),
        ({"approver": [""]}, "approvers"),
        ({"strategy": "react", "ask": True}, "approvals.questions"),
        ({"goal": " "}, "goal"),
        ({"goal": "　"}, "goal"),
        ({"goal": "x" * 2001}, "goal"),
        ({"topic": ["a", "a"]}, "unique"),
        ({"max_model_calls": 0}, "max_model_calls"),
        ({"max_active_seconds": float("nan")}, "max_active_seconds"),
        ({"max_active_seconds": 0.0}, "max_active_seconds"),
        ({"approve": "plan,effects"}, "effects"),
        ({"language": "English"}, "language"),
        ({"goal": "bad \udcff byte"}, "goal"),
    ],
)
def test_a_bad_task_is_named(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidTaskError, match=said):
        task_of(options_with(**changes), [])


def test_ids_are_new() -> None:
    assert len({new_id() for _ in range(50)}) > 1
    assert new_id("demo").startswith("demo-")


@pytest.mark.parametrize("status", get_args(Status))
def test_exit_codes(status: str) -> None:
    outcome = Outcome("run-1", "completed", result={"status": status})
    expected = 0 if status in ("succeeded", "partially_succeeded") else 1
    assert exit_code(outcome) == expected
    strict = 3 if status == "partially_succeeded" else expected
    assert exit_code(outcome, strict=True) == strict


def test_executions_without_a_result() -> None:
    assert exit_code(Outcome("r", "failed", error="goal: is required", invalid=True)) == 2
    assert exit_code(Outcome("r", "terminated", error="by hand")) == 1
    assert Outcome("r", "canceled").document()["status"] == "cancelled"


def test_columns_align_all_but_the_last() -> None:
    text = columns([("ID", "STATE"), ("run-1", "a\nb"), ("r", "")])
    assert text.splitlines() == ["ID     STATE", "run-1  a b", "r"]


def test_json_keeps_chinese_and_refuses_nan() -> None:
    assert "内存" in dump({"a": "内存"})
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump(float("nan"))


def test_with_events_standard_error_is_theirs(capsys: pytest.CaptureFixture[str]) -> None:
    with Screen(events=True) as screen:
        screen.say("text")
        screen.warn("text")
        screen.now("text")
        screen.bar("text", 1, 2)
        screen.event({"event": "model_started", "model_call": 1})
    assert capsys.readouterr().err == '{"event": "model_started", "model_call": 1}\n'


def test_without_a_terminal_a_bar_is_at_most_ten_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with Screen() as screen:
        for done in range(301):
            screen.bar("indexing", done, 300)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == "indexing: 300 of 300 files"
    assert len(lines) <= 11


def test_notes_of_the_demo() -> None:
    """Two topics in two languages, and nothing on the third: the demo's outcome hangs on it."""
    notes = {path.name: path.read_text("utf-8") for path in NOTES.iterdir()}
    assert sorted(notes) == [
        "agent_loop.md", "agent_loop.zh.md", "tool_contract.md", "tool_contract.zh.md",
    ]  # fmt: skip
    for name, text in notes.items():
        assert f"topics: [{name.split('.')[0]}]" in text
        assert "recover" not in text.casefold()
        assert "恢复" not in text
        assert text.startswith(f"---{os.linesep}title: ") or text.startswith("---\ntitle: ")
    words = notes["tool_contract.md"].casefold().replace("_", " ").split()
    assert not {"agent", "loop", "agents"} & set(words)
    assert 250 <= len(words) <= 600


@pytest.mark.parametrize(
    ("cost", "most", "shown"),
    [
        ("0", None, ""),
        ("0.12", None, ", US dollars 0.12"),
        ("0.12", "0.5", ", US dollars 0.12 of 0.5"),
        ("0", "0.5", ", US dollars 0 of 0.5"),
    ],
)
def test_a_cost_is_shown_where_it_is_known(cost: str, most: str | None, shown: str) -> None:
    assert dollars({"cost": cost}, {"max_cost": most}) == shown
