"""The commands of `docs/approvals.md`, and what the page says comes out of them.

Every fenced `sh` block is run as it stands, in order, from the repository's folder, with these
replacements and no other:

- `uv run --no-dev starter.py` is this Python on `starter.py`; `serve` is left running and gets a
  free port, which the Temporal CLI finds in TEMPORAL_ADDRESS;
- a request id (`plan-1-3fa9c1d2`), in a command or in what is expected, is that of the real request
  of the same number of the run that the block names.

A `text` block holds lines of what the block before it prints, in order: `…` stands for anything,
and blanks for any white space. A query, list or description is asked again until it shows them.
"""

import re
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.cli.console import ROOT
from tests.ui.served import Served, serving

PAGE: Final = ROOT / "docs" / "approvals.md"
_BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_ID: Final = re.compile(r"\b(plan|tool|report|question)-(\d+)-[0-9a-f]{8}\b")
_OURS: Final = "uv run --no-dev starter.py"
_READS: Final = ("query", "list", "describe")
_SECONDS: Final = 90.0
_PAUSE: Final = 0.3


@dataclass(frozen=True)
class Block:
    """A fenced `sh` block and the lines that are expected of it."""

    command: str
    expected: list[str]

    @property
    def serves(self) -> bool:
        """Whether it runs until it is stopped."""
        return self.command.split() == [*_OURS.split(), "serve"]


def blocks(page: Path = PAGE) -> list[Block]:
    """The blocks of the page, in order."""
    found: list[Block] = []
    for language, text in _BLOCK.findall(page.read_text("utf-8")):
        if language == "sh":
            found.append(Block(text.rstrip("\n"), []))
        elif language == "text":
            assert not found[-1].expected, text
            found[-1].expected.extend(line for line in text.splitlines() if line.strip())
    return found


def run(here: Served, block: Block) -> None:
    """Run a block and check what it prints."""
    command = _real(here, block.command, block.command).replace(
        _OURS, f"{shlex.quote(sys.executable)} starter.py"
    )
    fails = any(line.startswith("Error:") for line in block.expected)
    *before, last = _commands(command)
    for each in before:
        done = here.sh(each)
        assert done.returncode == 0, (each, done.stdout, done.stderr)
    again = last.split()[2:3] in ([verb] for verb in _READS)
    end = time.monotonic() + _SECONDS
    while True:
        done = here.sh(last)
        missing = _missing(here, block, done.stdout + done.stderr)
        if not missing and (done.returncode != 0) == fails:
            return
        assert again, (last, missing, done.returncode, done.stdout, done.stderr)
        assert time.monotonic() < end, (last, missing, done.stdout, done.stderr)
        time.sleep(_PAUSE)


def serve(here: Served) -> AbstractContextManager[None]:
    """Run the block that serves."""
    command = [sys.executable, "starter.py", "serve", "--port", str(here.port)]
    return serving(here, command)


def _commands(block: str) -> Iterator[str]:
    """The commands of a block: each begins a line, and goes on over line ends inside of quotes."""
    command = ""
    for line in block.splitlines():
        command = f"{command}\n{line}" if command else line
        if command.count("'") % 2 == 0 and not command.endswith("\\"):
            yield command
            command = ""
    assert not command, block


def _real(here: Served, text: str, block: str) -> str:
    """A text of the page with the real request ids."""
    named = re.search(r"--workflow-id (\S+)", block)

    def real(match: "re.Match[str]") -> str:
        assert named is not None, block
        return here.request_id(named[1], match[1], int(match[2]))

    return _ID.sub(real, text)


def _missing(here: Served, block: Block, printed: str) -> str:
    """The first expected line that was not printed, "" if none is missing."""
    at = 0
    for line in block.expected:
        wanted = _real(here, line, block.command)
        pattern = ".*?".join(
            r"\s+".join(re.escape(word) for word in part.split()) for part in wanted.split("…")
        )
        found = re.compile(pattern).search(printed, at)
        if found is None:
            return line
        at = found.end()
    return ""
