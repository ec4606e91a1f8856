"""What both kinds of report print of evidence: a quote with its locator, and a confidence."""

from collections.abc import Sequence
from typing import Final

from workflows.contracts.claim import Quote
from workflows.logic.headings import Words
from workflows.logic.report_sources import Source
from workflows.logic.safe_markdown import block_quote, escape

_INDEPENDENT: Final = 2  # sources that make a confidence high


def confidence(sources: Sequence[Source]) -> str:
    """`high`, `medium` or `low`, computed (INTERFACE, "The report").

    High is two independent sources or one that declares the topic itself, medium is one; low is
    what has no dated source. Copies of one text, near-identical ones too, are not independent.
    """
    dated = [source for source in sources if source.date]
    if not dated:
        return "low"
    independent = len({source.kin or source.sha256 or source.source_id for source in dated})
    primary = any(source.primary for source in dated)
    return "high" if primary or independent >= _INDEPENDENT else "medium"


def located(words: Words, source: Source, quote: Quote) -> str:
    """A quote with its mark and locator: source, path of headings, range of characters."""
    headings = [heading for heading in quote.headings if not source.title.startswith(heading)]
    path = " › ".join(escape(part) for part in (source.title, *headings) if part.strip())
    characters = words("characters", start=quote.start, end=quote.end)
    locator = f"[E{quote.evidence}] {path}{words('comma')}{characters}{words('colon').rstrip()}"
    return f"{locator}\n\n{block_quote(quote.text)}"
