"""What both kinds of report print of evidence: a quote with its locator, and a confidence."""

from collections.abc import Mapping, Sequence
from typing import Final

from workflows.contracts.claim import Quote
from workflows.logic.headings import Words
from workflows.logic.report_sources import Source
from workflows.logic.safe_markdown import block_quote, escape

_INDEPENDENT: Final = 2  # sources that make a confidence high


def confidence(
    sources: Sequence[Source],
    quotes: Sequence[Quote] = (),
    texts: Mapping[str, str] | None = None,
) -> str:
    """`high`, `medium` or `low`, computed (INTERFACE, "The report").

    High is two independent sources or one that declares the topic itself, medium is one; low is
    what has no dated source. Copies of one text, near-identical ones too, are not independent, and
    neither is a source that says word for word what is quoted from another: a chapter and its book.

    Args:
        sources: those that are cited.
        quotes: what is quoted from them.
        texts: whole texts by `Source.sha256`.
    """
    dated = [source for source in sources if source.date]
    if not dated:
        return "low"
    if any(source.primary for source in dated):
        return "high"
    alone = {source.kin or source.sha256 or source.source_id: source for source in dated}
    bare = {s.number: _bare((texts or {}).get(s.sha256, "")) for s in alone.values()}
    said = {
        number: [text for q in quotes if q.evidence == number and (text := _bare(q.text))]
        for number in bare
    }
    kept: list[int] = []
    for number in bare:
        if not any(_repeats(bare, said, number, other) for other in kept):
            kept.append(number)
    return "high" if len(kept) >= _INDEPENDENT else "medium"


def _repeats(
    bare: Mapping[int, str], said: Mapping[int, Sequence[str]], one: int, other: int
) -> bool:
    """Whether what is quoted from one of two sources stands in the other."""
    return any(quote in bare[other] for quote in said[one]) or any(
        quote in bare[one] for quote in said[other]
    )


def _bare(text: str) -> str:
    """Without white space: formats break lines at different places."""
    return "".join(text.split())


def located(words: Words, source: Source, quote: Quote) -> str:
    """A quote with its mark and locator: source, path of headings, range of characters."""
    headings = [heading for heading in quote.headings if not source.title.startswith(heading)]
    path = " › ".join(escape(part) for part in (source.title, *headings) if part.strip())
    characters = words("characters", start=quote.start, end=quote.end)
    locator = f"[E{quote.evidence}] {path}{words('comma')}{characters}{words('colon').rstrip()}"
    return f"{locator}\n\n{block_quote(quote.text)}"
