"""The plan of a run as a person watches it: a table on a terminal, lines elsewhere."""

# ruff: noqa: PLC0415 - rich is slow to import and needed on a terminal only

from typing import TYPE_CHECKING, Any, Final, cast

from cli.plain import line
from workflows.logic.headings import Words

if TYPE_CHECKING:
    from rich.console import RenderableType

_ROWS: Final = 30
_STYLES: Final = {"DONE": "green", "RUNNING": "cyan", "FAILED": "red", "BLOCKED": "yellow"}


def board(plan: dict[str, Any], status: dict[str, Any], words: Words) -> "RenderableType":
    """Plan and budgets as a rich table; without a plan the budgets alone."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    steps = cast("list[dict[str, Any]]", plan.get("steps") or [])
    foot = Text(_budgets(status, words), style="dim")
    if not steps:
        return foot
    # As `Text` all of it: rich reads a string as markup, where "[/]" of a model is an error.
    title = words("plan_now", version=plan.get("version"), round=plan.get("rounds"))
    table = Table(title=Text(line(title)), title_justify="left", expand=False)
    for name in words("plan_columns").strip("| ").split("|"):
        table.add_column(name.strip(), overflow="fold")
    for step in steps[:_ROWS]:
        state = str(step.get("status"))
        table.add_row(
            Text(line(step.get("id"))),
            Text(line(step.get("goal"))),
            Text(line(state), style=_STYLES.get(state, "")),
            Text(line(step.get("attempts"))),
            Text(line(_verdict(step, words))),
            Text(line(" ".join(step.get("evidence") or []))),
        )
    more = len(steps) - _ROWS
    rest = [Text(words("more_steps", count=more))] if more > 0 else []
    return Group(table, *rest, foot)


def plan_lines(plan: dict[str, Any], words: Words) -> list[str]:
    """A plan in lines that stay."""
    steps = cast("list[dict[str, Any]]", plan.get("steps") or [])
    head = words("plan_now", version=plan.get("version"), round=plan.get("rounds"))
    return [head, *(f"  {line(step.get('id'))}  {line(step.get('goal'))}" for step in steps)]


def _verdict(step: dict[str, Any], words: Words) -> str:
    verdict = cast("dict[str, Any]", step.get("verdict") or {})
    if not verdict:
        return ""
    if verdict.get("passed"):
        return f"{words('passed')} {verdict.get('score', '')}".rstrip()
    return words("failed_at", layer=verdict.get("layer") or "")


def _budgets(status: dict[str, Any], words: Words) -> str:
    usage = cast("dict[str, Any]", status.get("usage") or {})
    limits = cast("dict[str, Any]", status.get("limits") or {})
    phase = words(f"phase_{status.get('phase', 'preparing')}")
    parts = [phase]
    for name in ("model_calls", "tool_calls"):
        parts.append(f"{words(name)} {usage.get(name, 0)}/{limits.get('max_' + name, '?')}")
    missing = cast("list[str]", status.get("missing_topics") or [])
    named = words("comma").join(missing) or words("nothing")
    parts.append(f"{words('missing_now')}{words('colon')}{named}")
    return line(" · ".join(parts))
