"""What a person types, a line at a time; waiting for it can be given up at any moment.

A thread in `input()` cannot be stopped, so the terminal is read by the event loop. Where that
cannot read a terminal (Windows), nobody is asked: the commands that answer are shown instead.
"""

import asyncio
import contextlib
import os
import sys
from typing import Final

from cli.plain import plain

_BYTES: Final = 4096


def is_terminal() -> bool:
    """Whether somebody sits at a keyboard who can be asked."""
    try:
        return sys.stdin.isatty() and sys.stderr.isatty() and os.name != "nt"
    except ValueError:  # a closed stream
        return False


async def typed(prompt: str) -> str | None:
    """A line, without its end; None where the person left with Ctrl-D.

    What was typed before the question is thrown away: it cannot have been meant as its answer.

    Args:
        prompt: written before it, on standard error.
    """
    _forget_typed_ahead()
    sys.stderr.write(plain(prompt))
    sys.stderr.flush()
    loop, number = asyncio.get_running_loop(), sys.stdin.fileno()
    line: asyncio.Future[bytes] = loop.create_future()

    def read() -> None:
        # A terminal hands over whole lines; an empty read is Ctrl-D.
        if not line.done():
            try:
                line.set_result(os.read(number, _BYTES))
            except OSError:  # the terminal is gone
                line.set_result(b"")

    loop.add_reader(number, read)
    try:
        data = await line
    except asyncio.CancelledError:
        sys.stderr.write("\n")  # what comes next begins a line
        raise
    finally:
        loop.remove_reader(number)
    if not data.endswith(b"\n"):
        sys.stderr.write("\n")
    if not data:
        return None
    return data.decode("utf-8", "replace").strip()


def _forget_typed_ahead() -> None:
    with contextlib.suppress(ImportError, OSError):
        import termios  # noqa: PLC0415 - there is none on Windows

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
