"""Sessions of the command line on state directories of their own, killed with SIGKILL.

A `Home` is one state directory with the indexed notes, the scripted model that its sessions ask,
and the means to kill what runs there: the embedded server by the pid in `server.json`.
"""

import asyncio
import contextlib
import subprocess
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError

from runtime.connect import ConnectError, connect
from runtime.converter import data_converter
from runtime.server_process import LOOPBACK, Paths, ServerRecord, read_record
from tests.cli.console import Console, finished
from tests.crash.stage import TASK, answer, folder
from tests.workflows.scripted import ScriptedModel

_COMPLETED = EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED
_SECONDS = 60.0
_PAUSE = 0.01


@dataclass
class Home:
    """One state directory.

    Attributes:
        kills: pids of the servers that were killed, and of sessions that were killed alone.
        sessions: the processes started here, the newest last.
        watched: set while a history is watched; `pace` holds decisions meanwhile.
    """

    console: Console
    model: ScriptedModel
    kills: list[int] = field(default_factory=list[int])
    sessions: list["subprocess.Popen[str]"] = field(default_factory=list["subprocess.Popen[str]"])
    watched: threading.Event = field(default_factory=threading.Event)

    @property
    def record(self) -> ServerRecord:
        """What `server.json` says now; no pid where it says nothing yet."""
        found = read_record(Paths.of(self.console.home))
        return found or ServerRecord(port=0, ui_port=0)

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start a command."""
        process = self.console.start(*arguments)
        self.sessions.append(process)
        return process

    def run(self, workflow_id: str, goal: str = TASK["goal"]) -> "subprocess.Popen[str]":
        """Start a session with the stage's task."""
        topics = [part for topic in TASK["required_topics"] for part in ("--topic", topic)]
        corpus = TASK["corpora"][0]
        more = ("--corpus", corpus, "--strategy", TASK["strategy"], "--json", "--id", workflow_id)
        return self.start("run", goal, *topics, *more)

    def kill_server(self) -> None:
        """SIGKILL the server that the record names."""
        pid = self.record.pid
        assert pid > 0
        psutil.Process(pid).kill()
        self.kills.append(pid)

    def kill_session(self) -> None:
        """SIGKILL the newest session alone."""
        self.sessions[-1].kill()
        self.kills.append(self.sessions[-1].pid)

    def kill_all(self) -> None:
        """SIGKILL the server and every session, before a watchdog has seen that it is gone."""
        self.kill_server()
        for process in self.sessions:
            process.kill()

    def wait_for_server(self) -> None:
        """Wait, in a thread, until a server is recorded that was not killed."""
        until(lambda: self.record.pid not in (0, *self.kills))

    async def client(self) -> Client:
        """A client of the server, as soon as it is up."""
        async with asyncio.timeout(_SECONDS):
            while True:
                if self.record.pid not in (0, *self.kills):
                    with contextlib.suppress(ConnectError):  # it does not listen yet
                        return await connect(data_converter(None), f"{LOOPBACK}:{self.record.port}")
                await asyncio.sleep(_PAUSE)

    def pace(self) -> None:
        """Hold each decision until a history is watched: a connection may take seconds."""
        self.model.script(at_each_decision(lambda _: self._until_watched()))

    def _until_watched(self) -> None:
        assert self.watched.wait(_SECONDS)

    async def acts_completed(self, workflow_id: str, count: int) -> None:
        """Wait until the history of the newest session's run holds so many completed activities."""
        session = self.sessions[-1]
        handle = (await self.client()).get_workflow_handle(workflow_id)
        self.watched.set()
        async with asyncio.timeout(_SECONDS):
            while session.poll() is None:
                with contextlib.suppress(RPCError):  # no run yet, or no server again
                    if await _reaches(handle, count):
                        self.watched.clear()
                        return
                await asyncio.sleep(_PAUSE)
        raise AssertionError(f"ended too early: {session.communicate()}")


async def _reaches(handle: WorkflowHandle[Any, Any], count: int) -> bool:
    completed = 0
    async for event in handle.fetch_history_events(wait_new_event=True):
        completed += event.event_type == _COMPLETED
        if completed >= count:
            return True
    return False


@contextlib.contextmanager
def at_home(path: Path) -> Generator[Home]:
    """A state directory with the notes and a model; whatever is left on it at the end is killed."""
    folder(path)
    with ScriptedModel() as model:
        model.script(answer)
        home = Home(Console(path, model_variables(model)), model)
        try:
            yield home
        finally:
            home.watched.set()
            for process in home.sessions:
                process.kill()
                with contextlib.suppress(ValueError):  # it was read to its end
                    process.communicate()


def model_variables(model: ScriptedModel) -> dict[str, str]:
    """Environment of a session that asks the scripted model."""
    return {
        "SUREFOOT_HEARTBEAT_SECONDS": "2",
        "OPENAI_API_KEY": "test-key",
        "OPENAI_BASE_URL": model.url,
        "OPENAI_MODEL": "scripted",
    }


def at_each_decision(act: Callable[[int], None]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A model that does something before it answers a snapshot which it has not seen before.

    `act` is given the decision's number, from 1. A request that is repeated after a crash holds the
    same snapshot, and is just answered.
    """
    seen: set[str] = set()

    def reply(request: dict[str, Any]) -> dict[str, Any]:
        snapshot = request["messages"][-1]["content"]
        if snapshot not in seen:
            seen.add(snapshot)
            act(len(seen))
        return answer(request)

    return reply


async def ended(process: "subprocess.Popen[str]") -> Any:
    """The JSON document of a command that must succeed."""
    done = await asyncio.to_thread(finished, process)
    assert done.code == 0, done.err
    assert "Traceback" not in done.err, done.err
    return done.document


def until(condition: Callable[[], bool], seconds: float = _SECONDS) -> None:
    """Wait, in a thread, until a condition of the outside world holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:.0f} s")
        time.sleep(_PAUSE)


def left_behind(under: Path) -> list[psutil.Process]:
    """Servers and sessions that still run on state directories under a folder."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            command = " ".join(process.cmdline())
            home = process.environ().get("SUREFOOT_HOME", "")
            if str(under) in command or str(under) in home:
                found.append(process)
    return found
