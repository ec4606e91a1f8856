"""Reading processes: files read side by side, answers in order, hanging readers killed.

Each process is served by a thread that sends it one file at a time and queues its frames; the
queues are short, so that a slow writer holds the readers back and nothing piles up. A process that
takes too long, too much memory, or dies, costs its own file only.
"""

import atexit
import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, cast

import psutil

from activities.ingest.wire import Frame, goes_on, receive, refusal, send

SECONDS: Final = 90.0  # for one step of a file, whatever the machine does beside it
RSS_BYTES: Final = 512 * 1024 * 1024
# A process that has grown is replaced before its next file.
_GROWN_BYTES: Final = 160 * 1024 * 1024
_MOST_PROCESSES = 4
_QUEUED_FRAMES = 4
_AHEAD_FILES = 16
_AHEAD_BYTES = 24 * 1024 * 1024
_POLL_SECONDS = 0.1
_RSS_SECONDS = 0.1
_REPOSITORY: Final = Path(__file__).resolve().parents[2]
COMMAND: Final = [sys.executable, "-m", "activities.ingest.child"]
# What the interpreter needs to start; keys of models and stores are none of a reader's business.
_PASSED_ON: Final = frozenset(
    {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "HOME", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT"}
    | {"LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONUTF8", "VIRTUAL_ENV", "COVERAGE_PROCESS_START"}
)


@dataclass
class Job:
    """A file to read; `size` bounds how much is read ahead."""

    frame: Frame
    size: int
    answers: "queue.Queue[Frame]" = field(default_factory=lambda: queue.Queue(_QUEUED_FRAMES))


class Child:
    """One reading process."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_REPOSITORY,
            env={name: value for name, value in os.environ.items() if name in _PASSED_ON},
        )
        self._watched = psutil.Process(self.process.pid)
        self._looked = 0.0
        # When the current step began; None while nothing is asked of the process.
        self.since: float | None = None
        self.busy = False
        self.killed = ""

    def frames(self, job: Frame) -> Iterator[Frame]:
        """Send a job and give its answer's frames.

        Raises:
            OSError, ValueError: the process is gone, or does not speak our language.
        """
        stdin, stdout = self._pipes()
        self.since = time.monotonic()
        self.busy = True
        try:
            send(stdin, job)
            while True:
                frame = receive(stdout)
                if frame is None:
                    raise OSError("the reading process ended")
                self.since = None  # the time the writer takes is not the reader's
                self.busy = goes_on(frame)
                yield frame
                if not self.busy:
                    return
                self.since = time.monotonic()
        finally:
            self.since = None

    def _pipes(self) -> tuple[BinaryIO, BinaryIO]:
        return cast("BinaryIO", self.process.stdin), cast("BinaryIO", self.process.stdout)

    def check(self) -> None:
        """Kill the process if its step takes too long or it takes too much memory."""
        since = self.since
        now = time.monotonic()
        if since is None or self.killed:
            return
        if now - since > SECONDS:
            self.kill(f"reading it took longer than {SECONDS:.0f} s")
        elif now - self._looked > _RSS_SECONDS:
            self._looked = now
            if self.memory() > RSS_BYTES:
                megabytes = RSS_BYTES // 1024 // 1024
                self.kill(f"reading it takes more than {megabytes} MB of memory")

    def memory(self) -> int:
        """Resident memory in bytes, 0 if the process is gone."""
        with contextlib.suppress(psutil.Error):
            return self._watched.memory_info().rss
        return 0

    def kill(self, why: str = "") -> None:
        """End the process at once."""
        self.killed = self.killed or why
        self.process.kill()

    def close(self) -> None:
        """End the process and collect it."""
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self.process.wait()

    def how_it_ended(self, code: int) -> tuple[str, str]:
        """Status and reason of a file whose reading ended with the process."""
        if self.killed:
            return ("too_large" if "memory" in self.killed else "unreadable"), self.killed
        if code == -_SIGPROF:
            return "unreadable", "reading it took too much processor time"
        kind = "signal" if code < 0 else "exit code"
        return "corrupt", f"its reader crashed ({kind} {abs(code)})"


_SIGPROF: Final = int(getattr(signal, "SIGPROF", 0))


def _is_last(frame: Frame | None) -> bool:
    """Whether a process says that it is of no more use."""
    return frame is not None and bool(frame.get("last"))


_idle: list[Child] = []
_idle_lock = threading.Lock()


def _borrow() -> Child:
    while True:
        with _idle_lock:
            child = _idle.pop() if _idle else None
        if child is None:
            return Child()
        # An idle process ends by itself after a while.
        if child.process.poll() is None:
            return child
        child.close()


def _give_back(child: Child) -> None:
    if child.process.poll() is None and not child.busy and child.memory() < _GROWN_BYTES:
        with _idle_lock:
            if len(_idle) < _MOST_PROCESSES:
                _idle.append(child)
                return
    child.close()


def close_idle() -> None:
    """End the processes that wait for a next indexer."""
    with _idle_lock:
        idle, _idle[:] = list(_idle), []
    for child in idle:
        child.close()


atexit.register(close_idle)


class Pool:
    """Some reading processes at work for one indexer; see `reading`."""

    def __init__(self, processes: int) -> None:
        self._jobs: queue.Queue[Job | None] = queue.Queue()
        self._children: list[Child | None] = [None] * processes
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._serve, args=(place,), name=f"reader-{place}", daemon=True)
            for place in range(processes)
        ]

    def answers(
        self, jobs: Iterable[Job], cancelled: Callable[[], bool]
    ) -> Generator[tuple[Job, Iterator[Frame]]]:
        """Each job with its frames, in order; some jobs are read ahead.

        The frames of one job must be taken before the next job is asked for.
        """
        waiting: list[Job] = []
        source = iter(jobs)
        more = True
        while True:
            while more and self._has_room(waiting):
                job = next(source, None)
                if job is None:
                    more = False
                else:
                    waiting.append(job)
                    self._put(job)
            if not waiting:
                return
            job = waiting.pop(0)
            yield job, self._frames(job, cancelled)

    def _has_room(self, waiting: list[Job]) -> bool:
        if not waiting:
            return True
        return len(waiting) < _AHEAD_FILES and sum(j.size for j in waiting) < _AHEAD_BYTES

    def _put(self, job: Job) -> None:
        # Processes start when there is something to read, and only as many as there are files.
        started = [thread for thread in self._threads if thread.ident is not None]
        if len(started) < len(self._threads):
            self._threads[len(started)].start()
        self._jobs.put(job)

    def _frames(self, job: Job, cancelled: Callable[[], bool]) -> Iterator[Frame]:
        while True:
            try:
                frame = job.answers.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                for child in list(self._children):
                    if child is not None:
                        child.check()
                if cancelled():
                    return
                continue
            yield frame
            if not goes_on(frame):
                return

    def _serve(self, place: int) -> None:
        while (job := self._jobs.get()) is not None and not self._stopping.is_set():
            if not self._read(place, job):
                # It had ended in peace before the job reached it, as idle ones do.
                self._read(place, job)

    def _read(self, place: int, job: Job) -> bool:
        """Have a process read a file; False if the process had already ended."""
        child = self._children[place] or _borrow()
        self._children[place] = child
        frame: Frame | None = None
        try:
            for frame in child.frames(job.frame):
                if not self._queued(job, frame):
                    break
        except (OSError, ValueError):
            child.kill()
            code = child.process.wait()
            if frame is None and code == 0 and not child.killed:
                self._drop(place)
                return False
            status, reason = child.how_it_ended(code)
            self._queued(job, refusal(status, reason))
        if child.process.poll() is not None or child.memory() > _GROWN_BYTES or _is_last(frame):
            self._drop(place)
        return True

    def _drop(self, place: int) -> None:
        if (child := self._children[place]) is not None:
            child.close()
            self._children[place] = None

    def _queued(self, job: Job, frame: Frame) -> bool:
        while not self._stopping.is_set():
            try:
                job.answers.put(frame, timeout=_POLL_SECONDS)
            except queue.Full:
                continue
            return True
        return False

    def close(self) -> None:
        """End the threads; processes that are in the middle of a file are killed, others kept."""
        self._stopping.set()
        for _ in self._threads:
            self._jobs.put(None)
        started = [thread for thread in self._threads if thread.ident is not None]
        while any(thread.is_alive() for thread in started):
            # Looked at again: a thread may just have begun a file.
            for child in list(self._children):
                if child is not None and child.busy:
                    child.kill("stopped")
            for thread in started:
                thread.join(_POLL_SECONDS)
        for child in self._children:
            if child is not None:
                _give_back(child)


@contextmanager
def reading(processes: int = 0) -> Generator[Pool]:
    """Reading processes, as many as there are processors (at most four) if not told."""
    pool = Pool(processes or min(_MOST_PROCESSES, os.cpu_count() or 1))
    try:
        yield pool
    finally:
        pool.close()
