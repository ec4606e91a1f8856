"""The report of `strategy: plan`, composed by code from findings that were verified.

Every sentence of substance is a claim that its judge supported, with the quotes that carry it; the
rest is code's (REQUIREMENTS 203, 207-209). Without a standing finding it makes no claim.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from workflows.contracts.claim import ClaimCounts, Quote
from workflows.contracts.plan import Step
from workflows.contracts.step_record import CheckedClaim, Finding
from workflows.logic import report_end
from workflows.logic.headings import Words, words_for
from workflows.logic.plan_run import statuses_of, steps_of
from workflows.logic.report_quotes import confidence, located
from workflows.logic.report_sources import Closing, Composed, Source, sources_of
from workflows.logic.safe_markdown import cell, code, escape, visible
from workflows.logic.schedule import blocked_by

_BRIEF_LEAST: Final = 3
_BRIEF_MOST: Final = 6
_CELL: Final = 120
_QUOTES: Final = 6
_CURRENT: Final = re.compile(
    r"\b(?:current(?:ly)?|latest|now|today|at present|newest|recently|up to date)\b"
    r"|目前|当前|现在|最新|如今|迄今",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Page:
    """What the sections share."""

    closing: Closing
    words: Words
    sources: list[Source]

    @property
    def findings(self) -> Sequence[Finding]:
        """Findings in plan order; `findings[n - 1]` has number n."""
        return self.closing.findings


def compose_plan(closing: Closing, head: str) -> Composed:
    """The report of a plan that closes.

    Args:
        closing: state, findings, entries.
        head: title, goal, status and remarks, as every report has them.
    """
    words = words_for(closing.language)
    page = Page(closing, words, sources_of(closing))
    quotes = _quotes_of(page)
    notes = [words(key, **values) for key, values in closing.problems]
    cited = {quote.evidence for quote in quotes}
    sections = [
        head,
        _brief(page),
        _table(page),
        _found(page),
        _conflicts(page),
        _gaps(page),
        _steps(page),
        report_end.failures(closing, words),
        report_end.people(closing, words),
        report_end.limits(closing, words, page.sources, notes),
        report_end.sources(words, page.sources, cited),
    ]
    return Composed(
        report=visible("\n\n".join(section for section in sections if section) + "\n"),
        claims=claim_counts(closing),
        quotes=quotes,
        sources=page.sources,
        notes=[*closing.state.notes, *notes],
    )


def claim_counts(closing: Closing) -> ClaimCounts:
    """How the claims of every step ended, of steps of plans before too."""
    every = [step.claims for step in closing.state.dag.steps.values()]
    names = list(ClaimCounts.model_fields)
    return ClaimCounts(**{name: sum(getattr(each, name) for each in every) for name in names})


def statement(page: Page, claim: CheckedClaim) -> str:
    """A claim as it is printed: limitation, and a date where it speaks of now; without marks."""
    text = escape(claim.text, leads=True)
    if claim.limitation:
        text += " " + page.words("only", limitation=escape(claim.limitation))
    if _CURRENT.search(claim.text):
        text += " " + _as_of(page, claim)
    return text


def marks(claim: CheckedClaim) -> str:
    """The marks of a claim."""
    return "".join(f"[E{number}]" for number in claim.numbers)


def _as_of(page: Page, claim: CheckedClaim) -> str:
    """What is current is so as of its source (DESIGN, "Verification")."""
    cited = [page.sources[number - 1] for number in claim.numbers if number <= len(page.sources)]
    dates = [source.date for source in cited if source.date]
    if dates:
        return page.words("as_of", date=escape(max(dates)))
    at = next((source.retrieved_at for source in cited if source.retrieved_at), "")
    return page.words("undated_as_of", at=escape(at) or page.words("unknown"))


def _quotes_of(page: Page) -> list[Quote]:
    every = [quote for finding in page.findings for quote in finding.claim.quotes[:_QUOTES]]
    return list({(q.evidence, q.start, q.end): q for q in every}.values())


def _of_topic(page: Page, index: int) -> list[Finding]:
    """Findings that answer a topic: supported ones first, then those written for this topic.

    Code's own cover rule lets a finding about another topic in when its paragraph names both; what
    was written for this one says more of it.
    """
    numbers = page.closing.state.dag.topic_findings.get(str(index), [])
    found = [page.findings[n - 1] for n in numbers if 0 < n <= len(page.findings)]
    task = page.closing.task
    wanted = task.topics[index].id if task else ""
    return sorted(
        found,
        key=lambda f: (f.claim.outcome != "supported", wanted not in f.claim.proposed, f.number),
    )


def _brief(page: Page) -> str:
    """Three to six cited sentences where there are: one a topic first, then the next best."""
    topics = page.closing.task.topics if page.closing.task else []
    chosen: dict[int, Finding] = {}
    for rank in range(_BRIEF_LEAST):
        if rank and len(chosen) >= _BRIEF_LEAST:
            break
        for index in range(len(topics)):
            found = _of_topic(page, index)
            if rank < len(found) and len(chosen) < _BRIEF_MOST:
                chosen.setdefault(found[rank].number, found[rank])
    for finding in page.findings:
        if len(chosen) < _BRIEF_LEAST and finding.claim.outcome == "supported":
            chosen.setdefault(finding.number, finding)
    lines = [f"- {statement(page, f.claim)} {marks(f.claim)}" for f in chosen.values()]
    nothing = page.words("lost") if page.closing.problems else page.words("no_claims")
    return f"## {page.words('brief')}\n\n" + ("\n".join(lines) or nothing)


def _table(page: Page) -> str:
    words, task = page.words, page.closing.task
    if task is None:
        return ""
    columns = ("topic", "status", "answer", "confidence", "sources_column", "newest")
    lines = [
        f"## {words('topics')}",
        "",
        "| " + " | ".join(words(column) for column in columns) + " |",
        "|" + " --- |" * len(columns),
    ]
    lines += [_row(page, index, topic.question) for index, topic in enumerate(task.topics)]
    return "\n".join(lines)


def _row(page: Page, index: int, question: str) -> str:
    words = page.words
    said = page.closing.state.dag.answers.get(str(index), "no")
    found = _of_topic(page, index)
    numbers = list(dict.fromkeys(n for f in found for n in f.claim.numbers))
    cited = [page.sources[n - 1] for n in numbers if n <= len(page.sources)]
    dates = [source.date for source in cited if source.date]
    answer = f"{cell(found[0].claim.text, _CELL)} {marks(found[0].claim)}" if found else "–"
    cells = [
        cell(question, _CELL),
        words(said),
        answer,
        words(confidence_of(page, found, cited)) if cited else "–",
        " ".join(f"[E{source.number}]" for source in cited) or "–",
        (max(dates) if dates else words("undated")) if cited else "–",
    ]
    return "| " + " | ".join(cells) + " |"


def confidence_of(page: Page, found: Sequence[Finding], cited: Sequence[Source]) -> str:
    """High, medium or low, computed; low where nothing holds without a limitation or a conflict."""
    disputed = {n for c in page.closing.state.dag.conflicts for n in (c.one, c.other)}
    whole = [f for f in found if f.claim.outcome == "supported" and f.number not in disputed]
    quotes = [quote for f in whole for quote in f.claim.quotes]
    return confidence(cited, quotes, page.closing.texts) if whole else "low"


def _found(page: Page) -> str:
    if not page.findings:
        return ""
    goals = {step.id: step.goal for step in steps_of(page.closing.state.dag)}
    goals |= {key: kept.goal for key, kept in page.closing.state.dag.kept.items()}
    parts = [f"## {page.words('findings')}"]
    step = ""
    for finding in page.findings:
        if finding.step != step:
            step = finding.step
            parts.append(f"### {escape(goals.get(step, step))}")
        parts.append(_finding(page, finding.claim))
    return "\n\n".join(parts)


def _finding(page: Page, claim: CheckedClaim) -> str:
    """A claim with its marks, then each quote with its locator."""
    lines = [f"{statement(page, claim)} {marks(claim)}"]
    if claim.method:
        lines.append(page.words("computed", method=code(claim.method)))
    lines += [_quoted(page, quote) for quote in claim.quotes[:_QUOTES]]
    return "\n\n".join(lines)


def _quoted(page: Page, quote: Quote) -> str:
    return located(page.words, page.sources[quote.evidence - 1], quote)


def _conflicts(page: Page) -> str:
    """Both sides with their quotes; neither counts alone."""
    dag, words = page.closing.state.dag, page.words
    parts = [f"## {words('conflicts')}"]
    for conflict in dag.conflicts:
        pair = [conflict.one, conflict.other]
        if any(not 0 < number <= len(page.findings) for number in pair):
            continue
        parts.append(words("conflict", about=escape(conflict.about) or "–"))
        for number in pair:
            claim = page.findings[number - 1].claim
            parts.append(f"- {statement(page, claim)} {marks(claim)}")
            parts.append(_quoted(page, claim.quotes[0]))
    if len(parts) == 1:
        parts.append(words("no_conflicts") if dag.compared else words("not_judged"))
    return "\n\n".join(parts)


def _gaps(page: Page) -> str:
    """What is not covered and what is only in part, with the queries tried; absence by code."""
    state, task, words = page.closing.state, page.closing.task, page.words
    text = report_end.gaps(page.closing, words)
    if task is None:
        return text
    lines: list[str] = []
    partly = [i for i in range(len(task.topics)) if state.dag.answers.get(str(i)) == "partly"]
    if partly:
        named = words("comma").join(escape(task.topics[i].question) for i in partly)
        lines.append(f"{words('partials')}{words('colon')}{named}")
    corpora = words("comma").join(code(name) for name in task.corpora)
    for step in steps_of(state.dag):
        now = state.dag.steps[step.id]
        missing = [t for t in task.topics if t.id in step.topics and not _has(page, t.id)]
        if now.queries and missing:
            topic = words("comma").join(escape(t.question) for t in missing)
            looked = escape(now.looked) if now.looked not in ("", "-") else ""
            lines.append(
                words(
                    "absent", corpora=corpora, topic=topic, count=len(now.queries), looked=looked
                ).rstrip()
            )
    return "\n\n".join([text, *lines])


def _has(page: Page, topic_id: str) -> bool:
    task = page.closing.task
    index = next(i for i, t in enumerate(task.topics) if t.id == topic_id) if task else -1
    return page.closing.state.dag.answers.get(str(index), "no") != "no"


def _steps(page: Page) -> str:
    """Each step of the plan, with why it failed or what it waits for."""
    dag, words = page.closing.state.dag, page.words
    steps = steps_of(dag)
    if not steps:
        return ""
    blocked = blocked_by(steps, statuses_of(dag))
    lines = [f"## {words('steps')}", "", words("steps_columns"), "|" + " --- |" * 6]
    lines += [_step_row(page, step, blocked.get(step.id, [])) for step in steps]
    return "\n".join(lines)


def _step_row(page: Page, step: Step, causes: Sequence[str]) -> str:
    now = page.closing.state.dag.steps[step.id]
    why = page.words("blocked", causes=", ".join(causes)) if causes else now.reason
    cells = [
        cell(step.id, 40),
        cell(step.goal, _CELL),
        now.status,
        str(now.attempts),
        f"{now.verdict.score:.2f}" if now.verdict else "–",
        cell(why, _CELL) if why and now.status != "DONE" else "–",
    ]
    return "| " + " | ".join(cells) + " |"
