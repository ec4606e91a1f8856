"""The reading process: takes a file at a time and answers with its document, chunk by chunk.

    python -m activities.ingest.child

What a hostile file can do ends here: the process holds no keys, has a limit of memory and of
processor time, and the indexer kills it when a file takes too long. It ends by itself when its
input ends or when nothing came for a while.
"""

import contextlib
import gc
import hashlib
import os
import select
import signal
import sys
from collections.abc import Iterator
from typing import BinaryIO, Final

from activities.ingest.document import UnreadableFileError
from activities.ingest.readers import Document, opened, read_document
from activities.ingest.rows import Row, head_tokens, row_of, with_following
from activities.ingest.sketch import Sketcher
from activities.ingest.wire import BATCH, Frame, receive, refusal, send

if sys.platform != "win32":
    import resource

PROCESSOR_SECONDS: Final = 60
MEMORY_BYTES: Final = 640 * 1024 * 1024
_IDLE_SECONDS = 30.0
_COLLECT_EVERY = 50  # files
_HASHED_BYTES: Final = 64 * 1024 * 1024


def main() -> None:
    """Serve jobs from standard input until it ends."""
    jobs = sys.stdin.buffer
    # What a library prints must not get between the frames.
    answers = os.fdopen(os.dup(1), "wb", buffering=1 << 16)
    os.dup2(2, 1)
    _limit_memory()
    # Reading makes millions of objects and hardly a cycle: looking for cycles now and then is
    # enough, and saves a tenth of the time.
    gc.freeze()
    gc.disable()
    files = 0
    while _waited_for(jobs) and (job := receive(jobs)) is not None:
        _arm(PROCESSOR_SECONDS)
        with contextlib.suppress(BrokenPipeError):
            for frame in answer(job):
                send(answers, frame)
        _arm(0)
        files += 1
        if files % _COLLECT_EVERY == 0:
            gc.collect()


def answer(job: Frame) -> Iterator[Frame]:
    """The frames that answer a job.

    A job is `{"file": [path, device, inode], "path": as shown, "mtime_ns", "known": hash of the
    last reading}`. The first frame has `kind` `same`, `refused` or `document`; a document's chunks
    follow, then `end`.
    """
    raw = ""
    try:
        with opened(job["file"]) as file:
            raw = _hash(file)
            if raw == job["known"]:
                yield {"kind": "same", "raw": raw}
                return
            document = read_document(file, job["path"], job["mtime_ns"])
    except UnreadableFileError as error:
        yield refusal(error.status, error.reason, raw)
        return
    except MemoryError:
        reason = f"reading it takes more than {MEMORY_BYTES // 1024 // 1024} MB of memory"
        # What was taken may not come back: the next file gets a fresh process.
        yield {**refusal("too_large", reason, raw), "last": True}
        return
    except OSError as error:
        yield refusal("unreadable", error.strerror or str(error), raw)
        return
    except Exception as error:  # noqa: BLE001 - a reader's defect must not stop the other files
        reason = f"its reader failed: {type(error).__name__}: {error}"[:300]
        yield refusal("corrupt", reason, raw)
        return
    yield from frames_of(document, job["path"], raw)


def frames_of(document: Document, path: str, raw: str) -> Iterator[Frame]:
    """A document as frames."""
    yield {
        "kind": "document",
        "raw": raw,
        "title": document.title,
        "topics": document.topics,
        "date": document.date,
        "language": document.language,
        "sha256": document.sha256,
        "problem": document.problem,
        "text": document.text,
    }
    head = head_tokens(document.title, path)
    sketcher = Sketcher()
    rows: list[Row] = []
    text = document.text
    for chunk, following in with_following(document.chunks, len(text)):
        row, body = row_of(chunk, text[chunk.start : chunk.end], following, head)
        sketcher.take(body)
        rows.append(row)
        if len(rows) == BATCH:
            yield {"kind": "chunks", "rows": rows}
            rows = []
    yield {"kind": "chunks", "rows": rows}
    yield {"kind": "end", "sketch": sketcher.sketch()}


def _hash(file: BinaryIO) -> str:
    """SHA-256 of a file's first 64 MB, and its size where it is larger."""
    digest = hashlib.sha256()
    left = _HASHED_BYTES
    while left and (data := file.read(min(left, 1 << 20))):
        digest.update(data)
        left -= len(data)
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return digest.hexdigest() + (f"+{size}" if size > _HASHED_BYTES else "")


def _waited_for(jobs: BinaryIO) -> bool:
    """Wait for the next job; False when none came for a while."""
    if sys.platform == "win32":  # pipes cannot be waited for there
        return True
    return bool(select.select([jobs], [], [], _IDLE_SECONDS)[0])


def _arm(seconds: float) -> None:
    """Have the system end this process after so much processor time, whatever the code is in."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit_memory() -> None:
    if sys.platform != "win32":
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))


if __name__ == "__main__":
    # Ctrl-C goes to the whole group; the indexer decides what ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main()
