"""One situation a run can be in: a script of the world, and what someone does meanwhile."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from temporalio.client import WorkflowHandle

from activities.tools.registry import Tool
from tests.workflows.lab import Lab

Meddle = Callable[[Lab, WorkflowHandle[Any, Any]], Awaitable[None]]


async def leave(_: Lab, __: WorkflowHandle[Any, Any]) -> None:
    """Do not meddle."""


@dataclass
class Situation:
    """A script of the world and what someone does meanwhile."""

    replies: Any
    searches: Any = "corpus"
    task: dict[str, Any] = field(default_factory=dict[str, Any])
    limits: dict[str, Any] = field(default_factory=dict[str, Any])
    meddle: Meddle = leave
    flags: tuple[str, ...] = ()
    attempts: int = 1
    tools: Sequence[Tool] = ()
    variables: dict[str, str] = field(default_factory=dict[str, str])  # of the worker
    cut: bool = False  # the history is taken while the run goes on
