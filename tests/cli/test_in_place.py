"""People at a terminal: they see what a run asks, and answer in place (issue 5, point 5).

How it can go wrong: a stray key grants something; a question stays on the screen when it is over; a
person's no is lost; Ctrl-C stops the run instead of leaving it.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import KSM
from tests.cli.console import Console
from tests.cli.terminal import Terminal, terminal
from tests.cli.test_decisions import GOAL, asked, messages, result, start
from tests.ui.served import served
from tests.workflows.planned import PlannedModel, act, action
from tests.workflows.scripted import ScriptedModel


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """A console on the state directory of a running `serve` with one collection."""
    path = tmp_path_factory.mktemp("team")
    notes = path / "notes"
    notes.mkdir()
    (notes / "ksm.md").write_text(KSM, "utf-8")
    with served(path) as here:
        console = Console(here.home)
        assert console.run("index", str(notes), "--name", "notes").code == 0
        yield console


def _editor(path: Path, before: str, after: str) -> str:
    """An editor that replaces a text in its file."""
    script = path / "editor"
    script.write_text(f"#!/bin/sh\nsed -i 's/{before}/{after}/' \"$1\"\n", "utf-8")
    script.chmod(0o755)
    return str(script)


def _run(console: Console, name: str, *more: str, **environment: str) -> Any:
    arguments = ("run", GOAL, "--corpus", "notes", "--id", name, *more)
    return terminal(console, *arguments, **environment)


def test_plan_and_report_are_approved_in_place(team: Console) -> None:
    with _run(team, "place", "--approve", "plan,report") as seat:
        shown = seat.expect("[l]ater? ")
        for said in ("Approval of the plan", GOAL, "criterion: ", "PENDING"):
            assert said in shown
        seat.type("")  # a stray key decides nothing
        seat.expect("Please answer with a, r, e or l")
        seat.expect("[l]ater? ")
        seat.type("a")
        seat.expect("approved by ")
        assert "Answer in brief" in seat.expect("[l]ater? ")
        seat.type("a")
        seat.expect("approved by ")
        assert seat.ended() == 0
    assert messages(team, "place") == [("decide", "accepted")] * 2


def test_changed_in_an_editor(team: Console, tmp_path: Path) -> None:
    editor = _editor(tmp_path, "Find what the collections say", "Look up what they say")
    with _run(team, "editor", "--approve", "plan", "--json", VISUAL=editor) as seat:
        seat.expect("[l]ater? ")
        seat.type("e")
        changed = seat.expect("with these changes, as ")
        assert "-" in changed
        assert "Look up what they say" in changed
        seat.expect("[y/N] ")
        seat.type("n")  # not yet
        seat.expect("[l]ater? ")
        seat.type("e")
        seat.expect("[y/N] ")
        seat.type("y")
        seat.expect("approved with changes by ")
        assert seat.ended() == 0
    assert result(team, "editor")["steps"][0]["goal"].startswith("Look up what they say")


def test_an_edit_that_does_not_hold_is_told_and_asked_again(team: Console, tmp_path: Path) -> None:
    editor = _editor(tmp_path, '"goal": "Find', '"gaol": "Find')
    with _run(team, "wrong", "--approve", "plan", VISUAL=editor) as seat:
        seat.expect("[l]ater? ")
        seat.type("e")
        seat.expect("[y/N] ")
        seat.type("y")
        assert "goal" in seat.expect("[l]ater? ")
        assert "not taken: malformed" in seat.seen
        seat.type("a")
        assert seat.ended() == 0


def test_sent_back_with_a_comment_then_rejected_for_good(team: Console) -> None:
    with _run(team, "back", "--approve", "plan") as seat:
        seat.expect("[l]ater? ")
        seat.type("r")
        seat.expect("What should change")
        seat.type("two steps, please")
        seat.expect("rejected by ")
        assert "two steps, please" in seat.expect("[l]ater? ")
        seat.type("r")
        seat.expect("What should change")
        seat.type("")
        seat.expect("end the run? [y/N] ")
        seat.type("y")
        assert seat.ended() == 1
    assert result(team, "back")["status"] == "rejected"


def test_later_and_decided_elsewhere(team: Console) -> None:
    with _run(team, "later", "--approve", "plan,report") as seat:
        seat.expect("[l]ater? ")
        seat.type("l")
        seat.expect("stays open")
        plan = asked(team, "later", "plan")
        assert team.run("approve", "later", plan["id"], "--by", "bob").code == 0
        seat.expect(f"{plan['id']}: approved by bob")
        seat.expect("[l]ater? ")  # the report; while it is asked here, somebody else decides
        report = asked(team, "later", "report", 2)
        assert team.run("approve", "later", report["id"], "--by", "bob").code == 0
        seat.expect(f"{report['id']}: approved by bob")
        assert seat.ended() == 0


def test_control_c_leaves_the_run(team: Console) -> None:
    start(team, "leave", "--approve", "plan")
    asked(team, "leave", "plan")
    with terminal(team, "watch", "leave") as seat:
        seat.expect("[l]ater? ")
        seat.press("d")  # the end of what is typed is "later"
        seat.expect("stays open")
        seat.press("c")
        seat.expect("nothing is lost")
        assert seat.ended() == 130
    assert messages(team, "leave") == []
    with terminal(team, "watch", "leave") as seat:
        seat.expect("[l]ater? ")
        seat.press("c")  # also while something is asked
        seat.expect("nothing is lost")
        assert seat.ended() == 130
    assert messages(team, "leave") == []


def _at_prompt(seat: Terminal, question: str, answer: str) -> None:
    seat.expect(question)
    seat.type(answer)


def test_the_commands_show_and_ask_before_they_send(team: Console) -> None:
    start(team, "shown", "--approve", "plan")
    plan = asked(team, "shown", "plan")
    with terminal(team, "approve", "shown", "--by", "ann") as seat:
        assert "criterion: " in seat.expect(f"Approve {plan['id']} as ann? [y/N] ")
        seat.type("")
        seat.expect("nothing was sent")
        assert seat.ended() == 1
    assert messages(team, "shown") == []
    with terminal(team, "reject", "shown", plan["id"], "--by", "ann") as seat:
        _at_prompt(seat, "What should change", "two steps")
        _at_prompt(seat, f"Reject {plan['id']} as ann? [y/N] ", "y")
        seat.expect("rejected by ann")
        assert seat.ended() == 0
    again = asked(team, "shown", "plan", 2)
    edits = json.dumps({"goal": "What is KSM?"})
    with terminal(team, "approve", "shown", "--by", "ann", "--edits", edits) as seat:
        assert "What is KSM?" in seat.expect("with these changes, as ann? [y/N] ")
        seat.type("y")
        seat.expect(f"{again['id']}: approved with changes by ann")
        assert seat.ended() == 0
    third = asked(team, "shown", "plan", 3)
    assert third["shown"]["goal"] == "What is KSM?"
    assert team.run("approve", "shown", third["id"], "--by", "ann").code == 0
    assert result(team, "shown")["status"] == "succeeded"


def _asks_first(user: dict[str, Any]) -> dict[str, Any]:
    if user["step"]["id"] == "s1" and not user.get("answers"):
        return action("ask", question="您用的是哪个内核版本？")
    return act(user)


def test_a_question_in_chinese_is_answered_in_place(console: Console, folder: Path) -> None:
    with ScriptedModel() as model:
        model.script(PlannedModel(step_action=_asks_first))
        console.extra.update(OPENAI_BASE_URL=model.url, OPENAI_MODEL="scripted")
        arguments = ("run", "KSM 做什么？", "--topic", "ksm", "--corpus", str(folder), "--ask")
        with terminal(console, *arguments, "--approve", "plan", PYTHONIOENCODING="utf-8") as seat:
            assert "标准：" in seat.expect("[l] 稍后？")
            seat.type("批准")
            assert "您用的是哪个内核版本？" in seat.expect("您的回答（留空：稍后）：")
            seat.type("六点一，在 arm64 上")
            seat.expect("已回答")
            assert seat.ended() == 0
        assert any("六点一" in json.dumps(m, ensure_ascii=False) for m in model.user_messages())


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals")
def test_events_ask_nothing(team: Console) -> None:
    start(team, "events", "--approve", "plan")
    plan = asked(team, "events", "plan")
    with terminal(team, "watch", "events", "--events") as seat:
        seat.expect('"asks": "plan"')
        assert team.run("approve", "events", plan["id"]).code == 0
        seat.expect("Research report")
        assert seat.ended() == 0
    assert "[l]ater" not in seat.seen
