"""Chunks: passages of about 800 to 1,200 characters, each an exact range of the text.

A chunk stays inside one section; it ends at a paragraph, else at a line (one that ends a sentence
before any other), a sentence, a blank. A heading goes with what follows it. Nothing overlaps,
nothing but white space is left out.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from activities.ingest.document import Chunk, Extracted, Heading

TARGET: Final = 800
LONGEST: Final = 1200
SHORTEST: Final = 200

_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")
_CUTS = (
    re.compile(r"[.!?][\"')\]]*[ \t]*\n|[。！？；][”」』）]*\s*\n"),
    re.compile(r"\n"),
    re.compile(r"[.!?;]\s|[。！？；]"),
    re.compile(r"\s|[，、,]"),
)


def chunks(document: Extracted) -> list[Chunk]:
    """Cut a document; [] only if its text is blank."""
    found: list[Chunk] = []
    for start, end, path in _sections(document.text, document.headings):
        for first, last in _ranges(document.text, start, end):
            found.append(Chunk(first, last, path, _link_share(document.links, first, last)))
    return found


def _sections(text: str, headings: list[Heading]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Ranges between headings with their heading paths; bare headings go with the next one."""
    stack: list[Heading] = []
    start = 0
    content = 0
    for heading in headings:
        if text[content : heading.start].strip():
            yield start, heading.start, tuple(h.title for h in stack)
            start = heading.start
        stack = [h for h in stack if h.level < heading.level]
        stack.append(heading)
        content = _heading_end(text, heading)
    yield start, len(text), tuple(h.title for h in stack)


def _heading_end(text: str, heading: Heading) -> int:
    end = text.find("\n", heading.start)
    return len(text) if end < 0 else end


def _ranges(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Trimmed ranges of one section."""
    out: list[tuple[int, int]] = []
    for first, last in _pieces(text, start, end):
        if not out:
            out.append((first, last))
            continue
        size = out[-1][1] - out[-1][0]
        whole = last - out[-1][0]
        tail = last - first < SHORTEST and whole <= LONGEST + SHORTEST
        if (size < TARGET and whole <= LONGEST) or tail:
            out[-1] = (out[-1][0], last)
        else:
            out.append((first, last))
    return out


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Paragraphs, the long ones cut; each trimmed and not empty."""
    place = start
    for match in _PARAGRAPH_END.finditer(text, start, end):
        yield from _cut(text, place, match.start())
        place = match.end()
    yield from _cut(text, place, end)


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > LONGEST:
        stop = _cut_place(text, start)
        yield from _trimmed(text, start, stop)
        start = stop
    yield from _trimmed(text, start, end)


def _cut_place(text: str, start: int) -> int:
    """Where to end a piece that is too long: after the last good place before the limit."""
    for cut in _CUTS:
        places = [m.end() for m in cut.finditer(text, start + LONGEST // 2, start + LONGEST)]
        if places:
            return places[-1]
    return start + LONGEST


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        first = start + len(piece) - len(piece.lstrip())
        yield first, first + len(stripped)


def _link_share(links: list[tuple[int, int]], start: int, end: int) -> float:
    held = 0
    first = max(0, bisect_right(links, (start, -1)) - 1)
    for begin, stop in links[first:]:
        if begin >= end:
            break
        held += max(0, min(stop, end) - max(begin, start))
    return round(held / (end - start), 3)
