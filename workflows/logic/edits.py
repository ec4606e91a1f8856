"""What a person may put in place of what was shown: validated like the original.

A plan: `{"steps": [...]}`, `{"plan": {...}}`, or `{"goal": "..."}` to plan anew; arguments: the
object itself, or `{"args": {...}}`; a report: `{"report": "..."}` (INTERFACE, "Messages").
"""

from typing import Any, Final, cast

from workflows.contracts.base import JsonObject
from workflows.contracts.plan import ARGUMENT_BYTES, Plan, json_bytes
from workflows.contracts.requests import RequestKind
from workflows.contracts.result import REPORT_BYTES
from workflows.contracts.state import RunState
from workflows.contracts.task import ResolvedTask
from workflows.logic.plan_rules import PlanBounds, plan_problems, read_plan

_GOAL: Final = 2000
_SHOWN: Final = 400
_EXPECTED: Final = 'edits: expected {"steps": [...]}, or {"goal": "..."} to plan anew'


def edit_problem(state: RunState, kind: RequestKind, shown: JsonObject, edits: JsonObject) -> str:
    """What is wrong with the edits of a request, "" if they may run."""
    if kind == "plan":
        return _plan_problem(state, edits)
    if kind == "tool":
        return _args_problem(edited_args(shown, edits))
    if kind == "report":
        return _report_problem(edits)
    return "edits: a question takes an answer only"


def plan_bounds(task: ResolvedTask) -> PlanBounds:
    """What a plan that a caller or an approver wrote may hold."""
    return PlanBounds(
        min_steps=1,
        max_steps=task.limits.max_steps,
        topics=[topic.id for topic in task.topics] if task.own_topics else [],
        tools=[spec.name for spec in task.specs],
    )


def edited_goal(edits: JsonObject) -> str:
    """The goal to plan anew for, "" if the edits are a plan."""
    goal = edits.get("goal")
    return goal if set(edits) == {"goal"} and isinstance(goal, str) else ""


def edited_plan(edits: JsonObject) -> Plan | None:
    """The plan that was put in place of the one shown, None if it is none."""
    found = read_plan(_steps(edits))
    return found if isinstance(found, Plan) else None


def edited_args(shown: JsonObject, edits: JsonObject) -> Any:
    """The arguments that were put in place: `{"args": {...}}`, or the object itself.

    A tool with an argument called `args` of its own takes the object itself.
    """
    own = "args" in cast("JsonObject", shown.get("args") or {})
    return edits["args"] if set(edits) == {"args"} and not own else edits


def edited_report(edits: JsonObject) -> str:
    """The text that was put in place of the report."""
    return str(edits.get("report", edits.get("text", "")))


def _inner(edits: JsonObject) -> JsonObject:
    """The plan as it was shown, with or without `{"plan": ...}` around it."""
    inner = edits["plan"] if set(edits) == {"plan"} else edits
    return cast("JsonObject", inner) if isinstance(inner, dict) else {"steps": inner}


def _steps(edits: JsonObject) -> JsonObject:
    return {key: value for key, value in _inner(edits).items() if key != "goal"}


def _args_problem(args: Any) -> str:
    if not isinstance(args, dict):
        return "edits.args: not an object"
    size = json_bytes(args)
    if size > ARGUMENT_BYTES:
        return f"edits: at most {ARGUMENT_BYTES} bytes of arguments, found {size}"
    return ""


def _plan_problem(state: RunState, edits: JsonObject) -> str:
    task = state.prepared.task if state.prepared else None
    if "goal" in edits and "steps" not in edits and "plan" not in edits:
        goal = edits["goal"]
        if set(edits) == {"goal"} and isinstance(goal, str) and len(goal.strip()) > 0:
            return "" if len(goal) <= _GOAL else f"edits.goal: at most {_GOAL} characters"
        return _EXPECTED
    goal = _inner(edits).get("goal", task.goal if task else "")
    if task is not None and goal != task.goal:
        return "edits: change the goal or the steps, not both; a changed goal is planned anew"
    found = read_plan(_steps(edits))
    if not isinstance(found, Plan):
        return f"{_EXPECTED}; " + "; ".join(p.text for p in found)[:_SHOWN]
    problems = plan_problems(found, plan_bounds(task)) if task else []
    return "; ".join(p.text for p in problems)[:_SHOWN]


def _report_problem(edits: JsonObject) -> str:
    text = edits.get("report", edits.get("text"))
    if len(edits) != 1 or not isinstance(text, str) or not text.strip():
        return 'edits: expected {"report": "..."}, the whole text'
    if len(text.encode("utf-8", "replace")) > REPORT_BYTES:
        return f"edits.report: at most {REPORT_BYTES} bytes"
    return ""
