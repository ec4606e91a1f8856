"""From options to the task of a run, checked before anything is started."""

import dataclasses
import secrets
from datetime import datetime
from typing import Any

from cli.options import TaskOptions
from workflows.contracts.task import Task
from workflows.logic.parse import InvalidTaskError, parse_task

_APPROVALS = ("plan", "report")
_LIMITS = (
    "max_model_calls", "max_tool_calls", "max_no_progress", "max_tokens", "max_cost",
    "max_active_seconds",
)  # fmt: skip


def task_of(options: TaskOptions, corpora: list[str]) -> Task:
    """The task that the options describe.

    Raises:
        InvalidTaskError: with every wrong field; the same check the workflow makes.
    """
    values = dataclasses.asdict(options)
    task: dict[str, Any] = {"goal": options.goal, "required_topics": options.topic}
    if corpora:
        task["corpora"] = corpora
    for name in ("strategy", "language"):
        if values[name] is not None:
            task[name] = values[name]
    limits = {name: values[name] for name in _LIMITS if values[name] is not None}
    if limits:
        task["limits"] = limits
    approvals = _approvals(options.approve)
    if approvals:
        task["approvals"] = approvals
    return parse_task([task])


def _approvals(text: str) -> dict[str, bool]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in _APPROVALS]
    if unknown:
        raise InvalidTaskError(
            [f"--approve: expected plan, report or plan,report; found {', '.join(unknown)}"]
        )
    return dict.fromkeys(names, True)


def new_id(prefix: str = "run") -> str:
    """A fresh workflow id that sorts by time: `run-20261201-101500-3fa9`."""
    now = datetime.now().astimezone()
    return f"{prefix}-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
