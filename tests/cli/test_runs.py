"""Runs through the command line: from a folder to a report, left, killed, resumed, stopped."""

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.console import Console, finished
from tests.workflows.scripted import ScriptedModel, decision

_SECONDS = 60
SEARCH = decision("search", "KSM")
FINISH = decision("finish", draft="KSM merges identical pages. [E1]", sufficient=True)


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """A model server; consoles are pointed to it with `_use`."""
    with ScriptedModel() as server:
        yield server


def _use(console: Console, model: ScriptedModel) -> None:
    console.extra.update(OPENAI_BASE_URL=model.url, OPENAI_MODEL="scripted")


def _until(process: "subprocess.Popen[str]", true: Callable[[], bool]) -> None:
    """Wait until something outside the process is so."""
    deadline = time.monotonic() + _SECONDS
    while not true():
        assert process.poll() is None, finished(process)
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def test_a_folder_becomes_a_report(kept: Console, folder: Path) -> None:
    done = kept.run(
        "run", "What does KSM do?", "--topic", "ksm", "--corpus", str(folder),
        "--id", "first", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.document["status"] == "succeeded"
    assert done.document["evidence"][0]["source_id"] == "memory-notes:ksm.md"
    again = kept.run("run", "Something else", "--corpus", "memory-notes", "--id", "first")
    assert again.code == 2
    assert "show first" in again.err
    _look_at(kept)


def _look_at(console: Console) -> None:
    shown = console.run("show", "first", "--json")
    assert shown.document["status"] == "succeeded"
    assert console.run("show", "first").out.startswith("# ")
    (row,) = console.run("list", "--json").document
    assert (row["workflow_id"], row["status"]) == ("first", "succeeded")
    assert "first" in console.run("list").out
    watched = console.run("watch", "first", "--json")
    assert watched.document == shown.document
    late = console.run("stop", "first")
    assert late.code == 2
    assert "already ended" in late.err
    assert "nothing to resume" in console.run("resume").err


def test_a_foreign_goal_fails_without_a_claim(kept: Console, folder: Path) -> None:
    done = kept.run("run", "量子计算机的价格是多少？", "--corpus", str(folder), "--json")
    assert done.code == 1, done.err
    assert done.document["status"] == "failed"
    assert done.document["evidence"] == [] or all(e["empty"] for e in done.document["evidence"])
    assert done.document["language"] == "zh"


def test_killed_in_a_model_call_and_resumed(
    console: Console, folder: Path, model: ScriptedModel
) -> None:
    _use(console, model)
    model.script([SEARCH, {"kind": "hang"}])
    arguments = ("What does KSM do?", "--topic", "ksm", "--corpus", str(folder), "--id", "killed")
    process = console.start("run", *arguments, "--strategy", "react")
    _until(process, lambda: len(model.requests) == 2)
    process.kill()
    process.communicate()
    assert '"status"' not in console.run("show", "killed").out
    model.script([FINISH])
    done = console.run("resume", "killed", "--json", "--events")
    assert done.code == 0, done.err
    assert done.document["usage"]["model_calls"] == 2
    assert done.document["usage"]["searches"] == 1
    names = [event["event"] for event in done.events]
    assert names.count("model_started") == 2
    assert names[-1] == "task_finished"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_the_run_and_says_how_to_go_on(
    console: Console, folder: Path, model: ScriptedModel, number: signal.Signals
) -> None:
    _use(console, model)
    model.script([{"kind": "hang"}])
    process = console.start(
        "run", "What does KSM do?", "--corpus", str(folder), "--id", "left", "--strategy", "react"
    )
    _until(process, lambda: len(model.requests) == 1)
    process.send_signal(number)
    left = finished(process)
    assert left.code == 128 + number
    assert "resume left" in left.err
    assert "Traceback" not in left.err
    assert left.out == ""
    model.script([SEARCH, FINISH])
    done = console.run("resume", "--json")
    assert [run["workflow_id"] for run in done.document] == ["left"]


def test_stop_ends_a_run_with_a_partial_report(
    console: Console, folder: Path, model: ScriptedModel
) -> None:
    _use(console, model)
    model.script([SEARCH, {"kind": "hang"}])
    process = console.start(
        "run",
        "What does KSM do?",
        "--corpus",
        str(folder),
        "--id",
        "stopped",
        "--json",
        "--strategy",
        "react",
    )
    _until(process, lambda: len(model.requests) == 2)
    state = console.run("show", "stopped", "--json").document
    assert state["state"]["phase"] == "researching"
    assert console.run("requests", "stopped", "--json").document["open"] == []
    watcher = console.start("watch", "stopped", "--json", "--events")
    told = console.run("stop", "stopped", "--by", "李雷", "--reason", "够了")
    assert told.code == 0, told.err
    done, watched = finished(process), finished(watcher)
    assert done.code == 1
    assert done.document["status"] == "stopped"
    assert "李雷" in done.document["report"] or "够了" in json.dumps(
        done.document, ensure_ascii=False
    )
    assert watched.document == done.document
    assert watched.events[-1]["event"] == "task_finished"


def test_start_returns_and_another_session_does_the_work(kept: Console, folder: Path) -> None:
    started = kept.run(
        "start", "What does KSM do?", "--topic", "ksm", "--corpus", str(folder), "--json"
    )
    assert started.code == 0, started.err
    run_id = started.document["workflow_id"]
    assert started.document["worker_polls"] is False
    assert f"resume {run_id}" in started.err
    open_run = kept.run("show", run_id)
    assert run_id in open_run.out
    assert "no worker answers" in open_run.err
    done = kept.run("resume", run_id)
    assert done.code == 0
    assert done.out.startswith("# ")
    assert f"{run_id}: succeeded" in done.err
