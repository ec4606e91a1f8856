"""A command at a pseudo-terminal: what a person sees of it, and what they type."""

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass, field

from tests.cli.console import ROOT, Console

_SECONDS = 90
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\r")


@dataclass
class Terminal:
    """A running command and its screen.

    Attributes:
        seen: everything it has written, without control sequences.
    """

    process: "subprocess.Popen[bytes]"
    master: int
    seen: str = ""
    _raw: bytes = field(default=b"", repr=False)
    _at: int = 0

    @property
    def raw(self) -> str:
        """Everything it has written."""
        return self._raw.decode("utf-8", "ignore")

    def expect(self, text: str) -> str:
        """Wait until a text stands after what was expected before; gives what came before it."""
        end = time.monotonic() + _SECONDS
        while (found := self.seen.find(text, self._at)) < 0:
            assert time.monotonic() < end, (text, self.seen[self._at :])
            assert self._read(), (text, self.seen[self._at :])
        before = self.seen[self._at : found]
        self._at = found + len(text)
        return before

    def type(self, line: str) -> None:
        """Type a line."""
        time.sleep(0.2)  # a person reads first; what was typed before a question does not count
        os.write(self.master, line.encode() + b"\n")

    def press(self, key: str) -> None:
        """Press control and a letter."""
        time.sleep(0.2)
        os.write(self.master, bytes([ord(key.upper()) - 64]))

    def ended(self) -> int:
        """Wait for the command's end; gives its exit code."""
        end = time.monotonic() + _SECONDS
        while self._read():
            assert time.monotonic() < end, self.seen
        code = self.process.wait(_SECONDS)
        assert "Traceback" not in self.seen, self.seen
        return code

    def _read(self) -> bool:
        """Take what was written; False once the command has closed the terminal."""
        ready, _, _ = select.select([self.master], [], [], 1.0)
        if not ready:
            return True
        try:
            data = os.read(self.master, 65_536)
        except OSError:  # Linux: the other side is closed
            return False
        self._raw += data
        self.seen = _CONTROL.sub("", self._raw.decode("utf-8", "ignore"))
        return bool(data)


@contextlib.contextmanager
def terminal(console: Console, *arguments: str, **environment: str) -> Generator[Terminal]:
    """Run a command with a terminal of 200 columns as standard input, output and error."""
    master, slave = pty.openpty()
    mine = {**console.environment(), "TERM": "xterm", "COLUMNS": "200", "LINES": "60"}
    process = subprocess.Popen(
        [sys.executable, "starter.py", *arguments],
        cwd=ROOT,
        env={**mine, **environment},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: _own(slave),  # noqa: PLW1509 - one thread of its own, as in a shell
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        os.close(master)


def _own(slave: int) -> None:
    """Make the terminal the process's own, so that Ctrl-C reaches it."""
    import fcntl  # noqa: PLC0415 - in the child
    import termios  # noqa: PLC0415

    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
