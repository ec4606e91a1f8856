"""Hostile ids, messages, arguments and editors against a server: one line, and nothing granted.

How it can go wrong: what was not approved is granted; a paste runs somebody else's command; a
traceback stands where a report should.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.common import RawValue

from tests.cli.conftest import KSM
from tests.cli.console import ROOT, Console
from tests.cli.terminal import terminal
from tests.cli.test_decisions import GOAL, asked, messages, start, until
from tests.ui.served import Served, served

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A running `serve` with one collection."""
    path = tmp_path_factory.mktemp("hostile")
    notes = path / "notes"
    notes.mkdir()
    (notes / "ksm.md").write_text(KSM, "utf-8")
    with served(path) as found:
        assert Console(found.home).run("index", str(notes), "--name", "notes").code == 0
        yield found


@pytest.fixture
def team(here: Served) -> Console:
    """A console on its state directory."""
    return Console(here.home)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("approve", "run-1", "plan-1-00000000", "--edits", ""), "--edits"),
        (("approve", "run-1", "plan-1-00000000", "--comment", " "), "--comment"),
        (("reject", "run-1", "plan-1-00000000", "--comment", ""), "--comment"),
        (("reject", "run-1", "--by", ""), "--by"),
        (("answer", "run-1", "question-1-00000000", ""), "TEXT"),
        (("answer", "run-1", ""), "TEXT"),
        (("approve", "run-1", ""), "REQUEST"),
        (("resume", ""), "ID"),
        (("run", "goal", "--approve", ""), "--approve"),
        (("run", "goal", "--approve", "plan", "--expires-after", ""), "--expires-after"),
        (("index", ".", "--name", ""), "--name"),
        (("approve", "run-1", "--comment", "\udcff"), "UTF-8"),
        (("show", "\udcff"), "UTF-8"),
    ],
)
def test_blank_and_broken_words_are_refused_before_anything(
    console: Console, arguments: tuple[str, ...], said: str
) -> None:
    done = console.run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1
    assert not (console.home / "server.json").exists()


def test_garbage_for_edits_is_one_line_and_grants_nothing(team: Console, tmp_path: Path) -> None:
    start(team, "garbage", "--approve", "plan")
    plan = asked(team, "garbage", "plan")["id"]
    deep, large = tmp_path / "deep", tmp_path / "large"
    deep.write_text("[" * 200_000)
    steps = [{"id": "s1", "goal": GOAL, "accept": "x" * 300_000}]
    large.write_text(json.dumps({"steps": steps}))
    nan, half = '{"steps": NaN}', '{"goal":"\\ud800"}'
    for edits in (f"@{deep}", f"@{large}", nan, half, "{", f"@{tmp_path}"):
        done = team.run("approve", "garbage", plan, "--edits", edits)
        assert (done.code, done.out) == (2, ""), (edits, done.err[:500])
        assert done.err.count("\n") == 1
        assert len(done.err) < 500
    assert messages(team, "garbage") == []


def test_what_an_editor_leaves_costs_neither_question_nor_report(
    team: Console, tmp_path: Path
) -> None:
    turns = [
        r"""printf '{"steps": "\377"}' > "$1" """,
        'rm "$1"',
        'head -c 200000 /dev/zero | tr "\\0" "[" > "$1"',
        """echo '{"steps": NaN}' > "$1" """,
    ]
    editor = tmp_path / "editor"
    cases = "\n".join(f"{number}) {turn};;" for number, turn in enumerate(turns, 1))
    count = f'echo x >> {tmp_path}/turns; case "$(wc -l < {tmp_path}/turns | tr -d " ")" in'
    editor.write_text(f"#!/bin/sh\n{count}\n{cases}\nesac\n", "utf-8")
    editor.chmod(0o755)
    arguments = ("run", GOAL, "--corpus", "notes", "--id", "edited", "--approve", "plan")
    with terminal(team, *arguments, VISUAL=str(editor)) as seat:
        for _ in turns:
            seat.expect("[l]ater? ")
            seat.type("e")
            seat.expect("not taken: malformed")
        seat.expect("[l]ater? ")
        seat.type("a")
        seat.expect("approved by ")
        seat.expect("Research report")
        assert seat.ended() == 0


