"""UTF-16 and UTF-32: by their byte order mark, or without one by what they read as."""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from typing import Final

from activities.ingest.charsets import Decoded, strict
from activities.ingest.chinese import evidence
from activities.ingest.document import UnreadableFileError

# UTF-32 before UTF-16: the mark of one begins with that of the other.
_MARKS: Final = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_NO_CHARACTER = re.compile("[\0\ud800-\udfff]")
_CONTROL = re.compile("[\x01-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_CONTROL_SHARE = 0.02
_BAD_SHARE = 0.01
_SAMPLE = 1 << 15

# Half-open ranges of scripts, each from its start to the next; "" is what text rarely has.
_SCRIPTS: Final = (
    (0x00, "ascii"), (0x80, ""), (0xA0, "latin"), (0x250, ""), (0x370, "greek"),
    (0x400, "cyrillic"), (0x530, ""), (0x590, "hebrew"), (0x600, "arabic"), (0x780, ""),
    (0x900, "devanagari"), (0x980, ""), (0xE00, "thai"), (0xE80, ""), (0x1E00, "latin"),
    (0x1F00, "greek"), (0x2000, "sign"), (0x2C00, ""), (0x3000, "sign"), (0x3040, "kana"),
    (0x3100, ""), (0x3400, "han"), (0xA000, ""), (0xAC00, "hangul"), (0xD7A4, ""),
    (0xF900, "han"), (0xFB00, ""), (0xFF01, "sign"), (0xFFEF, ""), (0x1F000, "sign"),
    (0x20000, "han"), (0x32000, ""),
)  # fmt: skip
_STARTS: Final = [start for start, _ in _SCRIPTS]
_FEW_SCRIPTS = 0.97
_MOSTLY_ASCII = 0.7
_MOST_SIGNS = 0.3
_KANA = 0.2


def read_marked(data: bytes, cut: bool) -> Decoded | None:
    """Text after a byte order mark of UTF-16 or UTF-32, None without one.

    What is no character is left out and counted.

    Raises:
        UnreadableFileError: `binary` or `corrupt`, too much of it is no text.
    """
    found = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), None)
    if found is None:
        return None
    mark, name = found
    text, bad = _lenient(data[len(mark) :], name, cut)
    if len(_CONTROL.findall(text)) > _CONTROL_SHARE * len(text):
        raise UnreadableFileError("binary", f"control characters in {name}: not a text file")
    if bad > 1 + _BAD_SHARE * len(text):
        raise UnreadableFileError("corrupt", f"{name} with {bad} units that are no characters")
    return Decoded(text, name, f"{name}: {bad} units are no characters, left out" if bad else "")


def _lenient(body: bytes, name: str, cut: bool) -> tuple[str, int]:
    width = 4 if name.startswith("utf-32") else 2
    odd = len(body) % width
    bad = 1 if odd and not cut else 0
    body = body[: len(body) - odd]
    if width == 4:  # noqa: PLR2004 - bytes of a character
        text = body.decode(name, "ignore")
        bad += len(body) // width - len(text)
    else:
        text = body.decode(name, "surrogatepass")
        if cut and text and "\ud800" <= text[-1] <= "\udbff":
            text = text[:-1]
    text = text.removesuffix("\0")  # the end of a string, written with it
    kept = _NO_CHARACTER.sub("", text)
    return kept, bad + len(text) - len(kept)


def guess_wide(data: bytes, cut: bool) -> Decoded | None:
    """Text in UTF-16 or UTF-32 without a mark, None unless it is strict and reads as text."""
    nuls = data.count(0)
    # ASCII with a NUL reads as Chinese at times; Cyrillic in UTF-16 is of such bytes too.
    only_ascii = data.isascii()
    for name in ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"):
        text = strict(data, name, cut)
        if text is None or "\0" in text:
            continue
        if _reads_as_text(text, nuls > 0, only_ascii):
            return Decoded(text, name)
    return None


def _reads_as_text(text: str, has_nuls: bool, only_ascii: bool) -> bool:
    """True for assigned, printable characters in few scripts.

    NULs are the high bytes of ASCII characters; without one, only Chinese is believed, by the
    frequency of its characters.
    """
    middle = len(text) // 2
    sample = text if len(text) <= 2 * _SAMPLE else text[:_SAMPLE] + text[middle:][:_SAMPLE]
    scripts = Counter[str]()
    for char, count in Counter(sample).items():
        scripts[_script(char)] += count
    total = len(sample)
    if not total or scripts["bad"] > _BAD_SHARE * total:
        return False
    east = scripts["han"] + scripts["kana"]
    letters = {k: n for k, n in scripts.items() if k not in {"ascii", "sign", "bad", "han", "kana"}}
    largest = max([east, *letters.values()])
    signs = min(scripts["sign"], _MOST_SIGNS * total)
    if scripts["ascii"] + signs + largest < _FEW_SCRIPTS * total:
        return False
    if has_nuls and scripts["ascii"] >= _MOSTLY_ASCII * total:
        return True
    if largest == east:
        if only_ascii:
            return False
        kana = has_nuls and scripts["kana"] > _KANA * east
        return kana or evidence(sample).plausible
    return has_nuls


def _script(char: str) -> str:
    if char in "\t\n\r\f\x1b\ufeff":
        return "ascii"
    if unicodedata.category(char) in {"Cc", "Cn", "Co", "Cs"}:
        return "bad"
    return _SCRIPTS[bisect_right(_STARTS, ord(char)) - 1][1] or "bad"
