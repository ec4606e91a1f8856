"""Frames between the indexer and its reading processes: a length, then JSON in UTF-8.

A job is one frame; its answer is one frame and, for a document, frames of chunks, each at most
`BATCH` of them, so that neither side holds the tokens of a whole book.
"""

import json
import struct
from typing import Any, BinaryIO, Final, cast

BATCH: Final = 200
_LENGTH: Final = struct.Struct(">I")
MOST_BYTES: Final = 256 * 1024 * 1024
_WRITER: Final = json.JSONEncoder(ensure_ascii=False)

Frame = dict[str, Any]


def refusal(status: str, reason: str, raw: str = "") -> Frame:
    """The answer about a file that gives no document; `raw` is the hash of what was read."""
    return {"kind": "refused", "status": status, "reason": reason, "raw": raw}


def goes_on(frame: Frame) -> bool:
    """Whether more frames of the same answer follow."""
    return frame["kind"] in {"document", "chunks"}


def send(stream: BinaryIO, frame: Frame) -> None:
    """Write one frame and flush it; lone surrogates (odd file names) survive."""
    data = _WRITER.encode(frame).encode("utf-8", "surrogatepass")
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: BinaryIO) -> Frame | None:
    """Read one frame; None at the end of the stream.

    Raises:
        ValueError: what came is no frame.
    """
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > MOST_BYTES:
        raise ValueError(f"a frame of {length} bytes; at most {MOST_BYTES} are taken")
    data = stream.read(length)
    if len(data) < length:
        return None
    frame = json.loads(data.decode("utf-8", "surrogatepass"))
    if not isinstance(frame, dict):
        raise ValueError("a frame is a JSON object")  # noqa: TRY004 - what was sent is wrong
    return cast("Frame", frame)
