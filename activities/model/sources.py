"""What a step's model call works from: entries of its pages and of the steps before, with texts."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from activities.store.base import EvidenceLostError
from activities.store.records import Records
from workflows.contracts.evidence import Entry
from workflows.contracts.plan_acts import Upstream
from workflows.contracts.step_record import StepRecord


@dataclass
class StepSources:
    """Sources a step may cite: its own, and those of the steps it depends on."""

    run_id: str
    records: Records
    entries: list[Entry]
    upstream: list[StepRecord] = field(default_factory=list[StepRecord])

    def numbers(self) -> set[int]:
        """Evidence numbers of real sources; empty results count for nothing (C49)."""
        own = {entry.number for entry in self.entries if entry.kind == "passage"}
        return own | {n for record in self.upstream for c in record.claims for n in c.numbers}

    def of(self, number: int) -> list[Entry]:
        """Passages of one source that were seen."""
        return [e for e in self.entries if e.number == number and e.kind == "passage"]

    async def text(self, number: int) -> str | None:
        """The whole stored text of a source, None where there is none.

        Raises:
            EvidenceLostError: the object is lost.
        """
        entries = self.of(number)
        return await self.records.text(self.run_id, entries[0].sha256) if entries else None


async def step_sources(
    records: Records,
    run_id: str,
    page_ref: str,
    page_numbers: Sequence[int],
    upstream: Sequence[Upstream],
) -> StepSources:
    """Load them.

    Raises:
        EvidenceLostError: an object is lost.
    """
    entries = await records.step_entries(run_id, page_ref, page_numbers)
    seen = {(e.number, e.start, e.end) for e in entries}
    made: list[StepRecord] = []
    for step in upstream:
        made.append(await records.record(run_id, step.ref))
        for entry in await records.step_entries(run_id, step.page_ref, step.page_numbers):
            if (entry.number, entry.start, entry.end) not in seen:
                seen.add((entry.number, entry.start, entry.end))
                entries = [*entries, entry]
    return StepSources(run_id, records, entries, made)


async def texts_of(sources: StepSources, hashes: Sequence[str]) -> dict[str, str]:
    """Texts by hash; a lost one is left out, what it held cannot be quoted."""
    found: dict[str, str] = {}
    for sha in dict.fromkeys(hashes):
        try:
            found[sha] = await sources.records.text(sources.run_id, sha)
        except EvidenceLostError:
            continue
    return found
