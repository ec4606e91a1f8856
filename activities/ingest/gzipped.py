"""Single files compressed with gzip: unpacked within bounds of size and ratio."""

import gzip
import tempfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from typing import BinaryIO, Final, cast

from activities.ingest.document import UnreadableFileError

MOST_UNPACKED: Final = 64 * 1024 * 1024
# Logs and pages shrink to a fiftieth at best; what shrinks further is made to fill a disk.
MOST_RATIO: Final = 200
_RATIO_FROM = 4 * 1024 * 1024
_IN_MEMORY = 8 * 1024 * 1024
_PIECE = 1024 * 1024
_NO_GZIP = "Not a gzipped file"


@contextmanager
def unpacked(file: BinaryIO) -> Generator[tuple[BinaryIO, str]]:
    """The unpacked file, at its start, and what of it is missing ("" if nothing).

    What was unpacked before the data end or turn out to be damaged is kept.

    Raises:
        UnreadableFileError: `corrupt` (nothing could be unpacked), or `too_large` by its ratio.
    """
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as spooled:
        inner = cast("BinaryIO", spooled)
        problem = _unpack(file, inner)
        inner.seek(0)
        yield inner, problem


def _unpack(file: BinaryIO, inner: BinaryIO) -> str:
    """Unpack into another file; gives what is missing."""
    problem = ""
    size = 0
    try:
        with gzip.GzipFile(fileobj=file, mode="rb") as source:
            while data := source.read1(min(_PIECE, MOST_UNPACKED - size)):
                size += inner.write(data)
                _check_ratio(size, file.tell())
                if size >= MOST_UNPACKED:
                    problem = f"only the first {MOST_UNPACKED // 1024 // 1024} MB were unpacked"
                    break
    except EOFError:
        problem = "the gzip data end early"
    except (gzip.BadGzipFile, zlib.error) as error:
        problem = f"damaged gzip data: {error}"
        # What follows behind the data has the place of a second file's beginning.
        if str(error).startswith(_NO_GZIP):
            problem = "what follows behind the gzip data is none, and was not read"
    if problem and not size:
        raise UnreadableFileError("corrupt", problem)
    return problem


def _check_ratio(size: int, packed: int) -> None:
    if size > _RATIO_FROM and size > MOST_RATIO * packed:
        raise UnreadableFileError(
            "too_large", f"unpacks to more than {MOST_RATIO} times its size: not unpacked further"
        )
