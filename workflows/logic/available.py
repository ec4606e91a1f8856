"""What this version cannot honour yet is refused, never ignored (INTERFACE, "Task")."""

from workflows.contracts.task import Limits, Task

_PLAN_LIMITS = ("max_rounds", "max_replans", "max_local_retries")


def not_available(task: Task) -> list[str]:
    """One sentence for each wish of a task that this version cannot honour."""
    problems: list[str] = []
    if task.strategy == "plan":
        problems.append("strategy: plan is not available yet; expected react or direct")
    if task.plan is not None:
        problems.append("plan: a plan of the caller is not available yet; leave the field out")
    problems += _approvals(task)
    problems += _limits(task.limits)
    return problems


def _approvals(task: Task) -> list[str]:
    wishes = task.approvals
    asked = {
        "plan": wishes.plan,
        "report": wishes.report,
        "tools": wishes.tools == "all",
        "approvers": bool(wishes.approvers),
        "expires_after_seconds": wishes.expires_after_seconds is not None,
    }
    return [
        f"approvals.{name}: approvals are not available yet; leave the field out"
        for name, wanted in asked.items()
        if wanted
    ]


def _limits(limits: Limits) -> list[str]:
    problems = [
        f"limits.{name}: belongs to strategy plan, which is not available yet; leave the field out"
        for name in _PLAN_LIMITS
        if getattr(limits, name) is not None
    ]
    problems += [
        f"limits.{name}: react and direct have exactly 1; a plan is not available yet"
        for name in ("max_steps", "max_concurrency")
        if getattr(limits, name) not in (None, 1)
    ]
    if limits.max_cost is not None:
        problems.append("limits.max_cost: a budget of money is not available yet; use max_tokens")
    return problems
