"""kill -9 of the embedded server, of a session, and of both, in the middle of a run.

Real `starter.py` sessions on state directories of their own. The model counts requests and kills
while it is asked, so that a model call is always in flight when something dies.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.crash.stage import ROOT, TASK, answer, folder
from tests.crash.test_worker import essence
from tests.shown import show
from tests.workflows.scripted import ScriptedModel

SECONDS = 120
Reply = Callable[[dict[str, Any]], dict[str, Any]]


class Scene:
    """One state directory with its model and sessions."""

    def __init__(self, home: Path, model: ScriptedModel) -> None:
        folder(home)
        self.home = home
        self.model = model
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("TEMPORAL_", "SUREFOOT_"))},
            "SUREFOOT_HOME": str(home),
            "SUREFOOT_HEARTBEAT_SECONDS": "2",
            "OPENAI_API_KEY": "test-key",
            "OPENAI_BASE_URL": model.url,
            "OPENAI_MODEL": "scripted",
        }

    def session(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command; its own process group, as a terminal would give it."""
        return subprocess.Popen(
            [sys.executable, str(ROOT / "starter.py"), *arguments],
            env=self.environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, name: str, goal: str = TASK["goal"]) -> subprocess.Popen[str]:
        """Start a session that does one run."""
        topics = [a for topic in TASK["required_topics"] for a in ("--topic", topic)]
        corpora = [a for name_ in TASK["corpora"] for a in ("--corpus", name_)]
        more = ("--strategy", TASK["strategy"], "--id", name, "--json")
        return self.session("run", goal, *topics, *corpora, *more)

    def kill_server(self) -> None:
        """SIGKILL to the server that the state directory records."""
        record = json.loads((self.home / "server.json").read_text("utf-8"))
        os.kill(record["pid"], signal.SIGKILL)


def result(session: subprocess.Popen[str]) -> dict[str, Any]:
    """The result that a session prints."""
    out, err = session.communicate(timeout=SECONDS)
    assert out, err
    return json.loads(out)


def at_call(number: int, act: Callable[[], None]) -> Reply:
    """A model that does something when it is asked for the `number`-th time, then answers."""
    asked = 0

    def reply(request: dict[str, Any]) -> dict[str, Any]:
        nonlocal asked
        asked += 1
        if asked == number:
            act()
        return answer(request)

    return reply


def undisturbed(scene: Scene) -> dict[str, Any]:
    scene.model.script(answer)
    return result(scene.run("run-1"))


def server_killed(scene: Scene) -> dict[str, Any]:
    """The session restarts the server by itself and its run goes on."""
    scene.model.script(at_call(2, scene.kill_server))
    return result(scene.run("run-1"))


def both_killed(scene: Scene) -> dict[str, Any]:
    """`resume` finishes what a killed session on a killed server left behind."""
    sessions: list[subprocess.Popen[str]] = []

    def kill() -> None:
        sessions[0].kill()
        scene.kill_server()

    scene.model.script(at_call(2, kill))
    sessions.append(scene.run("run-1"))
    sessions[0].communicate(timeout=SECONDS)
    return result(scene.session("resume", "run-1", "--json"))


def first_of_two_killed(scene: Scene) -> dict[str, Any]:
    """The second session of a state directory finishes the run of the first, and its own."""
    second_goal = "What does the second run want?"
    second_asked, first_done = threading.Event(), threading.Event()
    sessions: list[subprocess.Popen[str]] = []

    def kill_the_first() -> None:
        sessions[0].kill()

    of_the_first = at_call(2, kill_the_first)

    def reply(request: dict[str, Any]) -> dict[str, Any]:
        if json.loads(request["messages"][-1]["content"])["goal"] == second_goal:
            second_asked.set()
            first_done.wait(SECONDS)
            return answer(request)
        second_asked.wait(SECONDS)  # the first dies when both are in the middle of a call
        return of_the_first(request)

    scene.model.script(reply)
    sessions.append(scene.run("run-1"))
    second = scene.run("run-2", second_goal)
    sessions[0].communicate(timeout=SECONDS)
    follower = scene.session("watch", "run-1", "--json")
    first = result(follower)
    first_done.set()
    assert result(second)["status"] == "succeeded"
    return first


SCENES: dict[str, Callable[[Scene], dict[str, Any]]] = {
    "undisturbed": undisturbed,
    "server": server_killed,
    "both": both_killed,
    "first of two sessions": first_of_two_killed,
}


@pytest.mark.crash
@pytest.mark.timeout(300)
def test_whatever_dies_the_run_finishes_as_if_nothing_had(tmp_path: Path) -> None:
    def play(name: str) -> tuple[dict[str, Any], int]:
        with ScriptedModel() as model:
            outcome = SCENES[name](Scene(tmp_path / name.replace(" ", "-"), model))
            goals = [message["goal"] for message in model.user_messages()]
            return outcome, goals.count(TASK["goal"])

    with ThreadPoolExecutor(len(SCENES)) as pool:
        outcomes = dict(zip(SCENES, pool.map(play, SCENES), strict=True))
    reference, _ = outcomes["undisturbed"]
    assert reference["status"] == "succeeded"
    for name, (outcome, requests) in outcomes.items():
        assert essence(outcome) == essence(reference), name
        assert requests <= outcome["usage"]["model_attempts"], name
        sources = [e["source_id"] for e in outcome["evidence"] if not e["empty"]]
        assert len(sources) == len(set(sources)), name
    left = [
        p.pid
        for p in psutil.process_iter(["cmdline"])
        if str(tmp_path) in " ".join(p.info["cmdline"] or [])
    ]
    assert left == []
    show(f"killed and finished: {', '.join(list(SCENES)[1:])}")
