"""What a person sees: the answer on standard output, everything else on standard error.

On a terminal there is a spinner and rendered Markdown; elsewhere plain lines, so that logs stay
readable and `--json` and `--events` stay machine-readable.
"""

# ruff: noqa: PLC0415 - rich is slow to import and needed on a terminal only

import json
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

from workflows.logic.safe_markdown import visible

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from rich.status import Status

_STEPS = 10  # lines of a progress bar where there is no terminal


def use_utf8() -> None:
    """Write UTF-8 on every platform; what cannot be written is shown escaped, never an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def dump(value: Any, *, indent: int | None = 2) -> str:
    """JSON for people and programs: Chinese as it is, no NaN."""
    return json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)


def write(text: str, stream: TextIO | None = None) -> None:
    """One block of text, with a line end, on standard output by default."""
    out = sys.stdout if stream is None else stream
    out.write(text if text.endswith("\n") else text + "\n")
    out.flush()


def complain(text: str) -> None:
    """An error message on standard error."""
    write(visible(f"error: {text}"), sys.stderr)


def write_markdown(text: str) -> None:
    """A report: rendered on a terminal, as it is elsewhere."""
    if not sys.stdout.isatty():
        write(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(visible(text), hyperlinks=False))


class Screen:
    """Progress on standard error; a context manager, so that a terminal is left clean.

    With `events`, standard error holds JSON lines only, and everything else is left out.
    """

    def __init__(self, *, events: bool = False) -> None:
        self.events = events
        self._live = sys.stderr.isatty() and not events
        self._status: Status | None = None
        self._progress: Progress | None = None
        self._bar: TaskID | None = None
        self._shown = ""
        self._tenth = -1

    def __enter__(self) -> "Screen":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.clear()

    def say(self, text: str) -> None:
        """A line that stays."""
        if self.events:
            return
        if self._status is not None:
            self._status.console.print(visible(text), markup=False, highlight=False, soft_wrap=True)
        else:
            write(visible(text), sys.stderr)

    def warn(self, text: str) -> None:
        """A line that a person should act on."""
        self.say(f"warning: {text}")

    def event(self, event: dict[str, Any]) -> None:
        """One event as a JSON line."""
        if self.events:
            write(dump(event, indent=None), sys.stderr)

    def now(self, text: str) -> None:
        """What is going on at the moment: a spinner on a terminal, a line where it changes."""
        text = visible(text)
        if self.events or text == self._shown:
            return
        self._shown = text
        if not self._live:
            write(text, sys.stderr)
            return
        if self._status is None:
            from rich.console import Console
            from rich.status import Status

            self._status = Status("", console=Console(stderr=True))
            self._status.start()
        from rich.markup import escape

        self._status.update(escape(text))

    def bar(self, label: str, done: int, total: int) -> None:
        """A progress bar of `done` in `total`; elsewhere than on a terminal at most ten lines."""
        if self.events or total <= 0:
            return
        if not self._live:
            tenth = done * _STEPS // total
            if tenth != self._tenth:
                self._tenth = tenth
                write(f"{label}: {done} of {total} files", sys.stderr)
            return
        self._draw(label, done, total)

    def _draw(self, label: str, done: int, total: int) -> None:
        if self._progress is None or self._bar is None:
            from rich.console import Console
            from rich.progress import Progress

            self.clear()
            self._progress = Progress(console=Console(stderr=True), transient=True)
            self._progress.start()
            self._bar = self._progress.add_task("")
        self._progress.update(self._bar, description=label, completed=done, total=total)

    def clear(self) -> None:
        """Remove spinner and bar."""
        if self._status is not None:
            self._status.stop()
        if self._progress is not None:
            self._progress.stop()
        self._status = self._progress = self._bar = None
        self._shown = ""
        self._tenth = -1
