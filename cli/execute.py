"""Runs a command: exit codes, one-line errors, and what Ctrl-C does.

A mistake of the person at the keyboard is one line on standard error and exit code 2; what the
world did wrong is one line and exit code 1. A traceback means a defect of ours.
"""

# ruff: noqa: PLC0415 - the error types lie behind slow imports, and --help needs none

import asyncio
import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, NoReturn

from cli.outcome import OTHER, USAGE
from cli.screen import complain, use_utf8
from runtime.leaving import leave

SIGNAL_EXIT: Final = 128  # plus the signal's number, as shells do: 130 for Ctrl-C


class CommandError(Exception):
    """The world did not do what the command needs; nothing the arguments could put right."""


class _LeftError(Exception):
    """The command was told to leave by a signal."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def execute(job: Callable[[], Coroutine[Any, Any, int]]) -> NoReturn:
    """Run a command's coroutine and end the process with its exit code."""
    _open_closed_streams()
    use_utf8()
    code = OTHER
    try:
        code = _run(job)
    except BrokenPipeError:  # whoever read our output has left, as `head` does
        code = SIGNAL_EXIT + signal.SIGPIPE
    except BaseException:  # noqa: BLE001 - a defect of ours: told whole, as the interpreter would
        traceback.print_exc()
    finally:
        leave(code)


def _open_closed_streams() -> None:
    """A stream that the caller closed takes what is written to it, and keeps nothing."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - stays


def _run(job: Callable[[], Coroutine[Any, Any, int]]) -> int:
    from activities.model.profiles import ProfileError
    from runtime.errors import UsageError
    from workflows.logic.parse import InvalidTaskError

    try:
        refuse_bytes(sys.argv[1:])
        return asyncio.run(_until_signal(job))
    except _LeftError as left:
        return SIGNAL_EXIT + left.number
    except KeyboardInterrupt:  # where the event loop takes no signal handlers (Windows)
        return SIGNAL_EXIT + signal.SIGINT
    except InvalidTaskError as error:
        complain("; ".join(error.problems))
        return USAGE
    except (UsageError, ProfileError) as error:
        complain(str(error))
        return USAGE
    except BrokenPipeError:
        raise
    except (CommandError, OSError) as error:  # such as a full disk
        complain(str(error))
        return OTHER


def refuse_bytes(arguments: Sequence[str]) -> None:
    """Refuse text that is not UTF-8, which no server takes; names of files may be anything.

    Raises:
        UsageError: names the argument.
    """
    from runtime.errors import UsageError

    before = ""
    for argument in arguments:
        option, _, value = (
            argument.partition("=") if argument[:2] == "--" else (before, "", argument)
        )
        before = argument
        if (option == "--edits" and value[:1] == "@") or os.path.exists(value):
            continue
        try:
            value.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{value!r}: not UTF-8") from None


async def _until_signal(job: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """The job's result; the first SIGINT or SIGTERM cancels it, a second one ends the process."""
    received: list[int] = []
    task = asyncio.create_task(explained(job))

    def leave(number: int) -> None:
        if received:
            # Everything durable is in Temporal and on disk, so a hard exit loses nothing.
            os._exit(SIGNAL_EXIT + number)
        received.append(number)
        task.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, leave, number)
    try:
        return await task
    except asyncio.CancelledError:
        if received:
            raise _LeftError(received[0]) from None
        raise


async def explained(job: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Turn what a server answers into one line."""
    from temporalio.service import RPCError, RPCStatusCode

    try:
        return await job()
    except RPCError as error:
        from runtime.errors import UsageError

        # gRPC itself refuses what is larger than any message, with the status of a busy server.
        if error.status is RPCStatusCode.INVALID_ARGUMENT or "larger than max" in error.message:
            raise UsageError(f"the Temporal server refused it: {error.message}") from None
        if error.status is RPCStatusCode.NOT_FOUND:
            raise UsageError(
                f"not found: {error.message}; `starter.py list` shows the runs"
            ) from None
        raise CommandError(
            f"the Temporal server refused or did not answer ({error.status.name}): {error.message}"
        ) from None
