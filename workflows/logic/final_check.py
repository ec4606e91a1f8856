"""The final check: over the finished text, by code, and it can only lower the status (99, 122).

What it looks for should never be there; it is looked for because a report is read on its own.
"""

import re
from typing import Final

from workflows.contracts.claim import Quote
from workflows.contracts.result import Status
from workflows.logic.citations import citations
from workflows.logic.report_sources import Closing, Composed

_LINK: Final = re.compile(r"\]\((https?://[^)\s]+)\)|<(https?://[^>\s]+)>")


def final_check(closing: Closing, composed: Composed) -> list[str]:
    """What is wrong with a finished report, as sentences; [] if nothing is.

    Args:
        closing: findings and stored texts it was made from.
        composed: the report and what it cites.
    """
    known = {source.number: source for source in composed.sources}
    problems = [
        f"[E{number}] is not in the evidence"
        for number in citations(composed.report)
        if number not in known
    ]
    origins = {source.origin for source in composed.sources}
    for match in _LINK.finditer(composed.report):
        link = match[1] or match[2]
        if link not in origins:
            problems.append(f"a link is not in the evidence: {link[:100]}")
    problems += _findings(closing, {n for n, source in known.items() if source.empty})
    return problems[:20]


def _findings(closing: Closing, empty: set[int]) -> list[str]:
    shas = {entry.number: entry.sha256 for entry in closing.entries}
    problems: list[str] = []
    for finding in closing.findings:
        claim = finding.claim
        if not claim.stands or not claim.quotes:
            problems.append(f"finding {finding.number} is not supported")
        if empty & set(claim.numbers):
            problems.append(f"finding {finding.number} cites an empty result")
        problems += [
            f"finding {finding.number}: a quote is not in the stored text of E{quote.evidence}"
            for quote in claim.quotes
            if not _stands(quote, closing.texts.get(shas.get(quote.evidence, "")))
        ]
    return problems


def _stands(quote: Quote, text: str | None) -> bool:
    """Whether a quote is the slice of its text; a text that is not at hand cannot be checked."""
    return text is None or text[quote.start : quote.end] == quote.text


def lowered(status: Status, problems: list[str]) -> Status:
    """The status after the check: never better than before."""
    return "partially_succeeded" if problems and status == "succeeded" else status
