"""A running `starter.py serve` for the plain Temporal CLI and the Web UI, on loopback only."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runtime.binary import find_binary
from runtime.server_process import UI_OFFSET, free_port
from tests.cli.console import ROOT, Console

_SECONDS = 90
_PAUSE = 0.2


@dataclass(frozen=True)
class Served:
    """A server with a worker.

    Attributes:
        home: its state directory.
        port: of the server; the Web UI's is 1000 higher.
    """

    home: Path
    port: int

    @property
    def ui(self) -> str:
        """Address of the Web UI."""
        return f"http://127.0.0.1:{self.port + UI_OFFSET}"

    def environment(self) -> dict[str, str]:
        """In which `temporal` is the pinned binary and talks to this server."""
        binary = find_binary()
        assert binary is not None
        mine = Console(self.home).environment()
        path = os.pathsep.join([str(binary.parent), mine.get("PATH", "")])
        return {**mine, "PATH": path, "TEMPORAL_ADDRESS": f"127.0.0.1:{self.port}"}

    def sh(self, command: str) -> "subprocess.CompletedProcess[str]":
        """Run a shell command as a person would paste it; ours find the server by themselves."""
        mine = self.environment()
        if "starter.py" in command:
            mine.pop("TEMPORAL_ADDRESS")
        return subprocess.run(
            ["sh", "-euc", command],
            cwd=ROOT,
            env=mine,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=_SECONDS,
            check=False,
        )

    def temporal(self, *arguments: str) -> str:
        """What the Temporal CLI prints; it must succeed."""
        done = subprocess.run(
            ["temporal", *arguments],
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=_SECONDS,
            check=False,
        )
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return done.stdout

    def start(self, workflow_id: str, task: dict[str, Any]) -> None:
        """Start a run with the Temporal CLI."""
        self.temporal(
            *("workflow", "start", "--type", "AgentRun", "--task-queue", "surefoot"),
            *("--workflow-id", workflow_id, "--input", json.dumps(task, ensure_ascii=False)),
        )

    def requests(self, workflow_id: str) -> list[dict[str, Any]]:
        """Every request of a run, as query `requests` tells it; [] while it cannot be asked."""
        with contextlib.suppress(AssertionError):
            asked = ("workflow", "query", "--workflow-id", workflow_id, "--type", "requests")
            (told,) = json.loads(self.temporal(*asked, "-o", "json"))["queryResult"]
            return [*(told["ended"] or []), *(told["open"] or [])]
        return []

    def request_id(self, workflow_id: str, kind: str, number: int) -> str:
        """Id of the request with this number, as soon as the run has asked it."""
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            for request in self.requests(workflow_id):
                if request["number"] == number:
                    assert request["kind"] == kind
                    return str(request["id"])
            time.sleep(_PAUSE)
        raise AssertionError(f"{workflow_id} did not ask {kind}-{number}")


@contextlib.contextmanager
def served(folder: Path) -> Generator[Served]:
    """A `serve` on a state directory in `folder`, which is created; stopped at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    here = Served(folder / "home", free_port())
    with serving(here, [sys.executable, "starter.py", "serve", "--port", str(here.port)]):
        yield here


@contextlib.contextmanager
def serving(here: Served, command: list[str]) -> Generator[None]:
    """Run a command that serves until it is stopped, and wait until it says that it is ready."""
    log = here.home.parent / "serve.log"
    with log.open("ab") as errors:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=Console(here.home).environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="utf-8",
        )
        try:
            assert process.stdout is not None
            while "Ctrl-C" not in (line := process.stdout.readline()):
                assert line, log.read_text("utf-8")
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.communicate(timeout=_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
