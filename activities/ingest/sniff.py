"""Bytes to text: what a file really is, whatever its name says.

Text is UTF-8, with or without a byte order mark; anything else is refused with its reason, never
guessed at: wrong characters in an index are worse than a file that is named as not read.
"""

import re
from typing import Final

from activities.ingest.document import UnreadableFileError

MAX_BYTES: Final = 20 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"
_SIGNATURES: Final = (
    (b"%PDF-", "PDF"),
    (b"PK\x03\x04", "ZIP archive or office document"),
    (b"PK\x05\x06", "ZIP archive"),
    (b"\x89PNG", "PNG image"),
    (b"GIF8", "GIF image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"RIFF", "RIFF media"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ", "xz archive"),
    (b"7z\xbc\xaf", "7z archive"),
    (b"\xd0\xcf\x11\xe0", "old office document"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"{\\rtf", "RTF"),
    (b"wOFF", "font"),
    (b"wOF2", "font"),
)
_WIDE: Final = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_CONTROL = bytes(b for b in range(32) if b not in b"\t\n\r\f\x1b") + b"\x7f"
_BINARY_SHARE = 0.02
_LOST_SHARE = 0.05
_DECLARED = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)""",
    re.IGNORECASE,
)
_SEVEN_BIT = re.compile(r"iso-2022|hz-gb|utf-7", re.IGNORECASE)


def decode(data: bytes) -> str:
    """The text of a file: byte order marks removed, line ends made line feeds.

    Raises:
        UnreadableFileError: `empty`, `binary`, `unsupported` (a known format, another encoding),
            or `corrupt` (text that an earlier conversion has destroyed).
    """
    if not data.strip():
        raise UnreadableFileError("empty", "the file holds no text")
    _refuse_formats(data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFileError(
            "unsupported",
            f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}",
        ) from None
    if text.count("\ufffd") > _LOST_SHARE * len(text):
        raise UnreadableFileError("corrupt", "text full of replacement characters (U+FFFD)")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufeff", "")


def _refuse_formats(data: bytes) -> None:
    for signature, name in _SIGNATURES:
        if data.startswith(signature):
            raise UnreadableFileError("unsupported", f"{name}: not a format that is read")
    for signature, name in _WIDE:
        if data.startswith(signature):
            raise UnreadableFileError("unsupported", f"{name} text: only UTF-8 is read")
    if (place := data.find(b"\0")) >= 0:
        raise UnreadableFileError("binary", f"NUL byte at offset {place}: not a text file")
    controls = len(data) - len(data.translate(None, _CONTROL))
    if controls > _BINARY_SHARE * len(data):
        raise UnreadableFileError("binary", f"{controls} control characters: not a text file")


def refuse_declared_encoding(data: bytes) -> None:
    """Refuse HTML that declares another encoding than UTF-8.

    Plain ASCII is the same in both, so it passes, but for encodings made of ASCII bytes.
    """
    if data.startswith(_BOM):
        return
    match = _DECLARED.search(data[:4096])
    if match is None:
        return
    name = (match[1] or match[2]).decode("ascii", "replace")
    if name.lower() in {"utf-8", "utf8", "us-ascii", "ascii"}:
        return
    if not data.isascii() or _SEVEN_BIT.search(name):
        raise UnreadableFileError("unsupported", f"declared encoding {name}: only UTF-8 is read")


_HTML_HEAD = re.compile(
    r"\s*(?:<\?xml[^>]*>|<!--.*?-->|\s)*<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(r"</?[a-zA-Z][\w-]*(?:\s[^<>]*)?/?>")


def looks_like_html(text: str, suffix: str) -> bool:
    """By its first tag; a name that says HTML is believed where there is any tag."""
    if _HTML_HEAD.match(text[:8192]):
        return True
    return suffix in {".html", ".htm", ".xhtml"} and _TAG.search(text) is not None
