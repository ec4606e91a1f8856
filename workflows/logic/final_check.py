"""The final check: over the finished text, by code, and it can only lower the status (99, 122).

What it looks for should never be there; it is looked for because a report is read on its own.
"""

import re
from collections.abc import Iterator
from typing import Final

from workflows.contracts.claim import Quote
from workflows.contracts.result import Status
from workflows.logic.citations import citations
from workflows.logic.report_sources import Closing, Composed
from workflows.logic.safe_markdown import trimmed_link

# What is shown as it stands: code on one line, and what a backslash escapes.
_LITERAL: Final = re.compile(
    r"\\[!-/:-@\[-`{-~]|(?<!`)(?P<ticks>`+)(?!`)[^\n]{1,5000}?(?<!`)(?P=ticks)(?!`)"
)
_AUTOLINK: Final = re.compile(r"<([a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>]+)>")
_LINKS: Final = (
    re.compile(r"\]\(\s{0,200}<?([^)>\n]*)"),  # `[x](...)`, an image too
    re.compile(r"(?m)^[ \t>]*(?:[-*+][ \t]+)?\[[^\]\n]{1,999}\]:\s{0,200}(\S*)"),  # `[1]: ...`
    re.compile(
        r"(?i)((?<![a-z])(?:[a-z][a-z0-9+.-]{0,31}://|www\.|(?:mailto|xmpp):(?=[^\s@]{0,200}@))"
        r"[^\s<>\"'`（）。，；、】》]*)"
    ),
)
_RAW: Final = re.compile(r"<[a-zA-Z/!?][^\n]{0,40}")


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
    origins = {source.origin or source.source_id for source in composed.sources}
    text = _LITERAL.sub("\0", composed.report)
    problems += [
        f"a link is not in the evidence: {link[:100]}"
        for link in dict.fromkeys(_links(text))
        if link not in origins
    ]
    problems += [f"raw HTML: {match[0]}" for match in _RAW.finditer(_AUTOLINK.sub("", text))]
    problems += _findings(closing, {n for n, source in known.items() if source.empty})
    return problems[:20]


def _links(text: str) -> Iterator[str]:
    """Where a text leads to, in every form that a renderer makes a link or an image of."""
    yield from (match[1] for match in _AUTOLINK.finditer(text))
    text = _AUTOLINK.sub("", text)
    for form in _LINKS:
        for match in form.finditer(text):
            yield trimmed_link(match[1].split(" ")[0] if form is _LINKS[0] else match[1])


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
