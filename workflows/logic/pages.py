"""Index pages of the evidence store: how entries get their numbers and how pages grow.

A search writes the next page from the one it is handed; the workflow, which alone gives evidence
numbers, tells the number of the first new source with the next call (DESIGN, "State and history").
So the same input always makes the same page, and a retry writes the same object.
"""

from collections.abc import Sequence

from workflows.contracts.base import Ref
from workflows.contracts.evidence import PAGE_ENTRIES, Entry, Page


def numbered(page: Page, first: int = 0, numbers: Sequence[int] = ()) -> Page:
    """Give entries without a number their number.

    Args:
        page: the newest page of a chain.
        first: the number of the first source that is new on it; the others follow.
        numbers: where steps search side by side, the number of each new source instead: a source
            that another step found has its number already. A number below 1 leaves its entries
            out (another version of the source is in the ledger).
    """
    if all(entry.number for entry in page.entries):
        return page
    entries = [
        entry if entry.number else entry.model_copy(update={"number": number})
        for entry in page.entries
        if (number := entry.number or _number(entry, first, numbers)) > 0
    ]
    return page.model_copy(update={"entries": entries})


def _number(entry: Entry, first: int, numbers: Sequence[int]) -> int:
    if numbers:
        return numbers[entry.fresh] if entry.fresh < len(numbers) else 0
    return first + entry.fresh


def appended(page: Page, page_ref: Ref | None, entries: list[Entry]) -> Page:
    """The next page: `page` (already `numbered`) with more entries, or a new one linked to it.

    `page_ref` must name the stored object that holds exactly `page`; a full page is linked, not
    rewritten, so its numbers must have been confirmed before it was stored.
    """
    if len(page.entries) + len(entries) <= PAGE_ENTRIES:
        return page.model_copy(update={"entries": [*page.entries, *entries]})
    return Page(entries=entries, previous=page_ref, count=page.count + len(page.entries))


def new_sources(entries: list[Entry]) -> int:
    """How many evidence numbers the entries without a number take."""
    return len({entry.fresh for entry in entries if not entry.number})
