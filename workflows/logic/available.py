"""What this version cannot honour yet is refused, never ignored (INTERFACE, "Task")."""

from workflows.contracts.task import Limits, Task

_PLAN_LIMITS = ("max_rounds", "max_replans", "max_local_retries")
_OTHERS = "react and direct"


def not_available(task: Task) -> list[str]:
    """One sentence for each wish of a task that this version cannot honour."""
    problems: list[str] = []
    planned = task.strategy in (None, "plan")
    if task.plan is not None and not planned:
        problems.append(f"plan: belongs to strategy plan, found strategy {task.strategy}")
    if task.approvals.plan and not planned:
        problems.append(f"approvals.plan: belongs to strategy plan, found strategy {task.strategy}")
    if task.approvals.questions and not planned:
        problems.append(
            f"approvals.questions: belongs to strategy plan, found strategy {task.strategy}"
        )
    problems += [] if planned else _limits(task.limits)
    return problems


def _limits(limits: Limits) -> list[str]:
    problems = [
        f"limits.{name}: belongs to strategy plan; leave the field out"
        for name in _PLAN_LIMITS
        if getattr(limits, name) is not None
    ]
    problems += [
        f"limits.{name}: {_OTHERS} have exactly 1"
        for name in ("max_steps", "max_concurrency")
        if getattr(limits, name) not in (None, 1)
    ]
    return problems
