"""Whether a plan is one: code checks it before anything runs (REQUIREMENTS 17-27; C9, C14, C20).

Every problem has a code, the ids it concerns, and a sentence that says what is expected.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import ValidationError

from workflows.contracts.plan import Plan, Step
from workflows.logic.nodes import Node
from workflows.logic.parse import explain
from workflows.logic.vague import vague_words

_SHOWN = 10


@dataclass(frozen=True)
class PlanProblem:
    """What is wrong with a plan: a code, ids in order, a sentence."""

    code: str
    ids: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class PlanBounds:
    """What a plan may hold.

    Attributes:
        min_steps: 2, or 1 for one topic, the extractive model and a caller's plan (C20, C41).
        topics: ids of required topics; each must be served by a required step.
        tools: names of known tools.
    """

    min_steps: int
    max_steps: int
    topics: Sequence[str] = ()
    tools: Sequence[str] = ("search",)


def read_plan(value: object) -> Plan | list[PlanProblem]:
    """A plan from raw JSON; a `tool_hint` or `tool` of null counts as absent."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        value = {**fields, "steps": _without_nulls(fields.get("steps"))}
    try:
        return Plan.model_validate(value)
    except ValidationError as error:
        return [PlanProblem("shape", (), f"plan.{text}") for text in explain(error)[:_SHOWN]]


def _without_nulls(steps: object) -> object:
    if not isinstance(steps, list):
        return steps
    return [
        {k: v for k, v in cast("dict[str, Any]", step).items() if v is not None}
        if isinstance(step, dict)
        else step
        for step in cast("list[Any]", steps)
    ]


def graph_problems(steps: Sequence[Node]) -> list[PlanProblem]:
    """Whether ids and dependencies make a graph without cycles; ids are compared exactly."""
    if not steps:
        return [PlanProblem("empty_plan", (), "steps: expected at least one")]
    ids = [step.id for step in steps]
    problems: list[PlanProblem] = []
    if any(not name.strip() for name in ids):
        problems.append(PlanProblem("blank_id", (), "steps: every step needs an id"))
    twice = sorted({name for name in ids if ids.count(name) > 1 and name.strip()})
    if twice:
        problems.append(_problem("duplicate_id", twice, "ids must be unique, found twice"))
    missing = sorted({d for step in steps for d in step.depends_on if d not in ids})
    if missing:
        problems.append(_problem("missing_dependency", missing, "no step has the id"))
    own = sorted({step.id for step in steps if step.id in step.depends_on})
    if own:
        problems.append(_problem("self_dependency", own, "a step cannot depend on itself"))
    cycle = [] if twice else _in_cycles(steps)
    if cycle:
        problems.append(_problem("cycle", cycle, "these steps wait for each other"))
    return problems


def _problem(code: str, ids: Sequence[str], what: str) -> PlanProblem:
    return PlanProblem(code, tuple(ids), f"depends_on: {what}: {', '.join(ids[:_SHOWN])}")


def _in_cycles(steps: Sequence[Node]) -> list[str]:
    """Ids on cycles of two steps or more, sorted: what is left without ends and beginnings."""
    known = {step.id for step in steps}
    before = {
        step.id: {d for d in step.depends_on if d in known and d != step.id} for step in steps
    }
    left = _stripped(before)
    after: dict[str, set[str]] = {name: set() for name in left}
    for name in left:
        for dependency in before[name] & left:
            after[dependency].add(name)
    return sorted(_stripped(after))


def _stripped(edges: Mapping[str, set[str]]) -> set[str]:
    """Nodes that are left when those without edges into what is left are taken away."""
    left = set(edges)
    while True:
        free = {name for name in left if not edges[name] & left}
        if not free:
            return left
        left -= free


def plan_problems(plan: Plan, bounds: PlanBounds) -> list[PlanProblem]:
    """Everything that is wrong with a plan; [] if it may run."""
    problems = graph_problems(plan.steps)
    count = len(plan.steps)
    if not bounds.min_steps <= count <= bounds.max_steps:
        expected = f"{bounds.min_steps} to {bounds.max_steps}"
        text = f"steps: expected {expected} steps, found {count}"
        problems.append(PlanProblem("step_count", (), text))
    for step in plan.steps:
        problems += _step_problems(step, bounds)
    served = {name for step in plan.steps if step.required for name in step.topics}
    unserved = [name for name in bounds.topics if name not in served]
    if unserved:
        text = f"topics: no required step serves {', '.join(map(repr, unserved[:_SHOWN]))}"
        problems.append(PlanProblem("topic_not_served", tuple(unserved), text))
    return problems


def _step_problems(step: Step, bounds: PlanBounds) -> list[PlanProblem]:
    problems: list[PlanProblem] = []

    def add(code: str, text: str) -> None:
        problems.append(PlanProblem(code, (step.id,), f"step {step.id!r}: {text}"))

    if not step.goal.strip():
        add("blank_goal", "goal: must not be blank")
    if not step.accept.strip():
        add("blank_accept", "accept: expected a criterion that a third party can check")
    words = vague_words(step.accept)
    if words:
        add(
            "vague_accept",
            f"accept: nobody can check {', '.join(map(repr, words))};"
            " expected what must be there, how many, or which value",
        )
    unknown = [name for name in step.topics if bounds.topics and name not in bounds.topics]
    if unknown:
        add(
            "unknown_topic",
            f"topics: {', '.join(map(repr, unknown))}; there are"
            f" {', '.join(map(repr, bounds.topics))}",
        )
    if len(set(step.depends_on)) < len(step.depends_on):
        add("duplicate_dependency", "depends_on: names a step twice")
    problems += _tool_problems(step, bounds)
    return problems


def _tool_problems(step: Step, bounds: PlanBounds) -> list[PlanProblem]:
    named = {"tool_hint": step.tool_hint.strip(), "tool": step.tool or ""}
    known = ", ".join(bounds.tools)
    problems = [
        PlanProblem(
            "unknown_tool",
            (step.id,),
            f"step {step.id!r}: {field}: no tool {name!r}; there are {known}",
        )
        for field, name in named.items()
        if name and name not in bounds.tools
    ]
    if step.args and not step.tool:
        text = f"step {step.id!r}: args: belong to a tool, and none is named"
        problems.append(PlanProblem("args_without_tool", (step.id,), text))
    return problems
