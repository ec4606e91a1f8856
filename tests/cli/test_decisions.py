"""`approve`, `reject`, `answer`, `requests` without a terminal: what a script or a paste can do.

How it can go wrong: something is granted that nobody saw; a decision is lost; a person is not told.
"""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.embedded import EmbeddedServer
from tests.cli.conftest import KSM
from tests.cli.console import Console, Done, finished
from tests.ui.served import served
from tests.workflows.planned import PlannedModel, act, action
from tests.workflows.scripted import ScriptedModel

_SECONDS = 60
GOAL = "What does KSM do?"


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


def start(console: Console, name: str, *arguments: str, goal: str = GOAL) -> None:
    """Start a run on the collection."""
    done = console.run("start", goal, "--corpus", "notes", "--id", name, *arguments)
    assert done.code == 0, done.err


def asked(console: Console, name: str, kind: str, number: int = 1) -> dict[str, Any]:
    """The open request with this number, as soon as the run has asked it."""

    def found() -> dict[str, Any] | None:
        done = console.run("requests", name, "--json")
        if done.code:
            assert "not found" in done.err  # it has not begun yet
            return None
        opened = done.document["open"]
        return next((r for r in opened if (r["kind"], r["number"]) == (kind, number)), None)

    return until(found)


def until(found: Callable[[], Any]) -> Any:
    """Wait until something is found."""
    end = time.monotonic() + _SECONDS
    while not (value := found()):
        assert time.monotonic() < end
        time.sleep(0.3)
    return value


def result(console: Console, name: str) -> dict[str, Any]:
    """The result of a run that ends."""
    return console.run("watch", name, "--json").document


def messages(console: Console, name: str) -> list[tuple[str, str]]:
    """Name and fate of every message the run has got."""
    told = console.run("requests", name, "--json").document["messages"]
    return [(each["name"], each["fate"]) for each in told]


def test_plan_and_report_are_approved(team: Console) -> None:
    start(team, "both", "--approve", "plan,report")
    plan = asked(team, "both", "plan")
    shown = team.run("requests", "both").out
    for said in (plan["id"], GOAL, "criterion: A verbatim quote", "starter.py approve both"):
        assert said in shown
    assert plan["id"] in team.run("list").out
    assert plan["id"] in team.run("show", "both").out
    done = team.run("approve", "both", plan["id"], "--by", "ann", "--comment", "good")
    assert (done.code, done.out) == (0, f"{plan['id']}: approved by ann\n"), done.err
    report = asked(team, "both", "report", 2)
    whole = team.run("requests", "both").out
    assert "# Research report" in whole
    assert "bytes, would end as succeeded" in whole
    done = team.run("approve", "both", "--yes", "--json", "--by", "bob")
    assert done.document == {
        "workflow_id": "both", "request_id": report["id"], "decision": "approve", "by": "bob",
        "outcome": "approved",
    }  # fmt: skip
    ended = result(team, "both")
    assert ended["status"] == "succeeded"
    assert "approved by ann" in ended["report"]
    past = team.run("requests", "both").out
    assert past.startswith("nothing is asked")
    assert messages(team, "both") == [("decide", "accepted")] * 2
    again = team.run("approve", "both", plan["id"])
    assert again.code == 2
    assert "already ended" in again.err


