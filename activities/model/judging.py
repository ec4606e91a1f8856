"""What code makes of a judge's words: counter-quotes found, numbers known, limitations stated."""

import json
from collections.abc import Sequence
from typing import Final

from activities.model.evidence_view import fenced
from activities.model.sources import StepSources
from workflows.contracts.base import JsonObject
from workflows.contracts.claim import ClaimCounts, ClaimOutcome
from workflows.contracts.evidence import Entry
from workflows.contracts.plan_acts import GoalInput
from workflows.contracts.step_decision import Support
from workflows.contracts.step_record import CheckedClaim, Finding, StepRecord
from workflows.contracts.task import ResolvedTask
from workflows.logic.citations import citations
from workflows.logic.quantities import missing_quantities
from workflows.logic.quotes import find_quote

_OTHER_PASSAGES: Final = 2
_REASON: Final = 200


def support_message(
    task: ResolvedTask, claim: CheckedClaim, entries: Sequence[Entry], topics: Sequence[int]
) -> str:
    """The claim and its passages, and nothing of how it was written."""
    passages = [
        {
            "evidence_id": f"E{quote.evidence}",
            "passage": fenced(context),
            "quote": fenced(quote.text),
        }
        for quote, context in zip(claim.quotes, claim.context, strict=False)
    ]
    message: JsonObject = {"claim": claim.text, "passages": passages}
    lacking = missing_quantities(claim.text, claim.context)
    if lacking and claim.kind != "derived":
        message["quantities_not_in_passages"] = lacking[:10]
    if claim.method:
        message["computed_by_program"] = claim.method
    others = _uncited(claim, entries, topics) if claim.proposed else []
    if others:
        message["other_passages"] = [
            {"evidence_id": f"E{entry.number}", "passage": fenced(entry.excerpt)}
            for entry in others
        ]
    del task
    return json.dumps(message, ensure_ascii=False)


def _uncited(claim: CheckedClaim, entries: Sequence[Entry], topics: Sequence[int]) -> list[Entry]:
    """The best passages of the step's ledger that the claim does not cite."""

    def cited(entry: Entry) -> bool:
        return any(
            quote.evidence == entry.number and quote.start < entry.end and entry.start < quote.end
            for quote in claim.quotes
        )

    def worth(entry: Entry) -> tuple[float, float, int]:
        cover = max((entry.covers.get(str(index), 0.0) for index in topics), default=0.0)
        return (-cover, -entry.score, entry.number)

    others = [entry for entry in entries if entry.kind == "passage" and not cited(entry)]
    return sorted(others, key=worth)[:_OTHER_PASSAGES]


async def weighed(said: Support, sources: StepSources) -> tuple[ClaimOutcome, str, str]:
    """Outcome, limitation and reason, after what code can check of them.

    Contradicted needs a quote that stands in a source of the step; qualified a limitation.

    Raises:
        EvidenceLostError: a text is lost.
    """
    problem = " ".join(said.problem.split())[:_REASON]
    if said.verdict == "contradicted":
        numbers = citations(f"[{said.counter_evidence_id}]")
        text = await sources.text(numbers[0]) if len(numbers) == 1 else None
        if text is not None and find_quote(text, said.counter_quote) is not None:
            return "contradicted", "", problem or "a source states the opposite"
        return "insufficient", "", "called contradicted without a quote that stands in a source"
    if said.verdict == "qualified":
        limitation = " ".join(said.limitation.split())
        if limitation:
            return "qualified", limitation, ""
        return "insufficient", "", "called qualified without a limitation"
    return said.verdict, "", "" if said.verdict == "supported" else problem or "not supported"


def verbatim(claim: CheckedClaim) -> tuple[ClaimOutcome, str, str]:
    """Without a judge only a claim that is its own quote stands."""
    said = any(claim.text == quote.text for quote in claim.quotes)
    return ("supported", "", "") if said else ("insufficient", "", "nothing judged it")


def with_outcomes(record: StepRecord, inp: GoalInput) -> StepRecord:
    """The record with what the support calls said."""
    if not inp.outcomes:
        return record
    claims = [
        claim.model_copy(
            update={
                "outcome": outcome,
                "limitation": _at(inp.limitations, index),
                "note": claim.note or _at(inp.reasons, index),
            }
        )
        for index, (claim, outcome) in enumerate(zip(record.claims, inp.outcomes, strict=True))
    ]
    return record.model_copy(update={"claims": claims, "goal": inp.goal, "accept": inp.accept})


def _at(values: Sequence[str], index: int) -> str:
    return values[index] if index < len(values) else ""


def counts_of(record: StepRecord) -> ClaimCounts:
    """How many claims of a record ended in each way; an inference is insufficient as a finding."""
    counted = [
        claim.outcome if claim.kind in ("fact", "derived") else "insufficient"
        for claim in record.claims
    ]
    return ClaimCounts(
        supported=counted.count("supported"),
        qualified=counted.count("qualified"),
        contradicted=counted.count("contradicted"),
        insufficient=counted.count("insufficient"),
        unverified=counted.count("unverified"),
    )


def output_of(claims: Sequence[CheckedClaim]) -> str:
    """The text a goal call judges: what is left, with marks and limitations."""
    lines: list[str] = []
    for claim in claims:
        marks = "".join(f"[E{number}]" for number in claim.numbers)
        limited = f" ({claim.limitation})" if claim.limitation else ""
        lines.append(f"{claim.text}{limited} {marks}")
    return "\n".join(lines)


def finding_view(finding: Finding, dates: bool = False) -> JsonObject:
    """A finding as the topic and conflict calls see it: number, text, quotes; no tags."""
    quotes = [fenced(quote.text) for quote in finding.claim.quotes]
    view: JsonObject = {
        "number": finding.number,
        "text": finding.claim.text,
        "limitation": finding.claim.limitation,
        "quotes": quotes,
    }
    if dates:
        view["contexts"] = [fenced(context[:200]) for context in finding.claim.context]
    return view
