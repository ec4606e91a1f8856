"""Plan and Step: a structured object that code can check (INTERFACE "Task"; REQUIREMENTS 17-19)."""

import json
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from workflows.contracts.base import JsonObject, Line, Name, Strict

StepStatus = Literal["PENDING", "RUNNING", "DONE", "FAILED", "BLOCKED", "SKIPPED"]
LongLine = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
# A run's state holds its plan, and every act and every fresh history carries that state.
ARGUMENT_BYTES: Final = 16 * 1024  # of one call; more than that nobody can be shown
PLAN_BYTES: Final = 128 * 1024


def json_bytes(value: Any) -> int:
    """Length of a value as compact JSON in UTF-8; 1e15 counts as it will be written."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "replace"))


def _showable(value: JsonObject) -> JsonObject:
    size = json_bytes(value)
    if size > ARGUMENT_BYTES:
        raise ValueError(f"expected at most {ARGUMENT_BYTES} bytes of JSON, found {size}")
    return value


# One wrong name is told, not each of a million.
Names = Annotated[list[Line], Field(max_length=100, fail_fast=True)]


class Step(Strict):
    """One node of a plan; with `tool` and `args` it makes exactly that call."""

    id: Line
    goal: LongLine
    accept: LongLine
    depends_on: Names = []
    expected_output: Annotated[str, StringConstraints(max_length=1000)] = ""
    topics: Names = []
    tool_hint: Annotated[str, StringConstraints(max_length=200)] = ""
    tool: Name | None = None
    args: Annotated[JsonObject, AfterValidator(_showable)] = {}
    risk: Literal["low", "medium", "high"] = "low"
    required: bool = True


class Plan(Strict):
    """A DAG of steps."""

    steps: Annotated[list[Step], Field(min_length=1, max_length=100)]

    @model_validator(mode="after")
    def _carriable(self) -> Self:
        size = json_bytes(self.model_dump(mode="json", exclude_defaults=True))
        if size > PLAN_BYTES:
            raise ValueError(f"expected at most {PLAN_BYTES} bytes of JSON, found {size}")
        return self
