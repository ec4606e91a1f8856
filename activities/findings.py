"""`gather`: what the records of a run come to, and which findings may answer which topic."""

from temporalio import activity

from activities.store.base import EvidenceLostError
from activities.store.guard import check_store, evidence_lost
from activities.store.records import Records
from workflows.contracts import names
from workflows.contracts.evidence import Entry
from workflows.contracts.plan_acts import GatherInput, GatherResult
from workflows.contracts.step_record import Finding, Findings, StepRecord
from workflows.logic.findings import candidates_of, groups_to_compare, numbered_findings
from workflows.logic.topics import declares


class FindingsActivities:
    """Findings of runs."""

    def __init__(self, records: Records) -> None:
        self._records = records

    @activity.defn(name=names.GATHER)
    async def gather(self, inp: GatherInput) -> GatherResult:
        """The findings, kept in the store; a record that is lost is left out.

        Raises:
            ApplicationError: `WrongStore` (retryable), `EvidenceLost` (the task is gone).
        """
        check_store(self._records, inp.store_id)
        with evidence_lost():
            task = await self._records.task(inp.run_id, inp.task_ref)
        records: list[tuple[str, StepRecord]] = []
        declaring: dict[int, list[int]] = {}
        seen: list[Entry] = []
        for step in inp.records:
            try:
                records.append((step.step, await self._records.record(inp.run_id, step.ref)))
                entries = await self._records.step_entries(
                    inp.run_id, step.page_ref, step.page_numbers
                )
            except EvidenceLostError as error:
                activity.logger.warning("a record is lost: %s", error)
                continue
            seen += entries
            for entry in entries:
                declaring[entry.number] = [
                    index
                    for index, topic in enumerate(task.topics)
                    if declares(entry.topics, topic)
                ]
        findings = numbered_findings(records)
        topics = [
            candidates_of(index, topic, findings, declaring, lambda f, i: _share(f, i, seen))
            for index, topic in enumerate(task.topics)
        ]
        return GatherResult(
            findings_ref=await self._records.put(inp.run_id, Findings(findings=findings)),
            findings=len(findings),
            topics=topics,
            groups=groups_to_compare(topics, findings),
        )


def _share(finding: Finding, topic: int, entries: list[Entry]) -> float:
    """What the passages that a finding cites hold of a topic, at most; 1 where none was ranked."""
    cited = [
        entry
        for entry in entries
        for quote in finding.claim.quotes
        if entry.number == quote.evidence and entry.start < quote.end and quote.start < entry.end
    ]
    ranked = [entry for entry in cited if entry.covers]
    # What a tool gave, or what was read on in a source, was not weighed by the search.
    return max((e.covers.get(str(topic), 0.0) for e in ranked), default=1.0)
