"""Index pages of the evidence store: how entries get their numbers and how pages grow.

A search writes the next page from the one it is handed; the workflow, which alone gives evidence
numbers, tells the number of the first new source with the next call (DESIGN, "State and history").
So the same input always makes the same page, and a retry writes the same object.
"""

from workflows.contracts.base import Ref
from workflows.contracts.evidence import PAGE_ENTRIES, Entry, Page


def numbered(page: Page, first: int) -> Page:
    """Give entries without a number the number `first` plus their ordinal."""
    if all(entry.number for entry in page.entries):
        return page
    entries = [
        entry if entry.number else entry.model_copy(update={"number": first + entry.fresh})
        for entry in page.entries
    ]
    return page.model_copy(update={"entries": entries})


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
