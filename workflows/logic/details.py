"""The current details of a run for the Web UI: Markdown in the run's language, kept current.

On top what it waits for, then phase, plan, budgets (DESIGN, "People": what the Web UI shows).
"""

from decimal import Decimal
from functools import lru_cache
from typing import Final

from workflows.contracts.plan_state import StepState
from workflows.contracts.state import RunState
from workflows.contracts.task import ResolvedTask
from workflows.logic.asking import language_of_run, spaced, waiting_lines
from workflows.logic.cost import money_text, prices_known
from workflows.logic.headings import Words
from workflows.logic.ledger import missing_topics
from workflows.logic.safe_markdown import shown as spelled

_CELL: Final = 120
_ROWS: Final = 60  # steps of the plan table


def details(state: RunState, workflow_id: str = "") -> str:
    """Markdown of a run: waiting, phase in one line, plan, budgets used and left."""
    words = language_of_run(state)
    lines = waiting_lines(state, workflow_id)
    phase = words(f"phase_{state.phase}")
    lines += [f"**{phase}** · {plain_cell(state.goal)}", ""]
    if state.dag.plan is not None:
        lines += [*_plan_table(state, words), ""]
    if state.prepared:
        lines += _budgets(state, words)
    if state.plan:
        lines += ["", words("advice")]
        lines += [f"{n}. {plain_cell(entry)}" for n, entry in enumerate(state.plan, 1)]
    if state.closed:
        closed = state.closed
        lines += ["", f"{words('ended')}{words('colon')}{closed.status}, {closed.stop_reason}"]
    return "\n".join(lines)


def _budgets(state: RunState, words: Words) -> list[str]:
    if state.prepared is None:
        return []
    task, usage = state.prepared.task, state.usage
    limits = task.limits
    missing = [task.topics[i].id for i in missing_topics(state, len(task.topics))]
    rows: list[tuple[str, int, int]] = [
        ("topics_covered", len(task.topics) - len(missing), len(task.topics)),
        ("model_calls", usage.model_calls, limits.max_model_calls),
        ("tool_calls", usage.tool_calls, limits.max_tool_calls),
    ]
    if limits.max_tokens is not None:
        rows.append(("tokens", usage.prompt_tokens + usage.completion_tokens, limits.max_tokens))
    if state.dag.plan is not None:
        rows.append(("rounds", state.dag.rounds, limits.max_rounds))
    rows.append(("active_seconds", round(usage.active_seconds), round(limits.max_active_seconds)))
    named = words("comma").join(plain_cell(m) for m in missing) or words("nothing")
    return [
        spaced(words("used_of")),
        "| --- | --- | --- | --- |",
        *(
            spaced(f"| {words(n)} | {used} | {most} | {max(0, most - used)} |")
            for n, used, most in rows
        ),
        *(spaced(row) for row in _cost(state, task, words)),
        "",
        f"{words('missing_now')}{words('colon')}{named}",
    ]


def _cost(state: RunState, task: ResolvedTask, words: Words) -> list[str]:
    """The row of the cost, where it can be told."""
    if not prices_known(task):
        return []
    cost, most = Decimal(state.usage.cost), task.limits.max_cost
    left = "–" if most is None else money_text(max(Decimal(0), Decimal(most) - cost))
    return [f"| {words('cost')} | {state.usage.cost} | {most or '–'} | {left} |"]


def _plan_table(state: RunState, words: Words) -> list[str]:
    dag = state.dag
    steps = dag.plan.steps if dag.plan else []
    lines = [
        words("plan_now", version=dag.version, round=dag.rounds),
        "",
        spaced(words("plan_columns")),
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for step in steps[:_ROWS]:
        now = dag.steps[step.id]
        evidence = " ".join(f"E{number}" for number in now.numbers[:8]) or "–"
        cells = [
            plain_cell(step.id),
            plain_cell(step.goal),
            now.status,
            str(now.attempts),
            _verdict(now, words),
            evidence,
        ]
        lines.append(spaced("| " + " | ".join(cells) + " |"))
    if len(steps) > _ROWS:
        lines += ["", words("more_steps", count=len(steps) - _ROWS)]
    return lines


def _verdict(step: StepState, words: Words) -> str:
    if step.verdict is None:
        return "–"
    said = step.verdict
    how = words("passed") if said.passed else words("failed_at", layer=said.layer)
    return f"{said.score:.2f} {how}"


@lru_cache(maxsize=1024)
def plain_cell(text: str) -> str:
    """A text that cannot break a line or a table of Markdown, nor carry HTML or an image."""
    flat = spelled(" ".join(text.split())[:_CELL])
    return "".join("\\" + c if c in "\\|<>[]!*_`" else c for c in flat)
