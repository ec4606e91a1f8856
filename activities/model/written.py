"""From a written result to a record: the layers of verification that need no model.

Marker, structure, citations, quotes (DESIGN, "Verification"): a quote is looked for in the whole
stored text of the source it names, never in a chunk and never elsewhere. What does not hold is
insufficient, with a note; the rest goes on to the judge.
"""

from dataclasses import dataclass
from typing import Final

from activities.model.sources import StepSources
from workflows.contracts.claim import ClaimOutcome, Quote
from workflows.contracts.evidence import Entry
from workflows.contracts.plan import Step
from workflows.contracts.plan_acts import PROBLEM_CHARACTERS, PROBLEMS_KEPT
from workflows.contracts.step_decision import WrittenClaim, WrittenQuote, WrittenResult
from workflows.contracts.step_record import CheckedClaim, StepRecord
from workflows.contracts.verdict import Verdict
from workflows.logic import layers
from workflows.logic.absence import written_by_model
from workflows.logic.citations import citations, without_marks
from workflows.logic.derived import DerivedError, derived_from
from workflows.logic.quotes import find_quote
from workflows.logic.sentences import sentences_within

_CONTEXT: Final = 600
_ABSENCE: Final = "absence is written by code only"
_AROUND: Final = 250
_LONGEST_QUOTE: Final = 700
_NOTE: Final = 200


@dataclass(frozen=True)
class Checked:
    """The record of a written result, and the first cheap layer that failed, if one did."""

    record: StepRecord
    verdict: Verdict | None
    outcomes: list[ClaimOutcome]
    problems: list[str]


async def check_written(
    written: WrittenResult, step: Step, attempt: int, sources: StepSources
) -> Checked:
    """Check a result.

    Raises:
        EvidenceLostError: a cited text is lost.
    """
    why = _gives_up(written)
    empty = StepRecord(step=step.id, goal=step.goal, accept=step.accept, attempt=attempt)
    if why is not None:
        record = empty.model_copy(update={"insufficient": why or layers.INSUFFICIENT})
        return Checked(record, None, [], [])
    claims = [await _checked(claim, sources) for claim in written.claims if claim.text.strip()]
    record = empty.model_copy(update={"claims": claims})
    problems = [f"{c.text[:60]!r}: {c.note}"[:PROBLEM_CHARACTERS] for c in claims if c.note]
    return Checked(
        record,
        _verdict(record, problems),
        [claim.outcome for claim in claims],
        problems[:PROBLEMS_KEPT],
    )


def text_of(claims: list[CheckedClaim]) -> str:
    """The text of claims with their marks, one a line."""
    return "\n".join(
        f"{claim.text} {''.join(f'[E{number}]' for number in claim.numbers)}".strip()
        for claim in claims
    )


def _gives_up(written: WrittenResult) -> str | None:
    """Why there is not enough, "" without a reason; None if claims were written (C6)."""
    if written.insufficient.strip():
        return layers.insufficient(written.insufficient) or written.insufficient.strip()
    for claim in written.claims:
        why = layers.insufficient(claim.text)
        if why is not None:
            return why
    return None


def _verdict(record: StepRecord, problems: list[str]) -> Verdict | None:
    """Structure over the whole text; evidence where not a single claim is left."""
    failed = layers.structure(text_of(record.claims))
    if failed is not None:
        return failed
    if any(claim.outcome in ("unverified", "supported") for claim in record.claims):
        return None
    reason = "no claim has a source that holds: " + "; ".join(problems)
    return Verdict(
        passed=False,
        score=layers.EVIDENCE_SCORE,
        layer="evidence",
        reason=reason[:300],
        scope="local",
    )


