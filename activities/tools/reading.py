"""`read`, more of a source that a search found, and `look`, what the collections hold."""

from typing import Final

from temporalio import activity

from activities.heartbeat import heartbeats
from activities.search.backend import SearchBackend
from activities.store.guard import check_store, evidence_lost
from activities.store.records import Records
from activities.tools.activities import next_page
from workflows.contracts import names
from workflows.contracts.acts import SearchResult
from workflows.contracts.evidence import EXCERPT_CHARACTERS, SHORT_HASH, Entry, Hit
from workflows.contracts.plan_acts import LookInput, LookResult, ReadInput
from workflows.logic.ledger import add_range
from workflows.logic.quotes import find_quote

_CHARACTERS: Final = 4 * EXCERPT_CHARACTERS
_NOTE: Final = 500


class ReadingActivities:
    """Reads on in sources of a run; looks at the collections."""

    def __init__(self, records: Records, backend: SearchBackend) -> None:
        self._records = records
        self._backend = backend

    @activity.defn(name=names.READ)
    async def read(self, inp: ReadInput) -> SearchResult:
        """Up to 1,600 characters at a locator (words of the text, a heading), else the next ones.

        Raises:
            ApplicationError: `WrongStore` (retryable), `EvidenceLost` (not).
        """
        check_store(self._records, inp.store_id)
        with evidence_lost():
            entries = await self._records.step_entries(inp.run_id, inp.page_ref, inp.page_numbers)
            of_source = [e for e in entries if e.number == inp.number and e.kind == "passage"]
            if not of_source:
                note = f"E{inp.number}: not among the sources of this step"
                return SearchResult(ok=False, error="validation", page_ref=inp.page_ref, note=note)
            text = await self._records.text(inp.run_id, of_source[0].sha256)
        start = _place(text, of_source, inp.locator)
        if start is None:
            note = (
                f"E{inp.number} holds no {inp.locator[:100]!r}, and nothing more was left to read"
            )
            return SearchResult(ok=True, page_ref=inp.page_ref, note=note, hits=[])
        return await self._opened(inp, of_source, text, start)

    async def _opened(
        self, inp: ReadInput, of_source: list[Entry], text: str, start: int
    ) -> SearchResult:
        head = of_source[0]
        end = min(len(text), start + _CHARACTERS)
        at = activity.info().scheduled_time.isoformat(timespec="seconds")
        added = [
            head.model_copy(
                update={
                    "query": f"read E{inp.number}",
                    "start": first,
                    "end": min(end, first + EXCERPT_CHARACTERS),
                    "headings": _headings(of_source, first),
                    "excerpt": text[first : min(end, first + EXCERPT_CHARACTERS)],
                    "score": 0.0,
                    "covers": {},
                    "retrieved_at": at,
                }
            )
            for first in range(start, end, EXCERPT_CHARACTERS)
        ]
        ref = await next_page(self._records, inp, added)
        hit = Hit(
            source_id=head.source_id,
            title=head.title,
            sha=head.sha256[:SHORT_HASH],
            start=start,
            end=end,
            known=inp.number,
        )
        return SearchResult(ok=True, hits=[hit], page_ref=ref, attempt=activity.info().attempt)

    @activity.defn(name=names.LOOK)
    async def look(self, inp: LookInput) -> LookResult:
        """What the run's collections hold of a query's words.

        Raises:
            ApplicationError: `WrongStore`, `EvidenceLost`.
        """
        check_store(self._records, inp.store_id)
        with evidence_lost():
            task = await self._records.task(inp.run_id, inp.task_ref)
        async with heartbeats():
            return LookResult(note=(await self._backend.look(inp.query, task))[:_NOTE])


def _place(text: str, seen: list[Entry], locator: str) -> int | None:
    """Where to read: at the locator, else behind what was seen; None if that is everything."""
    if locator.strip():
        found = find_quote(text, locator)
        place = found[0] if found else text.casefold().find(locator.strip().casefold())
        if place >= 0:
            return max(0, text.rfind("\n", 0, place) + 1)
    ranges: list[list[int]] = []
    for entry in seen:
        add_range(ranges, entry.start, entry.end)
    last = max(ranges, key=lambda each: each[1])[1]
    return last if last < len(text) else (0 if ranges[0][0] > 0 else None)


def _headings(seen: list[Entry], place: int) -> list[str]:
    """Headings of the passage that stands nearest before a place."""
    before = [entry for entry in seen if entry.start <= place]
    return list(max(before, key=lambda entry: entry.start).headings) if before else []
