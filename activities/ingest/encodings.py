"""Bytes of a text file to text: which encoding, and what of it can not be read.

In this order: byte order mark; UTF-16 and UTF-32 without one; UTF-8; the declared encoding; a
Chinese encoding by evidence; line by line. What fits none is refused with its reason: wrong
characters in an index are worse than a file that is named as not read.

charsets    declared encodings: labels, strict decoding
wide_text   UTF-16 and UTF-32
chinese     GB18030 and Big5 by the frequency of characters
mixed_text  lines in different encodings, stray bytes
"""

import re
from dataclasses import replace
from typing import Final, NoReturn

from activities.ingest.charsets import (
    MULTIBYTE,
    Decoded,
    canonical,
    read_declared,
    read_stateful,
    strict,
)
from activities.ingest.chinese import READERS, evidence, guess_chinese
from activities.ingest.document import UnreadableFileError
from activities.ingest.mixed_text import has_utf8_lines, read_lines
from activities.ingest.terminal import as_shown
from activities.ingest.wide_text import guess_wide, read_marked

__all__ = ["Decoded", "decode_text"]

_BOM: Final = b"\xef\xbb\xbf"
_CONTROL = bytes(b for b in range(32) if b not in b"\t\n\r\f\x1b") + b"\x7f"
_BINARY_SHARE = 0.02
# A log that was cut or preallocated while it was written holds a hole of any length.
_HOLE = re.compile(rb"\0+")
_LOST_SHARE = 0.05
# Chinese by declaration needs no proof, but must not be plain nonsense.
_NONSENSE_MEAN = -0.5
_NONSENSE_CHARS = 20
# A declared single-byte encoding fits any bytes: two frequent Chinese characters and no rare one
# are a conflict, which is refused.
_CONFLICT = 3.0
_FEW_CHARACTERS = 8
# Combining marks and letters of small scripts: in UTF-8 the bytes of frequent Chinese characters.
_SELDOM = re.compile(
    "[\u0180-\u036f\u048a-\u052f\u0531-\u058f\u0591-\u05c7\u0610-\u061a\u064b-\u065f"
    "\u06d6-\u06ed\u0700-\u07ff]"
)


def decode_text(data: bytes, declared: str = "", *, cut: bool = False) -> Decoded:
    """Decode a text file.

    Args:
        data: the file, or its first part.
        declared: the encoding that the text itself declares, as HTML and XML do.
        cut: `data` is the first part of a larger file: an incomplete character at its end is
            dropped and no error.

    Raises:
        UnreadableFileError: `empty`, `binary`, `unsupported` (another encoding), or `corrupt`
            (text that an earlier conversion has destroyed).
    """
    if not data.strip():
        raise UnreadableFileError("empty", "the file holds no text")
    found = read_marked(data, cut)
    if found is None:
        body = data.removeprefix(_BOM)
        found = _read_unmarked(body, declared, cut, len(data) - len(body))
    return _finish(found)


def _finish(found: Decoded) -> Decoded:
    text = found.text
    if not text.strip("\ufeff \t\r\n\f\v\u3000"):
        raise UnreadableFileError("empty", "the file holds no text")
    if text.count("\ufffd") > _LOST_SHARE * len(text):
        raise UnreadableFileError("corrupt", "text full of replacement characters (U+FFFD)")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return replace(found, text=text.replace("\ufeff", ""))


def _read_unmarked(data: bytes, declared: str, cut: bool, skipped: int) -> Decoded:
    if b"\0" in data:
        found = guess_wide(data, cut)
        if found is not None:
            return found
        filled, holes = _HOLE.subn(b"", data)
        if holes > _BINARY_SHARE * len(filled):
            place = data.find(b"\0") + skipped
            raise UnreadableFileError("binary", f"NUL byte at offset {place}: not a text file")
        data = filled
    raw, data = data, as_shown(data)
    found = read_stateful(data, declared, cut)
    if found is not None:
        return found
    text = strict(data, "utf-8", cut)
    if text is not None:
        _refuse_controls(data)
        _refuse_chance(data, text)
        return Decoded(text, "utf-8")
    return _read_other(data, raw, declared, cut, skipped)


def _refuse_chance(data: bytes, text: str) -> None:
    """Refuse the one or two Chinese characters whose bytes happen to be UTF-8."""
    if len(data) - len(text) > _FEW_CHARACTERS or not _SELDOM.search(text):
        return
    chinese = READERS["gb18030"](data, False)
    if chinese is not None and evidence(chinese, "gb18030").mean > 0:
        raise UnreadableFileError("unsupported", "UTF-8 or GB18030: too few characters to tell")


def _refuse_controls(data: bytes) -> None:
    controls = len(data) - len(data.translate(None, _CONTROL))
    if controls > _BINARY_SHARE * len(data):
        raise UnreadableFileError("binary", f"{controls} control characters: not a text file")


def _read_other(data: bytes, raw: bytes, declared: str, cut: bool, skipped: int) -> Decoded:
    """Text that is not UTF-8; `skipped` bytes before it are counted in offsets.

    Only in `raw` a character of two bytes is whole if one of them looks like an escape.
    """
    guess = guess_chinese(data, cut)
    if guess is None and (wide := guess_wide(raw, cut)) is not None:
        return wide
    _refuse_controls(data)
    if guess is not None and not has_utf8_lines(data, guess.encoding):
        return Decoded(guess.text, guess.encoding)
    found = _by_declaration(data, declared, cut) if guess is None else None
    found = found or read_lines(data, cut)
    if found is None:
        _refuse(data, declared, skipped)
    return found


def _by_declaration(data: bytes, declared: str, cut: bool) -> Decoded | None:
    """Text in the declared encoding, where nothing speaks against it."""
    name = canonical(declared)
    text = READERS[name](data, cut) if name in READERS else read_declared(data, name, cut)
    if text is None:
        return None
    if name in READERS:
        found = evidence(text, name)
        nonsense = found.chars >= _NONSENSE_CHARS and found.mean < _NONSENSE_MEAN
        return None if nonsense or has_utf8_lines(data, name) else Decoded(text, name)
    if name in MULTIBYTE:
        return Decoded(text, name)
    for encoding, read in READERS.items():
        chinese = read(data, cut)
        if chinese is not None and evidence(chinese, encoding).total >= _CONFLICT:
            _refuse(data, declared, 0)
    return Decoded(text, name)


def _refuse(data: bytes, declared: str, skipped: int) -> NoReturn:
    try:
        data.decode("utf-8")
        place = 0
    except UnicodeDecodeError as error:
        place = error.start
    reason = f"neither UTF-8 nor a Chinese encoding: byte 0x{data[place]:02x}"
    hint = f" (declared: {canonical(declared)})" if declared.strip() else ""
    raise UnreadableFileError("unsupported", f"{reason} at offset {place + skipped}{hint}")