async def _checked(claim: WrittenClaim, sources: StepSources) -> CheckedClaim:
    """One claim: its marks and the ids of its quotes, its quotes, its kind."""
    asked = [number for quote in claim.quotes for number in citations(f"[{quote.evidence_id}]")]
    numbers = list(dict.fromkeys([*citations(claim.text), *asked]))
    bare = CheckedClaim(
        text=without_marks(claim.text),
        kind=claim.kind,
        numbers=numbers,
        proposed=list(dict.fromkeys(claim.topics)),
    )
    refusal = _refusal(claim, numbers, sources)
    if refusal:
        return _refused(bare, refusal)
    found, lost = await _quotes(claim.quotes, sources)
    if not found:
        return _refused(bare, f"no quote stands in its source: {lost[0]}")
    quotes = [quote for quote, _ in found]
    held = bare.model_copy(
        update={
            # A mark without a quote behind it carries nothing.
            "numbers": [n for n in numbers if any(q.evidence == n for q in quotes)],
            "quotes": quotes,
            "context": [context for _, context in found],
            "note": f"left out, not in the source: {lost[0]}"[:_NOTE] if lost else "",
        }
    )
    if written_by_model(bare.text, (quote.text for quote in quotes)):
        return _refused(held, _ABSENCE)
    if claim.kind == "inference":
        return _refused(held, "an inference is no finding")
    if claim.kind == "derived":
        return _derived(held, claim.expression)
    return held


def _refusal(claim: WrittenClaim, numbers: list[int], sources: StepSources) -> str:
    """Why a claim is refused before its quotes are looked at, "" if it is not."""
    unknown = [f"E{number}" for number in numbers if number not in sources.numbers()]
    if unknown:
        return f"unknown:{','.join(unknown)}"
    if claim.kind == "absence":
        return _ABSENCE
    return "" if claim.quotes else "no quote"


def _refused(claim: CheckedClaim, note: str) -> CheckedClaim:
    return claim.model_copy(update={"outcome": "insufficient", "note": note[:_NOTE]})


def _derived(claim: CheckedClaim, expression: str) -> CheckedClaim:
    try:
        made = derived_from(expression, claim.text, [quote.text for quote in claim.quotes])
    except DerivedError as error:
        return _refused(claim, str(error))
    return claim.model_copy(update={"method": made.method})


async def _quotes(
    written: list[WrittenQuote], sources: StepSources
) -> tuple[list[tuple[Quote, str]], list[str]]:
    """Quotes that were found, each with its context, and those that were not."""
    found: dict[tuple[int, int, int], tuple[Quote, str]] = {}
    lost: list[str] = []
    for each in written:
        numbers = citations(f"[{each.evidence_id}]")
        text = await sources.text(numbers[0]) if len(numbers) == 1 else None
        place = find_quote(text, each.quote) if text is not None else None
        if text is None or place is None:
            lost.append(f"{each.evidence_id[:20]} {each.quote[:80]!r}")
            continue
        start, end = widened(text, *place)
        entries = sources.of(numbers[0])
        headings = _headings(entries, start)
        quote = Quote(
            evidence=numbers[0], text=text[start:end], start=start, end=end, headings=headings
        )
        found.setdefault(
            (quote.evidence, start, end), (quote, context_of(text, start, end, headings, entries))
        )
    return list(found.values()), lost


def widened(text: str, start: int, end: int) -> tuple[int, int]:
    """The whole sentences around a quote, where they are not too long."""
    first, last = _paragraph(text, start, end)
    touched = [s for s in sentences_within(text, first, last) if s.start < end and s.end > start]
    if not touched:
        return start, end
    low, high = min(start, touched[0].start), max(end, touched[-1].end)
    return (low, high) if high - low <= _LONGEST_QUOTE else (start, end)


def context_of(text: str, start: int, end: int, headings: list[str], entries: list[Entry]) -> str:
    """The paragraph around a quote with its heading path and date, as a judge sees it."""
    first, last = _paragraph(text, start, end)
    first, last = max(first, start - _AROUND), min(last, end + _AROUND)
    title = entries[0].title if entries else ""
    date = entries[0].date if entries else ""
    head = " › ".join(filter(None, [title, *headings])) + (f" ({date})" if date else "")
    return f"{head}\n{text[first:last].strip()}"[: _CONTEXT + max(_LONGEST_QUOTE, end - start)]


def _paragraph(text: str, start: int, end: int) -> tuple[int, int]:
    first = text.rfind("\n\n", 0, start) + 2 if "\n\n" in text[:start] else 0
    last = text.find("\n\n", end)
    return first, len(text) if last < 0 else last


def _headings(entries: list[Entry], place: int) -> list[str]:
    """Headings of the passage a place stands in, else of the nearest one before it."""
    inside = [entry for entry in entries if entry.start <= place < entry.end]
    before = inside or [entry for entry in entries if entry.start <= place]
    return list(max(before, key=lambda entry: entry.start).headings) if before else []
