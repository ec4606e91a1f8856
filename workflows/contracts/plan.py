"""Plan and Step: a structured object that code can check (INTERFACE "Task"; REQUIREMENTS 17-19)."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from workflows.contracts.base import JsonObject, Line, Name, Strict

StepStatus = Literal["PENDING", "RUNNING", "DONE", "FAILED", "BLOCKED", "SKIPPED"]
LongLine = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class Step(Strict):
    """One node of a plan; with `tool` and `args` it makes exactly that call."""

    id: Line
    goal: LongLine
    accept: LongLine
    depends_on: list[Line] = []
    expected_output: Annotated[str, StringConstraints(max_length=1000)] = ""
    topics: list[Line] = []
    tool_hint: Annotated[str, StringConstraints(max_length=200)] = ""
    tool: Name | None = None
    args: JsonObject = {}
    risk: Literal["low", "medium", "high"] = "low"
    required: bool = True


class Plan(Strict):
    """A DAG of steps."""

    steps: Annotated[list[Step], Field(min_length=1, max_length=100)]
