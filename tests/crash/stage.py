"""A stage for crash tests: worker processes, a model that answers by snapshot, a small folder.

The model decides from the snapshot it is sent, never from how often it was asked: a repeated
request gets the same answer, as from a model at temperature 0.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from activities.ingest.index import index_folder
from tests.workflows.scripted import decision

ROOT = Path(__file__).parents[2]
TASK: dict[str, Any] = {
    "goal": "How does the loop go on, and what does a tool promise?",
    "required_topics": ["agent loop", "tool contract"],
    "corpora": ["notes"],
    "strategy": "react",
}
NOTES = {
    "loop.md": "# Loop\n\nAn agent loop decides, acts and observes until its budget is used up.\n",
    "tool.md": "# Tools\n\nA tool contract names its arguments, its result and its failures.\n",
}


def folder(home: Path) -> None:
    """Index the notes as collection `notes` of a state directory."""
    path = home / "notes"
    path.mkdir(parents=True)
    for name, text in NOTES.items():
        (path / name).write_text(text, "utf-8")
    index_folder(home, "notes", str(path), [path], lambda _: None)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """What the model says to a snapshot: search what is missing, then finish."""
    snapshot = json.loads(request["messages"][-1]["content"])
    missing = snapshot["missing_topics"]
    if missing:
        return decision("search", missing[0])
    ids = " ".join(f"[{e['id']}]" for e in snapshot["evidence"])
    return decision("finish", draft=f"Both are described {ids}.", sufficient=True)


def worker_environment(home: Path, address: str, namespace: str, model_url: str) -> dict[str, str]:
    """Environment of a worker process."""
    return {
        **os.environ,
        "TEMPORAL_ADDRESS": address,
        "TEMPORAL_NAMESPACE": namespace,
        "SUREFOOT_HOME": str(home),
        "SUREFOOT_HEARTBEAT_SECONDS": "2",
        "OPENAI_API_KEY": "test-key",
        "OPENAI_BASE_URL": model_url,
        "OPENAI_MODEL": "scripted",
    }


class WorkerProcess:
    """A real `worker.py`, which can be killed."""

    def __init__(self, environment: dict[str, str], log: Path) -> None:
        self._environment = environment
        self._log = log
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start a worker process."""
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(ROOT / "worker.py")],
                env=self._environment,
                cwd=ROOT,
                stdout=log,
                stderr=log,
            )

    def kill(self) -> None:
        """SIGKILL: no drain, no goodbye."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None


@asynccontextmanager
async def worker_process(environment: dict[str, str], log: Path) -> AsyncGenerator[WorkerProcess]:
    """A worker while the body runs."""
    worker = WorkerProcess(environment, log)
    await asyncio.to_thread(worker.start)
    try:
        yield worker
    finally:
        worker.kill()
