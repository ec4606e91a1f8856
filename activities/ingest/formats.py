"""What a file really is, by its first bytes: a format with a reader, a known other one, or text.

Signatures: the formats' specifications, as listed by file(1) and by the MIME Sniffing Standard.
"""

import re
from typing import Final

from activities.ingest.document import UnreadableFileError

HEAD_BYTES: Final = 4096

_READ: Final = (
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
)
_UNSUPPORTED: Final = (
    (b"\x89PNG", "PNG image"),
    (b"GIF87a", "GIF image"),
    (b"GIF89a", "GIF image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"II*\x00", "TIFF image"),
    (b"MM\x00*", "TIFF image"),
    (b"MM\x00+", "TIFF image"),
    (b"II+\x00", "TIFF image"),
    (b"AT&TFORM", "DjVu document"),
    (b"\xc5\xd0\xd3\xc6", "PostScript"),
    (b"OggS", "Ogg media"),
    (b"fLaC", "FLAC audio"),
    (b"\x1aE\xdf\xa3", "Matroska media"),
    (b"PK\x07\x08", "ZIP archive in parts"),
    (b"\xfd7zXZ\x00", "xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"Rar!\x1a\x07", "RAR archive"),
    (b"\x28\xb5\x2f\xfd", "zstd archive"),
    (b"\x04\x22\x4d\x18", "lz4 archive"),
    (b"\x1f\x9d", "compress archive"),
    (b"\x1f\xa0", "compress archive"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"wOFF", "font"),
    (b"wOF2", "font"),
    (b"OTTO\x00", "font"),
    (b"\x00\x01\x00\x00\x00", "font"),
    (b"true\x00", "font"),
    (b"ttcf\x00", "font"),
)
# These formats are written in letters: a text that only names them goes on otherwise.
_OF_LETTERS: Final = (
    (re.compile(rb"%!PS(?:-|\s*[\r\n]|$)"), "PostScript"),
    (re.compile(rb"\{\\rtf(?:\d|$)"), "RTF"),
    (re.compile(rb"!<arch>\n(?:.{58}`\n|$)", re.DOTALL), "ar archive or Debian package"),
    (re.compile(rb"# Sphinx inventory version \d"), "inventory of a documentation tool"),
)
_BINARY: Final = (
    (b"\x7fELF", "ELF executable"),
    (b"\x00asm", "WebAssembly module"),
    (b"\xfe\xed\xfa\xce", "Mach-O executable"),
    (b"\xfe\xed\xfa\xcf", "Mach-O executable"),
    (b"\xce\xfa\xed\xfe", "Mach-O executable"),
    (b"\xcf\xfa\xed\xfe", "Mach-O executable"),
    (b"\xca\xfe\xba\xbe", "Java class or Mach-O executable"),
)
# These begin with bytes that a text may begin with as well: more of them has to fit.
_BY_PATTERN: Final = (
    (re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), "bzip2 archive"),
    (re.compile(rb"ID3[\x02-\x04][\x00-\x0a]"), "MP3 audio"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "WebP image"),
    (re.compile(rb"RIFF.{4}[A-Z][A-Za-z0-9]{2}[A-Za-z0-9 ]", re.DOTALL), "RIFF media"),
    (re.compile(rb"BM.{4}\x00{4}.{4}[\x0c\x28\x38\x40\x6c\x7c]\x00{3}", re.DOTALL), "BMP image"),
    (re.compile(rb"\x00\x00[\x01\x02]\x00[^\x00]\x00.{3}\x00", re.DOTALL), "ICO image"),
    (re.compile(rb"\x00.{3}ftyp(?:heic|heix|mif1|avif)", re.DOTALL), "HEIF image"),
    (re.compile(rb"\x00.{3}ftyp", re.DOTALL), "MP4 or QuickTime media"),
    (re.compile(rb"\x00.{3}(?:moov|mdat|wide|free)\x00", re.DOTALL), "MP4 or QuickTime media"),
    (re.compile(rb"PAR1[\x00-\x1f]"), "Parquet table"),
    (re.compile(rb".{257}ustar[\x00 ]", re.DOTALL), "tar archive"),
)
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
# What comes behind the signature of a real PDF: the end of the line, or bytes of no text.
_PDF_LINE = re.compile(rb"%PDF-\d\.\d[ \t]*(?:[\r\n%]|$)|%PDF-$")
_PDF_OBJECT = re.compile(rb"\d \d obj\b|%%EOF|\bxref\b")
_PE_OFFSET = 0x3C
_PDF_WITHIN = 1024
# The header, and the comment of bytes beyond ASCII that marks the file as binary.
_LATE_PDF = re.compile(rb"(?:^|[\r\n\x00])%PDF-\d\.\d\s{1,4}%?[^\n\r]{0,8}[\x80-\xff]{2}")


def format_of(head: bytes) -> str:
    """The format of a file whose first bytes (`HEAD_BYTES` or all) are `head`.

    Returns:
        "pdf", "zip", "gzip", "ole" (an old office document, or an encrypted new one), or "" for
        what may be text.

    Raises:
        UnreadableFileError: `unsupported` or `binary`, a known format that is not read.
    """
    for signature, name in _READ:
        if head.startswith(signature):
            return "" if name == "pdf" and _speaks_of_pdf(head) else name
    for signature, name in _BINARY:
        if head.startswith(signature):
            raise UnreadableFileError("binary", f"{name}: not a text file")
    if _is_pe(head):
        raise UnreadableFileError("binary", "Windows executable: not a text file")
    name = _unsupported(head)
    if name:
        raise UnreadableFileError("unsupported", f"{name}: not a format that is read")
    if _LATE_PDF.search(head[: _PDF_WITHIN + 32]):
        return "pdf"
    return ""


def _unsupported(head: bytes) -> str:
    found = next((name for pattern, name in _OF_LETTERS if pattern.match(head)), "")
    if found:
        return found
    for signature, name in _UNSUPPORTED:
        if head.startswith(signature):
            return "" if _goes_on_as_text(head, len(signature)) else name
    for pattern, name in _BY_PATTERN:
        if match := pattern.match(head):
            return "" if _goes_on_as_text(head, match.end()) else name
    return ""


def _speaks_of_pdf(head: bytes) -> bool:
    """Whether a text begins with the signature of PDF, as one about it may."""
    if _PDF_LINE.match(head) or _PDF_OBJECT.search(head):
        return False
    return _goes_on_as_text(head, 5)


def _goes_on_as_text(head: bytes, place: int) -> bool:
    """Whether a head is text in UTF-8 as a whole, with words behind a place."""
    if not head[place:].strip() or _CONTROL.search(head):
        return False
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        # The last character may be cut off.
        return len(head) == HEAD_BYTES and error.start >= len(head) - 3
    return True


def _is_pe(head: bytes) -> bool:
    """True for MZ with the PE header it points to, or for a plain DOS program's header."""
    if not head.startswith(b"MZ"):
        return False
    place = int.from_bytes(head[_PE_OFFSET : _PE_OFFSET + 4], "little")
    return head[place : place + 4] == b"PE\x00\x00" or b"\x00" in head[2:_PE_OFFSET]
