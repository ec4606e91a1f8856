"""The report, composed by code from recorded state; no model is called (REQUIREMENTS 203-209).

Findings are verbatim quotes that code picked; a language model's draft is shown apart, unverified,
and only after a regular close that called itself sufficient, with evidence (REQUIREMENTS 205; C38,
C52). Without evidence the report makes no claim.
"""

from dataclasses import dataclass
from typing import Final

from workflows.contracts.claim import ClaimCounts, Quote
from workflows.contracts.task import ResolvedTopic
from workflows.logic import report_end
from workflows.logic.headings import Words, words_for
from workflows.logic.ledger import has_evidence
from workflows.logic.outcome import REGULAR
from workflows.logic.quotes import pick_quotes
from workflows.logic.report_plan import compose_plan
from workflows.logic.report_quotes import confidence, located
from workflows.logic.report_sources import Closing, Composed, Source, sources_of
from workflows.logic.safe_markdown import (
    Cleaned,
    DraftCleaner,
    cell,
    code,
    escape,
    visible,
)

_BRIEF_LEAST: Final = 3
_BRIEF_MOST: Final = 6
_CELL: Final = 120

Findings = dict[int, list[Quote]]


@dataclass(frozen=True)
class _Page:
    """What the sections share."""

    closing: Closing
    words: Words
    sources: list[Source]
    findings: Findings  # by topic index, covered topics only
    draft: Cleaned | None

    @property
    def topics(self) -> list[ResolvedTopic]:
        return self.closing.task.topics if self.closing.task else []


def compose(closing: Closing) -> Composed:
    """The report of a run that closes, in the run's language."""
    words = words_for(closing.language)
    sources = sources_of(closing)
    if closing.state.dag.plan is not None:
        return compose_plan(closing, _head(_Page(closing, words, sources, {}, None)))
    page = _Page(closing, words, sources, _findings(closing), _draft(closing, sources, words))
    quotes = _distinct(page.findings)
    notes = [words(key, **values) for key, values in closing.problems]
    sections = [
        _head(page),
        _brief(page),
        _table(page),
        _found(page),
        _draft_section(page),
        f"## {words('conflicts')}\n\n{words('not_compared')}",
        report_end.gaps(closing, words),
        report_end.failures(closing, words),
        report_end.people(closing, words),
        report_end.limits(closing, words, sources, notes),
        report_end.sources(words, sources, {quote.evidence for quote in quotes}),
    ]
    return Composed(
        report=visible("\n\n".join(section for section in sections if section) + "\n"),
        claims=ClaimCounts(
            supported=len(quotes), unverified=max(1, page.draft.cited) if page.draft else 0
        ),
        quotes=quotes,
        sources=sources,
        notes=[*closing.state.notes, *notes],
    )


def _findings(closing: Closing) -> Findings:
    task = closing.task
    if task is None:
        return {}
    threshold = task.settings.topic_cover
    return {
        index: pick_quotes(
            topic, index, closing.entries, closing.texts, limit=3, threshold=threshold
        )
        for index, topic in enumerate(task.topics)
        if str(index) in closing.state.covered
    }


def _distinct(findings: Findings) -> list[Quote]:
    """Each quote once, in order."""
    every = [quote for quotes in findings.values() for quote in quotes]
    return list({(q.evidence, q.start, q.end): q for q in every}.values())


def _draft(closing: Closing, sources: list[Source], words: Words) -> Cleaned | None:
    """The model's draft made safe, where it may be shown at all."""
    state, task = closing.state, closing.task
    regular = state.stop_reason in REGULAR and state.sufficient
    if task is None or task.extractive or not regular or not state.draft.strip():
        return None
    if not has_evidence(state.ledger):
        return None
    numbers = {source.number for source in sources if not source.empty}
    gone = (words("link_removed"), words("image_removed"))
    return DraftCleaner(numbers, {source.origin for source in sources}, gone).clean(state.draft)