def test_what_cannot_count_is_refused_and_changes_nothing(team: Console) -> None:
    start(team, "refused", "--approve", "plan", "--approver", "ann", "--approver", "李雷")
    plan = asked(team, "refused", "plan")
    name = plan["id"]
    other = name[:-1] + ("0" if name[-1] != "0" else "1")
    cases: list[tuple[tuple[str, ...], str]] = [
        (("approve", "refused"), name),  # nobody can be asked, and no digest was given
        (("approve", "refused", other), f"open: {name}"),
        (("approve", "refused", name, "--by", "bob"), "ann, 李雷 may"),
        (("reject", "refused", name, "--by", "bob"), "ann, 李雷 may"),
        (("answer", "refused", name, "yes"), "takes approve or reject"),
        (("answer", "refused", "yes"), f"nothing to answer; open: {name}"),
        (("approve", "refused", name, "--by", "ann", "--edits", "no json"), '{"steps"'),
        (("approve", "refused", name, "--by", "ann", "--edits", "[]"), '{"steps"'),
        (("approve", "refused", name, "--by", "ann", "--edits", "@no-such-file"), "no-such-file"),
        (("approve", "refused", name, "--by", "ann", "--edits", '{"steps": []}'), "steps"),
        (("approve", "refused", name, "--by", " "), "by"),
        (("approve", "no-such-run", name), "not found"),
        (("requests", "no-such-run"), "not found"),
    ]
    for arguments, said in cases:
        done = team.run(*arguments)
        assert done.code == 2, (arguments, done)
        assert done.out == ""
        assert said in done.err, (arguments, done.err)
    assert messages(team, "refused") == []
    assert team.run("approve", "refused", name, "--by", "李雷").out == f"{name}: approved by 李雷\n"
    assert result(team, "refused")["status"] == "succeeded"


def test_edits_are_what_runs(team: Console, tmp_path: Path) -> None:
    start(team, "edited", "--approve", "plan,report")
    plan = asked(team, "edited", "plan")
    steps = [{**plan["shown"]["steps"][0], "id": "mine", "goal": "Find what merges pages"}]
    file = tmp_path / "my plan.json"
    file.write_text(json.dumps({"steps": steps}), "utf-8")
    done = team.run("approve", "edited", plan["id"], "--by", "ann", "--edits", f"@{file}")
    assert done.out == f"{plan['id']}: approved with changes by ann\n", done.err
    report = asked(team, "edited", "report", 2)
    text = tmp_path / "report.md"
    text.write_text("# Mine\n\nThe moon is made of cheese.\n", "utf-8")
    done = team.run("approve", "edited", report["id"], "--by", "ann", "--edits", f"@{text}")
    assert done.code == 0, done.err
    ended = result(team, "edited")
    assert [step["id"] for step in ended["steps"]] == ["mine"]
    assert "not verified" in ended["report"]


def test_a_rejection_with_a_comment_asks_again_and_the_next_is_final(team: Console) -> None:
    start(team, "rejected", "--approve", "plan")
    plan = asked(team, "rejected", "plan")
    done = team.run("reject", "rejected", plan["id"], "--by", "ann", "--comment", "two steps")
    assert done.out == f"{plan['id']}: rejected by ann\n"
    again = asked(team, "rejected", "plan", 2)
    assert "two steps" in team.run("requests", "rejected").out
    late = team.run("approve", "rejected", plan["id"])
    assert late.code == 2
    assert "it was rejected by ann" in late.err
    assert team.run("reject", "rejected", again["id"], "--by", "ann").code == 0
    watched = team.run("watch", "rejected", "--json")
    assert (watched.code, watched.document["status"]) == (1, "rejected")


def test_a_deadline_is_shown(team: Console) -> None:
    start(team, "bounded", "--approve", "plan", "--expires-after", "3d")
    plan = asked(team, "bounded", "plan")
    assert f"To be decided until {plan['deadline']}" in team.run("requests", "bounded").out


def test_a_deadline_ends_the_run(team: Console) -> None:
    start(team, "expires", "--approve", "plan", "--expires-after", "2s")
    assert result(team, "expires")["status"] == "expired"
    past = team.run("requests", "expires").out
    assert "nothing is asked" in past
    assert "expired" in past


def test_in_chinese(team: Console) -> None:
    start(team, "中文", "--approve", "plan", goal="KSM 做什么？")
    plan = asked(team, "中文", "plan")
    shown = team.run("requests", "中文").out
    for said in ("等待：批准计划", "没有期限", "标准：", "需要修改的内容"):
        assert said in shown
    done = team.run("approve", "中文", plan["id"], "--by", "李雷")
    assert done.out == f"{plan['id']}：李雷 已批准\n"
    assert "李雷" in result(team, "中文")["report"]


