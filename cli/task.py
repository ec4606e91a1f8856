"""From options to the task of a run, checked before anything is started."""

import dataclasses
import re
import secrets
from datetime import datetime
from typing import Any

from cli.options import TaskOptions
from workflows.contracts.task import Task
from workflows.logic.parse import InvalidTaskError, parse_task

_APPROVALS = ("plan", "report", "tools")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_SPAN = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([smhd]?)")
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
    approvals = _approvals(options)
    if approvals:
        task["approvals"] = approvals
    return parse_task([task])


def _approvals(options: TaskOptions) -> dict[str, Any]:
    names = [name.strip() for name in (options.approve or "").split(",") if name.strip()]
    unknown = [name for name in names if name not in _APPROVALS]
    if unknown or (options.approve is not None and not names):  # never nobody by mistake
        found_names = ", ".join(unknown) or "nothing"
        raise InvalidTaskError([f"--approve: expected plan, report, tools; found {found_names}"])
    found: dict[str, Any] = {name: True for name in names if name != "tools"}
    if "tools" in names:
        found["tools"] = "all"
    if options.ask:
        found["questions"] = True
    if options.approver:
        found["approvers"] = options.approver
    if options.expires_after is not None:
        found["expires_after_seconds"] = seconds_of(options.expires_after)
    return found


def seconds_of(text: str) -> float:
    """A span of time such as `90s`, `30m`, `12h` or `3d`, in seconds; a bare number is seconds.

    Raises:
        InvalidTaskError: it is none.
    """
    found = _SPAN.fullmatch(text.strip().lower())
    if found is None:
        raise InvalidTaskError(
            [f"--expires-after: expected a time such as 90s, 30m, 12h or 3d; found {text!r}"]
        )
    return float(found[1]) * _UNITS[found[2] or "s"]


def new_id(prefix: str = "run") -> str:
    """A fresh workflow id that sorts by time: `run-20261201-101500-3fa9`."""
    now = datetime.now().astimezone()
    return f"{prefix}-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
