"""Sketches of documents: which ones are near-identical copies of each other.

A sketch is the smallest hashes of all shingles (five tokens in a row) of a document. The share of
hashes that two sketches have in common, among the smallest of both together, estimates how much of
their shingles the documents share (bottom-k MinHash).
"""

import heapq
import struct
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Final
from zlib import crc32

SIZE: Final = 48
SHINGLE: Final = 5
# From here two documents are copies: one version and the next, or one page at two places.
ALIKE: Final = 0.8
# A copy shares its smallest hash with probability 0.8, so one of eight almost surely.
KEYS: Final = 8
_LONG = 8
_LATIN = "\u2e7f"
_WINDOW = 20
_WINDOWS = 40
_ROUNDING = 1e-9


class Sketcher:
    """Takes a document's tokens chunk by chunk; keeps only the smallest hashes."""

    def __init__(self) -> None:
        self._smallest: set[int] = set()
        self._limit = 1 << 32

    def take(self, words: Sequence[str]) -> None:
        """Add the shingles of one chunk; a chunk shorter than one shingle is one."""
        limit = self._limit
        found = self._smallest
        found.update([value for value in map(crc32, _shingles(words)) if value < limit])
        if len(found) > SIZE:
            self._smallest = set(sorted(found)[:SIZE])
            self._limit = max(self._smallest)

    def sketch(self) -> list[int]:
        """The smallest hashes, ascending; at most `SIZE`."""
        return sorted(self._smallest)


def _shingles(words: Sequence[str]) -> Iterable[bytes]:
    """Five tokens in a row, in one row of bytes."""
    if not words:
        return ()
    last = max(1, len(words) - SHINGLE + 1)
    text = " ".join(words)
    # Shingles that begin with a long word, or in Chinese, say as much as all of them.
    if text.isascii():
        anchors = [i for i, length in enumerate(map(len, words[:last])) if length >= _LONG]
        return [" ".join(words[i : i + SHINGLE]).encode() for i in anchors or range(last)]
    chosen = [word > _LATIN or len(word) >= _LONG for word in words[:last]]
    encoded = text.encode().split(b" ")
    rows = zip(*(encoded[i:] for i in range(min(SHINGLE, len(encoded)))), strict=False)
    return map(b" ".join, compress(rows, chosen) if any(chosen) else rows)


def likeness(one: Sequence[int], other: Sequence[int]) -> float:
    """Share (0..1) of shingles in common, estimated; both sketches ascending."""
    union = heapq.nsmallest(SIZE, set(one) | set(other))
    return len(set(union) & set(one) & set(other)) / len(union) if union else 0.0


def alike(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two sketches are those of copies."""
    common = len(set(one).intersection(other))
    # As much as the likeness can be; by it most of the pages that share a menu are told apart.
    if common < ALIKE * min(SIZE, max(len(one), len(other))) - _ROUNDING:
        return False
    return likeness(one, other) >= ALIKE


def pack(sketch: Iterable[int]) -> bytes:
    """A sketch as bytes."""
    values = list(sketch)
    return struct.pack(f">{len(values)}I", *values)


def unpack(data: bytes) -> tuple[int, ...]:
    """A sketch from its bytes."""
    return struct.unpack(f">{len(data) // 4}I", data)


def folded(text: str) -> str:
    """A passage as it is compared: case and white space do not count."""
    return "".join(text.casefold().split())


def same_words(one: str, other: str) -> bool:
    """Whether one passage says what the other says: most of the smaller one stands in the other.

    Args:
        one: a `folded` passage.
        other: another one.
    """
    smaller, larger = sorted((one, other), key=len)
    last = len(smaller) - _WINDOW
    if last <= 0:
        return bool(smaller) and smaller in larger
    places = range(0, last + 1, max(1, last // _WINDOWS))
    misses = int((1 - ALIKE) * len(places))
    for place in places:
        if smaller[place : place + _WINDOW] not in larger:
            misses -= 1
            if misses < 0:
                return False
    return True
