"""Zip archives within bounds: looked at, then read through once, before a library opens them."""

import lzma
import struct
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from typing import BinaryIO, Final

from activities.ingest.document import UnreadableFileError

MOST_ENTRIES: Final = 2_000
MOST_UNPACKED: Final = 200 * 1024 * 1024
MOST_RATIO: Final = 200
_RATIO_FROM: Final = 1024 * 1024
_PIECE: Final = 1024 * 1024
_ENCRYPTED_FLAG: Final = 1
# What zipfile and its decompressors raise for damage; places beyond 2**63 overflow.
_DAMAGE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    OverflowError,
    ValueError,
)


def checked_names(file: BinaryIO) -> list[str]:
    """The names of a zip archive's entries, when what it says of itself is within bounds.

    Nothing is unpacked. The file is at its start again afterwards.

    Raises:
        UnreadableFileError: `corrupt`, `encrypted`, `too_large` or `unsupported`.
    """
    with _opened(file) as archive:
        entries = archive.infolist()
        _check_entries(entries)
    return [entry.filename for entry in entries]


def check_contents(file: BinaryIO) -> None:
    """Unpack every entry piece by piece: sizes are counted, for those an archive says may lie.

    Archives inside of the archive are not opened. The file is at its start again afterwards.

    Raises:
        UnreadableFileError: `corrupt` (also a wrong checksum), `too_large` or `unsupported`.
    """
    with _opened(file) as archive:
        left = MOST_UNPACKED
        for entry in archive.infolist():
            left -= _counted(archive, entry, left)


@contextmanager
def _opened(file: BinaryIO) -> Generator[zipfile.ZipFile]:
    with _named(), zipfile.ZipFile(file) as archive:
        yield archive
    file.seek(0)


@contextmanager
def _named() -> Generator[None]:
    """What unpacking raises, as the status of the file."""
    try:
        yield
    except _DAMAGE as error:
        raise UnreadableFileError("corrupt", f"damaged ZIP archive: {str(error)[:200]}") from None
    except RuntimeError as error:  # a way of packing that zipfile does not know
        raise UnreadableFileError("unsupported", f"ZIP archive: {str(error)[:200]}") from None


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > MOST_ENTRIES:
        raise _too_large(f"{len(entries):,} entries", f"{MOST_ENTRIES:,}")
    _check_password(entries)
    size = sum(entry.file_size for entry in entries)
    if size > MOST_UNPACKED:
        raise _too_large(f"{size / 1e6:,.0f} MB unpacked", f"{MOST_UNPACKED / 1e6:,.0f} MB")
    names = [entry.filename for entry in entries]
    if len(set(names)) < len(names):
        raise UnreadableFileError("corrupt", "damaged ZIP archive: two entries of one name")
    for entry in entries:
        _check_ratio(entry, entry.file_size)
        _check_name(entry.filename)


def _check_password(entries: list[zipfile.ZipInfo]) -> None:
    if any(entry.flag_bits & _ENCRYPTED_FLAG for entry in entries):
        raise UnreadableFileError("encrypted", "the ZIP archive needs a password")


def _check_name(name: str) -> None:
    steps = name.replace("\\", "/").split("/")
    if not steps[0] or ".." in steps or steps[0].endswith(":"):
        reason = f"damaged ZIP archive: an entry leads out of it ({name[:80]!r})"
        raise UnreadableFileError("corrupt", reason)


def _check_ratio(entry: zipfile.ZipInfo, size: int) -> None:
    if size > _RATIO_FROM and size > MOST_RATIO * max(1, entry.compress_size):
        found = f"an entry of {entry.compress_size:,} bytes unpacks to {size / 1e6:,.0f} MB or more"
        raise _too_large(found, f"{MOST_RATIO} times its size")


def _counted(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, left: int) -> int:
    """The real size of an entry; its checksum is checked on the way."""
    size = 0
    with archive.open(entry) as source:
        while data := source.read(_PIECE):
            size += len(data)
            if size > left:
                raise _too_large("more unpacked than it says", f"{MOST_UNPACKED / 1e6:,.0f} MB")
            _check_ratio(entry, size)
    return size


def _too_large(found: str, limit: str) -> UnreadableFileError:
    return UnreadableFileError("too_large", f"ZIP archive: {found}; up to {limit} is read")
