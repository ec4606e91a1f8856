"""Zip archives within bounds: looked at, and read through once, before a library opens them."""

import zipfile
import zlib
from typing import BinaryIO, Final

from activities.ingest.document import UnreadableFileError

MOST_ENTRIES: Final = 2_000
MOST_UNPACKED: Final = 200 * 1024 * 1024
MOST_RATIO: Final = 200
_RATIO_FROM: Final = 1024 * 1024
_PIECE: Final = 1024 * 1024
_ENCRYPTED_FLAG: Final = 1


def checked_names(file: BinaryIO) -> list[str]:
    """The names of a zip archive's entries, once every entry has been unpacked within bounds.

    What an archive says of its sizes may be a lie, so they are counted. Archives inside of the
    archive are not opened. The file is at its start again afterwards.

    Raises:
        UnreadableFileError: `corrupt`, `encrypted` or `too_large`.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            _check_entries(entries)
            left = MOST_UNPACKED
            for entry in entries:
                left -= _counted(archive, entry, left)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
        raise UnreadableFileError("corrupt", f"damaged ZIP archive: {str(error)[:200]}") from None
    except (NotImplementedError, RuntimeError) as error:
        raise UnreadableFileError("unsupported", f"ZIP archive: {str(error)[:200]}") from None
    file.seek(0)
    return [entry.filename for entry in entries]


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > MOST_ENTRIES:
        raise _too_large(f"{len(entries):,} entries", f"{MOST_ENTRIES:,}")
    if any(entry.flag_bits & _ENCRYPTED_FLAG for entry in entries):
        raise UnreadableFileError("encrypted", "the ZIP archive needs a password")
    size = sum(entry.file_size for entry in entries)
    if size > MOST_UNPACKED:
        raise _too_large(f"{size / 1e6:,.0f} MB unpacked", f"{MOST_UNPACKED / 1e6:,.0f} MB")
    names = [entry.filename for entry in entries]
    if len(set(names)) < len(names):
        raise UnreadableFileError("corrupt", "damaged ZIP archive: two entries of one name")
    for name in names:
        if name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/"):
            reason = f"damaged ZIP archive: an entry leads out of it ({name[:80]!r})"
            raise UnreadableFileError("corrupt", reason)


def _counted(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, left: int) -> int:
    """The real size of an entry; its checksum is checked on the way."""
    size = 0
    with archive.open(entry) as source:
        while data := source.read(_PIECE):
            size += len(data)
            if size > left:
                raise _too_large("more unpacked than it says", f"{MOST_UNPACKED / 1e6:,.0f} MB")
            if size > _RATIO_FROM and size > MOST_RATIO * max(1, entry.compress_size):
                raise _too_large(
                    f"an entry of {entry.compress_size:,} bytes unpacks to more than "
                    f"{size / 1e6:,.0f} MB",
                    f"{MOST_RATIO} times its size",
                )
    return size


def _too_large(found: str, limit: str) -> UnreadableFileError:
    return UnreadableFileError("too_large", f"ZIP archive: {found}; up to {limit} is read")
