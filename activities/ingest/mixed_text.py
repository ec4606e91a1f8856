"""Text whose lines are in different encodings, and text with a few bytes that are none.

A log is often written by several programs: UTF-8 with lines of GB18030. Every line is read by
itself; what fits no encoding is left out and named, never guessed at.
"""

import re
from dataclasses import dataclass, field

from activities.ingest.charsets import Decoded, strict
from activities.ingest.chinese import READERS, Guess, clear_winner, evidence
from activities.ingest.document import spans

_LONG_LINE = 2000
_LEFT_OUT_SHARE = 0.05
_LEFT_OUT_BYTES = 50
_MOST_LEFT_OUT = 0.25
_LEAST_MEAN = -1.6  # of a line among plausible ones: rare characters only
_RANGES_SHOWN = 10
_SAMPLE_LINES = 2000
_ASCII = bytes(range(0x80))
_THREE_RAW = re.compile(rb"[\xe0-\xef][\x80-\xbf]{2}")
_THREE_BYTES = re.compile("[\u0800-\ud7ff\ue000-\uffff]")


@dataclass
class _Lines:
    raw: list[bytes]
    texts: dict[int, str] = field(default_factory=dict[int, str])
    utf8: list[int] = field(default_factory=list[int])  # lines of UTF-8 beyond ASCII
    damaged: list[int] = field(default_factory=list[int])  # UTF-8 but for some bytes
    foreign: list[int] = field(default_factory=list[int])
    notes: list[str] = field(default_factory=list[str])

    def undecided(self) -> list[int]:
        """Numbers of the lines that no encoding is known of."""
        return [n for n in sorted(self.damaged + self.foreign) if n not in self.texts]


def has_utf8_lines(data: bytes, encoding: str) -> bool:
    """True if some lines are UTF-8 rather than this Chinese encoding, in which all decodes.

    The bytes of UTF-8 text often decode as GB18030, to wrong characters.
    """
    return any(
        _reads_better_as_utf8(line, encoding)
        for line in data.splitlines()
        if not line.isascii() and strict(line, "utf-8") is not None
    )


def _reads_better_as_utf8(line: bytes, encoding: str) -> bool:
    text = strict(line, "utf-8") or ""
    other = READERS[encoding](line, False)
    if other is None:
        return True
    if not _THREE_BYTES.search(text):
        return False  # two bytes of Greek or Arabic are as well one Chinese character
    return evidence(text).mean > evidence(other, encoding).mean


def read_lines(data: bytes, cut: bool) -> Decoded | None:
    """Read line by line; None where too much of it fits no encoding."""
    lines = _Lines(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"))
    if cut:
        lines.raw[-1] = _without_cut_character(lines.raw[-1])
    _sort(lines)
    encoding = _read_foreign(lines)
    _drop_bytes(lines)
    missing = lines.undecided()
    if missing and not _few(lines, missing):
        return None
    if missing:
        lines.notes.append(f"lines left out, their encoding is unknown: {_ranges(missing)}")
    left_out = set(missing)
    text = "\n".join(lines.texts[n] for n in range(len(lines.raw)) if n not in left_out)
    return Decoded(text, encoding, "; ".join(lines.notes))


def _without_cut_character(line: bytes) -> bytes:
    text = strict(line, "utf-8", cut=True)
    return line if text is None else text.encode()


def _sort(lines: _Lines) -> None:
    for number, line in enumerate(lines.raw):
        text = strict(line, "utf-8")
        if text is None:
            (lines.damaged if _is_damaged_utf8(line) else lines.foreign).append(number)
            continue
        lines.texts[number] = text
        if not line.isascii():
            lines.utf8.append(number)


def _is_damaged_utf8(line: bytes) -> bool:
    """True if most characters beyond ASCII are UTF-8 of three bytes, which no other text gives."""
    if not _THREE_RAW.search(line):
        return False
    text = line.decode("utf-8", "ignore")
    return len(_THREE_BYTES.findall(text)) >= 2 * (len(line) - len(text.encode()))


def _guess(lines: _Lines) -> str:
    """The Chinese encoding that is plausible over the lines that are not UTF-8, or ""."""
    step = len(lines.foreign) // _SAMPLE_LINES + 1
    sample = [lines.raw[n] for n in lines.foreign[::step]]
    found: list[Guess] = []
    for encoding, read in READERS.items():
        text = "\n".join(t for line in sample if (t := read(line, False)) is not None)
        found.append(Guess(encoding, text, evidence(text, encoding)))
    best = clear_winner(found, b"\n".join(sample))
    return best.encoding if best else ""


def _read_foreign(lines: _Lines) -> str:
    """Read the lines that are not UTF-8; returns the name for the encoding of the whole."""
    encoding = _guess(lines)
    if not encoding:
        return "utf-8"
    for number in lines.foreign:
        text = READERS[encoding](lines.raw[number], False)
        if text is not None and evidence(text, encoding).mean >= _LEAST_MEAN:
            lines.texts[number] = text
    if len(lines.foreign) > len(lines.utf8):
        _reconsider_utf8(lines, encoding)
    if not lines.utf8 and not lines.damaged:
        return encoding
    name = {"gb18030": "GB18030", "big5": "Big5"}[encoding]
    count = sum(n in lines.texts for n in lines.foreign)
    lines.notes.append(f"{count} of {len(lines.raw)} lines are {name} among UTF-8")
    return "mixed"


def _reconsider_utf8(lines: _Lines, encoding: str) -> None:
    """Among many lines of another encoding, one may be UTF-8 by chance."""
    for number in lines.utf8.copy():
        raw = lines.raw[number]
        text = READERS[encoding](raw, False)
        if text is not None and not _reads_better_as_utf8(raw, encoding):
            lines.utf8.remove(number)
            lines.foreign.append(number)
            lines.texts[number] = text


def _drop_bytes(lines: _Lines) -> None:
    """Of a very long line only the bad bytes are left out, where they are few."""
    dropped, first = 0, ""
    for number in lines.undecided():
        line = lines.raw[number]
        if len(line) <= _LONG_LINE:
            continue
        text = line.decode("utf-8", "ignore")
        kept = text.encode()
        bad = len(line) - len(kept)
        good = len(text) - (len(kept) - len(kept.translate(None, _ASCII)))
        if bad > max(_LEFT_OUT_SHARE * good, len(line) / _LONG_LINE):
            continue
        first = first or f"the first in line {number + 1} at byte {_first_bad(line)}"
        dropped += bad
        lines.texts[number] = text
    if dropped:
        lines.notes.append(f"{dropped} bytes that are not UTF-8 left out, {first}")


def _first_bad(line: bytes) -> int:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return len(line)


def _few(lines: _Lines, missing: list[int]) -> bool:
    size = sum(len(lines.raw[n]) for n in missing)
    filled = sum(bool(line.strip()) for line in lines.raw)
    share = len(missing) / filled
    if share <= _LEFT_OUT_SHARE and size <= _MOST_LEFT_OUT * sum(map(len, lines.raw)):
        return True
    return size <= _LEFT_OUT_BYTES and share <= _MOST_LEFT_OUT


def _ranges(numbers: list[int]) -> str:
    found = spans(number + 1 for number in numbers)
    more = len(found) - _RANGES_SHOWN
    return ", ".join(found[:_RANGES_SHOWN]) + (f" and {more} more places" if more > 0 else "")
