"""The `close` activity: gathers the evidence, composes the report, keeps both; calls no model.

It works from recorded state, also after errors (REQUIREMENTS 204). Lost evidence makes a report
that says so, never an exception; a disk that fails is tried again a few times, then the result
comes without what could not be read or kept.
"""

import asyncio
from dataclasses import replace

from temporalio import activity

from activities.store.base import EvidenceLostError
from activities.store.guard import check_store
from activities.store.records import Records
from workflows.contracts import names
from workflows.contracts.acts import CloseInput, DraftResult
from workflows.contracts.evidence import Entry
from workflows.contracts.requests import SHOWN_CHARACTERS
from workflows.contracts.result import RunResult
from workflows.contracts.step_record import Findings
from workflows.logic.edited_report import edited_report, unverified_in
from workflows.logic.final_check import final_check, lowered
from workflows.logic.headings import words_for
from workflows.logic.report import compose
from workflows.logic.report_sources import Closing, Composed
from workflows.logic.result import bare_closing, build_result
from workflows.logic.topics import covers_topic

_DISK_ATTEMPTS = 3
_PASSAGES_PER_TOPIC = 60  # whose texts are read: more than a report's quotes are picked from

Problems = list[tuple[str, dict[str, object]]]


class CloseActivities:
    """Composes and keeps reports."""

    def __init__(self, records: Records) -> None:
        self._records = records

    @activity.defn(name=names.CLOSE)
    async def close(self, inp: CloseInput) -> RunResult:
        """The result of a run; report and result are also kept under the workflow's id.

        Idempotent: the same state gives the same report, and a record is only replaced by itself.

        Raises:
            ApplicationError: `WrongStore`, retryable.
            OSError: the disk failed; on the first attempts only.
        """
        if inp.state.prepared is not None:
            check_store(self._records, inp.state.prepared.store_id)
        closing = await self._gathered(inp)
        composed = await asyncio.to_thread(compose, closing)
        if inp.released or inp.edited:
            composed = await self._as_released(inp, closing, composed)
        words = words_for(closing.language)
        if inp.edited and (count := unverified_in(composed.report, inp.editor, words)):
            inp.state.degraded = True  # who reads the status only is to see it too
            note = words("edited_unverified", by=inp.editor, count=count)
            composed = replace(composed, notes=[*composed.notes, note])
        problems = final_check(closing, composed)
        if problems:
            status = lowered(inp.status, problems)
            note = words_for(closing.language)("lowered", problems="; ".join(problems))
            activity.logger.error("final check: %s", note)
            inp = inp.model_copy(update={"status": status})
            if not inp.released and not inp.edited:
                composed = await asyncio.to_thread(compose, replace(closing, status=status))
            composed = replace(composed, notes=[*composed.notes, note[:1000]])
        try:
            result = await self._kept(inp, composed)
        except OSError as error:
            if activity.info().attempt < _DISK_ATTEMPTS:
                raise
            activity.logger.warning("the report could not be kept: %s", error)
            reason = error.strerror or type(error).__name__
            note = words_for(closing.language)("not_stored", reason=reason)
            result = build_result(inp, composed)
            result = result.model_copy(update={"notes": [*result.notes, note]})
        return result

    @activity.defn(name=names.DRAFT)
    async def draft(self, inp: CloseInput) -> DraftResult:
        """Compose the report for a person to release; nothing is delivered yet.

        Raises:
            ApplicationError: `WrongStore`, retryable.
            OSError: the disk failed.
        """
        if inp.state.prepared is not None:
            check_store(self._records, inp.state.prepared.store_id)
        closing = await self._gathered(inp)
        composed = await asyncio.to_thread(compose, closing)
        status = lowered(inp.status, final_check(closing, composed))
        if status != inp.status:
            composed = await asyncio.to_thread(compose, replace(closing, status=status))
        data = composed.report.encode("utf-8", "replace")
        return DraftResult(
            report_ref=await self._records.store.put(inp.run_id, data),
            opening=composed.report[:SHOWN_CHARACTERS],
            bytes=len(data),
            status=status,
        )

    async def _as_released(self, inp: CloseInput, closing: Closing, composed: Composed) -> Composed:
        """The text that a person released, as it stands; edited text with its marks.

        Raises:
            EvidenceLostError: the released text is not in the store any more.
        """
        if inp.released:
            data = await self._records.store.get(inp.run_id, inp.released)
            return replace(composed, report=data.decode("utf-8", "replace"))
        original = composed
        if inp.original:  # composed anew it has other times than what the person had before them
            data = await self._records.store.get(inp.run_id, inp.original)
            original = replace(composed, report=data.decode("utf-8", "replace"))
        report = await asyncio.to_thread(
            edited_report, closing, original, edited=inp.edited, editor=inp.editor
        )
        return replace(composed, report=report)

    async def _kept(self, inp: CloseInput, composed: Composed) -> RunResult:
        store = self._records.store
        report = composed.report.encode("utf-8", "replace")
        result = build_result(inp, composed, await store.put(inp.run_id, report))
        await store.put_record("report", inp.workflow_id, report)
        await store.put_record("result", inp.workflow_id, result.model_dump_json().encode())
        return result

    async def _gathered(self, inp: CloseInput) -> Closing:
        """State, entries of the index pages, texts of what may be quoted, and what is lost."""
        state = inp.state
        if state.dag.plan is not None:
            return await self._gathered_plan(inp)
        if state.prepared is None or not state.page_ref:
            return bare_closing(inp)
        try:
            entries = await self._records.entries(inp.run_id, state.page_ref, state.page_first)
        except (EvidenceLostError, OSError) as error:
            self._retry_disk(error)
            return bare_closing(inp)
        texts, lost = await self._texts(inp.run_id, _to_quote(inp, entries))
        problems: Problems = [("texts_lost", {"count": lost})] if lost else []
        return Closing(
            state=state,
            status=inp.status,
            closed_at=inp.closed_at,
            entries=entries,
            texts=texts,
            problems=problems,
        )

    async def _gathered_plan(self, inp: CloseInput) -> Closing:
        """The same for a plan: entries of every step's pages, and the verified findings."""
        dag = inp.state.dag
        problems: Problems = []
        pages = [(step.page_ref, step.page_numbers) for step in dag.steps.values() if step.page_ref]
        pages = [*((page.ref, page.numbers) for page in dag.old_pages), *pages]
        entries: list[Entry] = []
        for ref, numbers in pages:
            try:
                entries += await self._records.step_entries(inp.run_id, ref, numbers)
            except (EvidenceLostError, OSError) as error:
                self._retry_disk(error)
                problems = [("pages_lost", {})]
        findings = Findings()
        if dag.findings_ref:
            try:
                findings = await self._records.findings(inp.run_id, dag.findings_ref)
            except (EvidenceLostError, OSError) as error:
                self._retry_disk(error)
                problems = [("pages_lost", {})]
        cited = {quote.evidence for f in findings.findings for quote in f.claim.quotes}
        hashes = list(dict.fromkeys(e.sha256 for e in entries if e.number in cited))
        texts, lost = await self._texts(inp.run_id, hashes)
        if lost:
            problems.append(("texts_lost", {"count": lost}))
        return Closing(
            state=inp.state,
            status=inp.status,
            closed_at=inp.closed_at,
            entries=entries,
            texts=texts,
            problems=problems,
            findings=findings.findings,
        )

    async def _texts(self, run_id: str, hashes: list[str]) -> tuple[dict[str, str], int]:
        """Texts by hash, and how many could not be read."""
        texts: dict[str, str] = {}
        for sha256 in hashes:
            try:
                texts[sha256] = await self._records.text(run_id, sha256)
            except (EvidenceLostError, OSError) as error:
                self._retry_disk(error)
        return texts, len(hashes) - len(texts)

    def _retry_disk(self, error: Exception) -> None:
        """Let Temporal try again while the disk may recover; lost evidence stays lost."""
        activity.logger.warning("evidence could not be read: %s", error)
        if isinstance(error, OSError) and activity.info().attempt < _DISK_ATTEMPTS:
            raise error


def _to_quote(inp: CloseInput, entries: list[Entry]) -> list[str]:
    """Hashes of the texts that quotes of the covered topics may come from, each once."""
    if inp.state.prepared is None:
        return []
    task = inp.state.prepared.task
    threshold = task.settings.topic_cover
    found: dict[str, None] = {}
    for index, topic in enumerate(task.topics):
        if str(index) not in inp.state.covered:
            continue
        usable = [e for e in entries if covers_topic(e, topic, index, threshold)]
        usable.sort(key=lambda e, i=str(index): (-e.covers.get(i, 1.0), -e.score, e.number))
        found |= dict.fromkeys(e.sha256 for e in usable[:_PASSAGES_PER_TOPIC])
    return list(found)