def _head(page: _Page) -> str:
    words, closing, state = page.words, page.closing, page.closing.state
    goal = (closing.task.goal if closing.task else state.goal) or words("unknown")
    status = f"{words.statuses[closing.status]} ({code(closing.status)})"
    reason = state.stop_reason or "internal_error"
    facts = {
        "goal": escape(goal),
        "status": status,
        "stop_reason": f"{words.stop_reasons[reason]} ({code(reason)})",
        "model": escape(closing.task.model) if closing.task else "",
    }
    lines = [f"# {words('title')}", ""]
    lines += [f"- **{words(key)}**{words('colon')}{fact}" for key, fact in facts.items() if fact]
    remarks = [
        words("extractive") if closing.task and closing.task.extractive else "",
        words("degraded") if state.degraded else "",
        words("not_full") if closing.status != "succeeded" else "",
    ]
    return "\n".join([*lines, *(f"\n{remark}" for remark in remarks if remark)])


def _brief(page: _Page) -> str:
    """Three to six cited sentences where there are: the best of each topic, then the next best."""
    chosen: dict[tuple[int, int], Quote] = {}
    for rank in range(_BRIEF_LEAST):
        if rank and len(chosen) >= _BRIEF_LEAST:
            break
        for quotes in page.findings.values():
            if rank < len(quotes) and len(chosen) < _BRIEF_MOST:
                chosen.setdefault((quotes[rank].evidence, quotes[rank].start), quotes[rank])
    lines = [f"- {escape(quote.text, leads=True)} [E{quote.evidence}]" for quote in chosen.values()]
    return f"## {page.words('brief')}\n\n" + ("\n".join(lines) or _nothing(page))


def _nothing(page: _Page) -> str:
    """Why there is no claim, plainly."""
    if not has_evidence(page.closing.state.ledger):
        return page.words("no_evidence")
    if page.closing.problems:
        return page.words("lost")
    return page.words("no_quotes" if page.findings else "no_findings")


def _table(page: _Page) -> str:
    words = page.words
    if not page.topics:
        return ""
    columns = ("topic", "status", "answer", "confidence", "sources_column", "newest")
    lines = [
        f"## {words('topics')}",
        "",
        "| " + " | ".join(words(column) for column in columns) + " |",
        "|" + " --- |" * len(columns),
    ]
    lines += [_row(page, index, topic) for index, topic in enumerate(page.topics)]
    return "\n".join(lines)


def _row(page: _Page, index: int, topic: ResolvedTopic) -> str:
    words = page.words
    how = page.closing.state.covered.get(str(index), "missing")
    quotes = page.findings.get(index, [])
    cited = _cited(page, quotes)
    answer = f"{cell(quotes[0].text, _CELL)} [E{quotes[0].evidence}]" if quotes else "–"
    dates = [source.date for source in cited if source.date]
    cells = [
        cell(topic.question, _CELL),
        words(how) if how in words.texts else escape(how),
        answer,
        words(confidence(cited, quotes, page.closing.texts)) if cited else "–",
        " ".join(f"[E{source.number}]" for source in cited) or "–",
        (max(dates) if dates else words("undated")) if cited else "–",
    ]
    return "| " + " | ".join(cells) + " |"


def _cited(page: _Page, quotes: list[Quote]) -> list[Source]:
    numbers = {quote.evidence for quote in quotes}
    return [source for source in page.sources if source.number in numbers]


def _found(page: _Page) -> str:
    if not page.findings:
        return ""
    parts = [f"## {page.words('findings')}"]
    for index, quotes in page.findings.items():
        parts.append(f"### {escape(page.topics[index].question)}")
        parts += [located(page.words, page.sources[q.evidence - 1], q) for q in quotes] or [
            page.words("nothing_quoted")
        ]
    return "\n\n".join(parts)


def _draft_section(page: _Page) -> str:
    words, draft = page.words, page.draft
    if draft is None:
        return ""
    removed: list[str] = []
    if draft.marks:
        removed.append(words("removed_marks", marks=", ".join(dict.fromkeys(draft.marks))))
    if draft.links:
        removed.append(words("removed_links", count=draft.links))
    if draft.images:
        removed.append(words("removed_images", count=draft.images))
    quoted = "\n".join(f"> {line}".rstrip() for line in draft.text.splitlines())
    parts = [f"## {words('draft')}", words("draft_note"), quoted]
    if removed:
        parts.append(words("removed", what="; ".join(removed)))
    return "\n\n".join(parts)
