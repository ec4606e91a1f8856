"""Runs `starter.py` as a subprocess with an environment of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_OURS = ("OPENAI_", "TEMPORAL_", "SUREFOOT_")
_SECONDS = 120


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output as the one JSON document it must be."""
        return json.loads(self.out)

    @property
    def events(self) -> list[dict[str, Any]]:
        """Standard error as the JSON lines it must be with `--events`."""
        return [json.loads(line) for line in self.err.splitlines()]


@dataclass
class Console:
    """A state directory and an environment in which commands run."""

    home: Path
    extra: dict[str, str] = field(default_factory=dict[str, str])

    def environment(self) -> dict[str, str]:
        """The caller's own, without what would configure the product."""
        kept = {
            k: v for k, v in os.environ.items() if not k.startswith(_OURS) or k == "TEMPORAL_CLI"
        }
        nowhere = str(self.home.parent / "no-temporal-config.toml")
        return {
            **kept,
            "TEMPORAL_CONFIG_FILE": nowhere,
            "SUREFOOT_HOME": str(self.home),
            "PYTHONWARNINGS": "error",
            **self.extra,
        }

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start a command and leave it running."""
        return subprocess.Popen(
            [sys.executable, "starter.py", *arguments],
            cwd=ROOT,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def run(self, *arguments: str) -> Done:
        """Run a command to its end; whatever goes wrong, nobody sees a traceback."""
        done = finished(self.start(*arguments))
        assert "Traceback" not in done.err, done.err
        return done


def finished(process: "subprocess.Popen[str]") -> Done:
    """Wait for a command's end."""
    try:
        out, err = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"the command did not end; {out!r}; {err!r}") from None
    return Done(process.returncode, out, err)
