"""What a person sees: the answer on standard output, everything else on standard error.

On a terminal there is a spinner below the plan, and rendered Markdown; elsewhere plain lines, so
that logs stay readable and `--json` and `--events` stay machine-readable.
"""

# ruff: noqa: PLC0415 - rich is slow to import and needed on a terminal only

import contextlib
import json
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

from cli.plain import line, plain

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live
    from rich.progress import Progress, TaskID
    from rich.spinner import Spinner

_STEPS = 10  # lines of a progress bar where there is no terminal


def use_utf8() -> None:
    """Write UTF-8 on every platform; what cannot be written is shown escaped, never an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def dump(value: Any, *, indent: int | None = 2) -> str:
    """JSON for people and programs: Chinese as it is, control characters escaped, no NaN."""
    return plain(json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False))


def write(text: str, stream: TextIO | None = None) -> None:
    """One block of text, with a line end, on standard output by default; JSON stays what it is."""
    out = sys.stdout if stream is None else stream
    shown = plain(text)
    out.write(shown if shown.endswith("\n") else shown + "\n")
    out.flush()


def complain(text: str) -> None:
    """An error message on standard error, in one line."""
    _tell(line(f"error: {text}"))


def _tell(text: str) -> None:
    """Progress, which nobody may be left to see: that costs no result and no exit code."""
    with contextlib.suppress(OSError):
        write(text, sys.stderr)


def write_markdown(text: str) -> None:
    """A report: rendered on a terminal, as it is elsewhere."""
    if not sys.stdout.isatty():
        write(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(plain(text), hyperlinks=False))


class Screen:
    """Progress on standard error; a context manager, so that a terminal is left clean.

    With `events`, standard error holds JSON lines only, and everything else is left out.
    """

    def __init__(self, *, events: bool = False) -> None:
        self.events = events
        self._live = sys.stderr.isatty() and not events
        self._view: Live | None = None
        self._spinner: Spinner | None = None
        self._board: RenderableType | None = None
        self._held = False
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

    @property
    def live(self) -> bool:
        """Whether it is a terminal, where what is shown can change in place."""
        return self._live

    def say(self, text: str) -> None:
        """A line that stays."""
        if self.events:
            return
        if self._view is not None:
            self._view.console.print(
                plain(text), markup=False, highlight=False, emoji=False, soft_wrap=True
            )
        else:
            _tell(text)

    def markdown(self, text: str) -> None:
        """A text of several lines that stays: rendered on a terminal, as it is elsewhere."""
        if self.events:
            return
        if not self._live:
            _tell(text)
            return
        from rich.console import Console
        from rich.markdown import Markdown

        console = self._view.console if self._view is not None else Console(stderr=True)
        console.print(Markdown(plain(text), hyperlinks=False))

    def warn(self, text: str) -> None:
        """A line that a person should act on."""
        self.say(f"warning: {text}")

    def event(self, event: dict[str, Any]) -> None:
        """One event as a JSON line."""
        if self.events:
            _tell(dump(event, indent=None))

    def now(self, text: str) -> None:
        """What is going on at the moment: a spinner on a terminal, a line where it changes."""
        text = line(text)
        if self.events or text == self._shown:
            return
        self._shown = text
        if not self._live:
            _tell(text)
            return
        self._draw_view()

    def board(self, board: "RenderableType | None") -> None:
        """What stands above the spinner, on a terminal only: the plan, for one."""
        self._board = board
        if self._live and self._view is not None:
            self._draw_view()

    def hold(self) -> None:
        """Let nothing move while a person types."""
        self._held = True
        self._stop_view()

    def release(self) -> None:
        """Go on showing what is going on."""
        self._held = False
        if self._live and self._shown:
            self._draw_view()

    def _draw_view(self) -> None:
        if self._held:
            return
        from rich.console import Console, Group
        from rich.live import Live
        from rich.spinner import Spinner
        from rich.text import Text

        if self._spinner is None:
            self._spinner = Spinner("dots")
        self._spinner.update(text=Text(self._shown))
        shown = self._spinner if self._board is None else Group(self._board, self._spinner)
        if self._view is None:
            self._view = Live(shown, console=Console(stderr=True), transient=True)
            self._view.start()
        else:
            self._view.update(shown)

    def _stop_view(self) -> None:
        if self._view is not None:
            self._view.stop()
        self._view = None

    def bar(self, label: str, done: int, total: int) -> None:
        """A progress bar of `done` in `total`; elsewhere than on a terminal at most ten lines."""
        if self.events or total <= 0:
            return
        if not self._live:
            tenth = done * _STEPS // total
            if tenth != self._tenth:
                self._tenth = tenth
                _tell(f"{label}: {done} of {total} files")
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
        self._stop_view()
        if self._progress is not None:
            self._progress.stop()
        self._spinner = self._board = self._progress = self._bar = None
        self._shown = ""
        self._tenth = -1
