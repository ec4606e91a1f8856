"""States of a graph's steps: what is ready, what is blocked, repair and revision.

FAILED is what failed itself, BLOCKED what cannot run because of it; independent branches go on
(REQUIREMENTS 43-47; C13). Nothing here recurses, so that a chain of hundreds of steps is fine.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from workflows.contracts.plan import StepStatus
from workflows.logic.nodes import Node
from workflows.logic.plan_rules import graph_problems

_OVER: Final = ("DONE", "SKIPPED")
_BROKEN: Final = ("FAILED", "BLOCKED")


Statuses = Mapping[str, StepStatus]


def ready(steps: Sequence[Node], statuses: Statuses, limit: int | None = None) -> list[str]:
    """Steps that are PENDING with every dependency done or skipped, in listing order.

    Args:
        steps: of the plan.
        statuses: of each step.
        limit: how many may run at a time, those that run included; None for any number.
    """
    found = [
        step.id
        for step in steps
        if statuses[step.id] == "PENDING" and all(statuses[d] in _OVER for d in step.depends_on)
    ]
    if limit is None:
        return found
    running = sum(status == "RUNNING" for status in statuses.values())
    return found[: max(0, limit - running)]


def blocked_by(steps: Sequence[Node], statuses: Statuses) -> dict[str, list[str]]:
    """For each step that cannot run, the failed steps it waits for, transitively, in plan order."""
    order = [step.id for step in steps]
    causes: dict[str, set[str]] = {name: set() for name in order}
    for step in _by_level(steps):
        for dependency in step.depends_on:
            if statuses[dependency] == "FAILED":
                causes[step.id].add(dependency)
            if statuses[dependency] not in _OVER:
                causes[step.id] |= causes[dependency]
    return {
        name: [cause for cause in order if cause in causes[name]]
        for name in order
        if causes[name] and statuses[name] in ("PENDING", "BLOCKED")
    }


def propagate(steps: Sequence[Node], statuses: Statuses) -> dict[str, StepStatus]:
    """Statuses with BLOCKED where a failed step is waited for, PENDING where none is any more."""
    blocked = blocked_by(steps, statuses)
    settled: dict[str, StepStatus] = dict(statuses)
    for step in steps:
        if step.id in blocked:
            settled[step.id] = "BLOCKED"
        elif settled[step.id] == "BLOCKED":
            settled[step.id] = "PENDING"
    return settled


class RefusedError(ValueError):
    """An operation that the state of a step does not allow; `code` names the rule."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def repaired(steps: Sequence[Node], statuses: Statuses, name: str) -> dict[str, StepStatus]:
    """Statuses with a failed step to run again; what waited for it is unblocked, DONE stays (47).

    Raises:
        RefusedError: the step is not FAILED; a blocked one never ran, its cause is repaired.
    """
    if statuses.get(name) != "FAILED":
        status = statuses.get(name, "unknown")
        raise RefusedError(f"state_{status}", f"step {name!r} is {status}, expected FAILED")
    return propagate(steps, {**statuses, name: "PENDING"})


def revised(old: Sequence[Node], new: Sequence[Node], statuses: Statuses) -> dict[str, StepStatus]:
    """Statuses for a revised plan: finished steps stay as they are (REQUIREMENTS 38).

    Raises:
        RefusedError: a step that is done is gone or changed, or the new plan is no graph.
    """
    problems = graph_problems(new)
    if problems:
        raise RefusedError(problems[0].code, problems[0].text)
    now = {step.id: step for step in new}
    for step in old:
        if statuses[step.id] not in ("DONE", "RUNNING"):
            continue
        if now.get(step.id) != step:
            what = "changed" if step.id in now else "removed"
            text = f"step {step.id!r} is {statuses[step.id]} and cannot be {what}"
            raise RefusedError(f"completed_step_{what}", text)
    kept: dict[str, StepStatus] = {
        step.id: statuses[step.id]
        if statuses.get(step.id) in ("DONE", "RUNNING", "SKIPPED")
        else "PENDING"
        for step in new
    }
    return propagate(new, kept)


def levels(steps: Sequence[Node]) -> dict[str, int]:
    """Length of the longest chain before each step; steps on a cycle are left out."""
    found: dict[str, int] = {}
    for step in _by_level(steps):
        found[step.id] = 1 + max((found[d] for d in step.depends_on), default=-1)
    return {step.id: found[step.id] for step in steps if step.id in found}


def is_at_rest(steps: Sequence[Node], statuses: Statuses) -> bool:
    """Whether nothing is ready or running."""
    return "RUNNING" not in statuses.values() and not ready(steps, statuses)


def _by_level(steps: Sequence[Node]) -> list[Node]:
    """Steps so that each stands behind its dependencies, listing order within a level."""
    placed: dict[str, Node] = {}
    left = list(steps)
    while left:
        free = [step for step in left if all(d in placed for d in step.depends_on)]
        if not free:
            break
        placed |= {step.id: step for step in free}
        left = [step for step in left if step.id not in placed]
    return list(placed.values())
