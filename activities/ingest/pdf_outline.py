"""The outline of a PDF and its pages as headings over the joined text."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from activities.ingest.document import PAGE, Heading
from activities.ingest.pdf_lines import one_line

PAGE_LEVEL: Final = 9  # below every level of an outline
_MOST_ENTRIES: Final = 2_000
_MOST_LEVELS: Final = 6
_MOST_TRIES: Final = 20  # places of a title on a page that are looked at

# Number of a page from 1 to the entries that lead to it: level from 1, title.
Outline = dict[int, list[tuple[int, str]]]


def outline_of(document: Any) -> Outline:
    """Page number to the entries of the outline that lead to it: level from 1, title."""
    found: Outline = {}
    for entry in islice(document.get_toc(max_depth=_MOST_LEVELS), _MOST_ENTRIES):
        try:
            target = entry.get_dest()
            index = target.get_index() if target is not None else None
            title = one_line(entry.get_title())
        except Exception:  # noqa: BLE001 - a damaged entry is none; the others are there
            continue
        if index is not None and title:
            found.setdefault(index + 1, []).append((entry.level + 1, title))
    return found


def joined(pages: dict[int, str], count: int, outline: Outline) -> tuple[str, list[Heading]]:
    """The text of `count` pages, of those that have one, with the places of pages and outline."""
    parts: list[str] = []
    headings: list[Heading] = []
    start = 0
    pending: list[tuple[int, str]] = []
    for number in range(1, count + 1):
        pending += outline.get(number, [])
        text = pages.get(number)
        if text is None:
            continue
        mark = Heading(start, PAGE_LEVEL, f"{PAGE}{number}")
        headings.append(mark)
        for place, level, title in _placed(text, pending):
            headings.append(Heading(start + place, level, title))
            # A heading ends what stands below it, so the page is named again.
            headings.append(Heading(start + place, PAGE_LEVEL, mark.title))
        pending = []
        parts.append(text)
        start += len(text) + 2
    return "\n\n".join(parts), headings


def _placed(text: str, entries: list[tuple[int, str]]) -> Iterator[tuple[int, int, str]]:
    """Entries with their places on a page, in order; at its start where a title is not found."""
    squeezed: list[str] = []
    places: list[int] = []
    ends: set[int] = set()  # of lines, in what is squeezed
    for place, character in enumerate(f"{text}\n"):
        if character == "\n":
            ends.add(len(places))
        elif not character.isspace():
            folded = character.casefold()
            squeezed.append(folded)
            places += [place] * len(folded)
    page = "".join(squeezed)
    after = last = 0
    for level, title in entries:
        found = _found(page, "".join(title.casefold().split()), after, ends)
        if found >= 0:
            after = found + 1
            # The number of a heading stands before its title.
            last = max(last, text.rfind("\n", 0, places[found]) + 1)
        yield last, level, title


def _found(page: str, title: str, after: int, ends: set[int]) -> int:
    """Where a title is: at a line's end if it can be, for running text may name it before."""
    matches = re.compile(re.escape(title)).finditer(page, after)
    starts = [match.start() for match in islice(matches, _MOST_TRIES)]
    return next(iter([s for s in starts if s + len(title) in ends] or starts), -1)