def test_watching_without_a_terminal_shows_what_is_asked(team: Console) -> None:
    start(team, "watched", "--approve", "plan")
    plan = asked(team, "watched", "plan")
    process = team.start("watch", "watched", "--json")
    assert process.stderr is not None
    seen = ""
    while f"uv run starter.py reject watched {plan['id']}" not in seen:
        line = process.stderr.readline()
        assert line, seen
        seen += line
    assert GOAL in seen
    assert team.run("approve", "watched", plan["id"], "--by", "ann").code == 0
    done = finished(process)
    assert done.document["status"] == "succeeded"
    assert f"{plan['id']}: approved by ann" in done.err


def test_a_run_that_no_session_works_on_can_be_decided_and_goes_on(
    console: Console, folder: Path
) -> None:
    arguments = ("run", GOAL, "--topic", "ksm", "--corpus", str(folder), "--approve", "plan")
    process = console.start(*arguments, "--id", "left")
    plan = asked(console, "left", "plan")
    process.kill()
    process.communicate()
    assert GOAL in console.run("requests", "left").out
    done = console.run("approve", "left", plan["id"], "--by", "ann")
    assert done.out == f"{plan['id']}: approved by ann\n"
    assert "resume left" in done.err
    resumed = console.run("resume", "left", "--json")
    assert resumed.document["status"] == "succeeded"
    assert "approved by ann" in resumed.document["report"]


def test_a_question_is_answered(console: Console, folder: Path) -> None:
    def asks_first(user: dict[str, Any]) -> dict[str, Any]:
        if user["step"]["id"] == "s1" and not user.get("answers"):
            return action("ask", question="Which kernel version do you run?")
        return act(user)

    with ScriptedModel() as model:
        model.script(PlannedModel(step_action=asks_first))
        console.extra.update(OPENAI_BASE_URL=model.url, OPENAI_MODEL="scripted")
        process = console.start(
            "run",
            GOAL,
            "--topic",
            "ksm",
            "--corpus",
            str(folder),
            "--ask",
            "--id",
            "asks",
            "--json",
        )
        question = asked(console, "asks", "question")
        missing = console.run("answer", "asks", question["id"])
        assert missing.code == 2
        assert "text of the answer" in missing.err
        done = console.run("answer", "asks", question["id"], "6.12 on arm64", "--by", "ann")
        assert done.out == f"{question['id']}: answered by ann\n", done.err
        ended = finished(process)
        assert "6.12 on arm64" in json.dumps(model.user_messages())
    assert "6.12 on arm64" in ended.document["report"]


async def test_without_any_worker_a_decision_waits_for_one(tmp_path: Path) -> None:
    async with await EmbeddedServer.join(tmp_path / "team") as server:
        worker = Console(tmp_path / "team")
        client = Console(tmp_path / "home", {"TEMPORAL_ADDRESS": server.address})
        _leave_waiting(worker, tmp_path)
        known = client.run("requests", "left")
        assert known.code == 0
        plan = client.run("requests", "left", "--json").document["open"][0]["id"]
        assert plan in known.out
        assert "only the beginning" in known.out
        done: Done = client.run("approve", "left", plan, "--by", "ann")
        assert done.code == 0, done.err
        assert "not yet taken" in done.out
        assert "no worker polls" in done.err
        assert worker.run("resume", "left", "--json").document["status"] == "succeeded"


def _leave_waiting(console: Console, path: Path) -> None:
    notes = path / "notes"
    notes.mkdir()
    (notes / "ksm.md").write_text(KSM, "utf-8")
    process = console.start(
        "run", GOAL, "--corpus", str(notes), "--approve", "plan", "--id", "left"
    )
    asked(console, "left", "plan")
    process.kill()
    process.communicate()
