"""The closing sections of a report: gaps, failures, time range and limits, sources."""

from collections.abc import Collection
from typing import Final

from workflows.contracts.requests import Request
from workflows.contracts.state import QueryTried, RunState
from workflows.contracts.task import ResolvedTask
from workflows.logic.headings import Words
from workflows.logic.ledger import missing_topics
from workflows.logic.report_sources import Closing, Source
from workflows.logic.safe_markdown import code, escape, link_or_code
from workflows.logic.terms import query_key

_REASON: Final = 500


def gaps(closing: Closing, words: Words) -> str:
    """What is not covered, with the queries tried and what the search said."""
    task, state = closing.task, closing.state
    lines = [f"## {words('gaps')}", ""]
    missing = missing_topics(state, len(task.topics)) if task else []
    if task:
        lines += [f"- {_uncovered(task, state, index, words)}" for index in missing]
        if not missing:
            lines.append(words("all_covered"))
    if state.observation and state.observation.note and missing:
        lines += ["", f"{words('note')}{words('colon')}{escape(state.observation.note[:_REASON])}"]
    lines += (
        ["", words("queries") + words("colon").rstrip(), ""]
        if state.queries
        else ["", words("no_queries")]
    )
    lines += [
        f"- {code(tried.query)}{words('colon')}{_brought(tried, words)}" for tried in state.queries
    ]
    return "\n".join(lines)


def _uncovered(task: ResolvedTask, state: RunState, index: int, words: Words) -> str:
    """A topic that is not covered; said so when the run ended before it was searched at all."""
    topic = task.topics[index]
    text = escape(topic.question, leads=True)
    tried = {query_key(query.query) for query in state.queries}
    one_search_each = task.extractive and task.strategy == "react"
    if one_search_each and query_key(topic.query) not in tried:
        return f"{text} ({words('not_searched')})"
    return text


def failures(closing: Closing, words: Words) -> str:
    """Failures with their kinds, the last tool error, and why the run stopped."""
    state = closing.state
    colon = words("colon")
    lines = [
        f"- {code(f.code)}{_step(f.step, words)}{colon}{escape(words.reason(f.reason))}"
        for f in state.failures
    ]
    known = " ".join(failure.reason for failure in state.failures)
    details = [state.stop_detail, *(state.prepared.problems if state.prepared else [])]
    lines += [
        f"- {words('why')}{colon}{escape(detail)}"
        for detail in dict.fromkeys(details)
        if detail and detail not in known
    ]
    if state.observation and not state.observation.ok:
        error = code(state.observation.error)
        note = f" ({escape(state.observation.note[:_REASON])})" if state.observation.note else ""
        lines.append(f"- {words('last_error')}{colon}{error}{note}")
    return f"## {words('failures')}\n\n" + ("\n".join(lines) or words("no_failures"))


def people(closing: Closing, words: Words) -> str:
    """What people decided, and what nobody did; "" where nobody was asked (REQUIREMENTS 154)."""
    ended = [r for r in closing.state.requests if r.outcome != "open" and r.kind != "report"]
    if not ended:
        return ""
    return f"## {words('people')}\n\n" + "\n".join(f"- {_decision(r, words)}" for r in ended)


def _decision(request: Request, words: Words) -> str:
    if request.outcome == "answered":
        return words(
            "answer_given",
            id=code(request.id),
            by=escape(request.by),
            at=request.decided_at,
            question=code(str(request.shown.get("question", ""))[:_REASON]),
            text=code(request.text[:_REASON]),
        )
    said = words("said", comment=escape(request.comment[:_REASON])) if request.comment else ""
    key = "decision_by" if request.by else "decision"
    return (
        words(
            key,
            id=code(request.id),
            outcome=words(f"outcome_{request.outcome}"),
            by=escape(request.by),
            at=request.decided_at,
        )
        + said
    )


def limits(closing: Closing, words: Words, found: list[Source], problems: list[str]) -> str:
    """Time range, what was used of the budgets, what coverage means, notes (REQUIREMENTS 209)."""
    task, state = closing.task, closing.state
    start, end = (at or words("unknown") for at in (state.started_at, closing.closed_at))
    dates = sorted(source.date for source in found if source.date and not source.empty)
    lines = [words("run_time", start=escape(start), end=escape(end))]
    if any(not source.empty for source in found):
        lines.append(
            words("source_dates", oldest=escape(dates[0]), newest=escape(dates[-1]))
            if dates
            else words("no_dates")
        )
    if task:
        usage = state.usage
        lines.append(
            words(
                "used",
                calls=usage.model_calls,
                max_calls=task.limits.max_model_calls,
                tools=usage.tool_calls,
                max_tools=task.limits.max_tool_calls,
                searches=usage.searches,
                seconds=f"{usage.active_seconds:.1f}",
                max_seconds=f"{task.limits.max_active_seconds:g}",
            )
        )
        lines.append(words("corpora", names=", ".join(code(name) for name in task.corpora)))
    if state.dag.plan is not None and task:
        dag = state.dag
        lines.append(
            words(
                "plan_used",
                version=dag.version,
                rounds=dag.rounds,
                max_rounds=task.limits.max_rounds,
                replans=dag.replans,
                max_replans=task.limits.max_replans,
            )
        )
        lines.append(words("extractive_meaning" if task.judge_extractive else "plan_meaning"))
    else:
        lines.append(words("meaning"))
    text = [f"## {words('limits')}", "", *(f"- {line}" for line in lines)]
    notes = [*state.notes, *problems]
    if notes:
        text += [
            "",
            words("notes") + words("colon").rstrip(),
            "",
            *(f"- {escape(note, leads=True)}" for note in notes),
        ]
    return "\n".join(text)


def sources(words: Words, found: list[Source], cited: Collection[int]) -> str:
    """Every evidence id: title, origin, dates, and whether it is cited or was only read."""
    lines = [_source(source, words, cited) for source in found]
    return f"## {words('sources')}\n\n" + ("\n".join(lines) or words("no_sources"))


def _source(source: Source, words: Words, cited: Collection[int]) -> str:
    if source.empty:
        query = code(source.query) or words("unknown")
        return f"- [E{source.number}] {words('empty', query=query)}"
    facts = [
        link_or_code(source.origin or source.source_id),
        words("dated", date=escape(source.date)) if source.date else words("undated"),
        words("retrieved", at=escape(source.retrieved_at)) if source.retrieved_at else "",
        words("cited" if source.number in cited else "read"),
    ]
    return f"- [E{source.number}] {escape(source.title)} — " + words("comma").join(
        f for f in facts if f
    )


def _brought(tried: QueryTried, words: Words) -> str:
    if tried.passages < 0:
        return words("search_failed")
    return words("found", count=tried.passages) if tried.passages else words("nothing_found")


def _step(step: str, words: Words) -> str:
    return f" ({words('step')} {escape(step)})" if step else ""