@pytest.mark.parametrize("name", ["a $(touch {}) `touch {}`", "-dash"])
def test_commands_that_are_printed_can_be_pasted(
    here: Served, team: Console, tmp_path: Path, name: str
) -> None:
    """As a person does: what `start`, `requests` and the memo print goes into a shell."""
    mark = tmp_path / "mark"
    run = name.format(mark, mark)
    started = team.run("start", GOAL, "--corpus", "notes", "--approve", "plan", "--id", run)
    assert started.code == 0, started.err
    dashes = ["--"] if run.startswith("-") else []

    def open_one() -> str | None:
        done = team.run("requests", "--json", *dashes, run)
        opened = done.document["open"] if done.code == 0 else []
        return str(opened[0]["commands"]["starter"]) if opened else None

    ours = until(open_one)
    told = team.run("requests", *dashes, run).out
    show = next(each for each in started.out.splitlines() if "starter.py show" in each)
    assert "waits for" in _shell(here, show)
    assert ours in told
    assert "approved by" in _shell(here, ours)
    watch = next(each for each in started.out.splitlines() if "starter.py watch" in each)
    assert "Research report" in _shell(here, watch)
    assert not mark.exists()


def _shell(here: Served, command: str) -> str:
    """What a printed command prints; `uv run` is our own interpreter here."""
    done = here.sh(command.strip().replace("uv run", sys.executable, 1))
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


async def test_a_stranger_writes_nothing_to_the_terminal(here: Served, team: Console) -> None:
    evil = "x\x1b[2J\x1b]0;owned\x07\x9b\u202etxt\nforged: line"
    run = "evil\x1b[2J\u202e"
    client = await Client.connect(f"127.0.0.1:{here.port}")
    task = {"goal": f"{GOAL} {evil}", "corpora": ["notes"], "approvals": {"plan": True}}
    handle = await client.start_workflow("AgentRun", task, id=run, task_queue="surefoot")
    until(lambda: team.run("requests", "--json", run).code == 0)
    plan = asked(team, run, "plan")
    await handle.signal(f"name{evil}", {"by": evil})
    await handle.signal("approve", {"request_id": evil, "by": evil, "comment": evil})
    await handle.signal("reject", {"request_id": plan["id"], "by": evil, "comment": evil})
    asked(team, run, "plan", 2)
    for command in (["requests", run], ["show", run], ["list"], ["requests", run, "--json"]):
        done = team.run(*command)
        assert done.code == 0, done.err
        for text in (done.out, done.err):
            assert not _CONTROL.search(text), (command, ascii(text))
            assert not re.search("(?m)^forged", text), (command, text)
    assert team.run("requests", "--json", run).document["ended"][0]["by"] == evil
    with terminal(team, "watch", run) as seat:
        assert "\u202e" not in seat.expect("[l]ater? ")
        assert "owned\x07" not in seat.raw
        seat.type("a")
        seat.expect("approved by")
        seat.expect("Research report")
        assert seat.ended() in (0, 1)  # whether such a goal finds anything is not the point
    assert not _CONTROL.search(seat.seen)


async def test_a_memo_of_a_stranger_hides_no_run(here: Served, team: Console) -> None:
    client = await Client.connect(f"127.0.0.1:{here.port}")
    undecodable = RawValue(Payload(metadata={"encoding": b"no/such"}, data=b"x"))
    memos: list[Any] = [{"requests": 5}, {"requests": [1, {"id": "x"}]}, "\x1b[2J", undecodable]
    for number, memo in enumerate(memos):
        handle = await client.start_workflow(
            "AgentRun", {"goal": GOAL}, id=f"memo-{number}", task_queue="nobody",
            memo={"surefoot": memo},
        )  # fmt: skip
        until(lambda name=handle.id: name in team.run("list").out)
        assert team.run("show", handle.id).code == 0
        await handle.terminate()


def test_progress_that_nobody_reads_costs_no_report(team: Console, tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    goes = f"run '{GOAL}' --corpus notes > {report}"
    command = f"set -o pipefail; {sys.executable} starter.py {goes} 2> >(exec true)"
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env=team.environment(), stdin=subprocess.DEVNULL,
        check=False, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0
    assert "Research report" in report.read_text("utf-8")


@pytest.mark.skipif(os.name == "nt", reason="no such ids there")
def test_another_workflow_is_told_as_what_it_is(team: Console) -> None:
    done = team.run("watch", "index-notes")
    assert "Traceback" not in done.err
    assert done.code == 1
