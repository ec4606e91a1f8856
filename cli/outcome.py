"""How a run ended, as exit codes and as one JSON document."""

import dataclasses
from typing import Any

OK = 0
OTHER = 1
USAGE = 2
PARTIAL = 3  # only with --strict (C39)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The end of one run.

    Attributes:
        result: the result of `AgentRun` (INTERFACE, "Result"); None where the execution left none.
        execution: how the execution ended: `completed`, `canceled`, `failed`, `terminated`,
            `timed_out`.
        error: why there is no result, in a sentence; "" where there is one.
        invalid: whether the run refused its input.
    """

    workflow_id: str
    execution: str
    result: dict[str, Any] | None = None
    error: str = ""
    invalid: bool = False

    @property
    def status(self) -> str:
        """The run's own status; `failed` where an execution broke off without one."""
        if self.result is not None:
            return str(self.result.get("status", "failed"))
        return "cancelled" if self.execution == "canceled" else "failed"

    def document(self) -> dict[str, Any]:
        """The result, or what is known where the execution left none."""
        if self.result is not None:
            return self.result
        return {
            "workflow_id": self.workflow_id,
            "status": self.status,
            "execution": self.execution,
            "error": self.error,
        }


def exit_code(outcome: Outcome, *, strict: bool = False) -> int:
    """0 succeeded or partly, 1 any other status, 2 a refused input, 3 partly with `strict`.

    REQUIREMENTS 231, C39.
    """
    if outcome.invalid:
        return USAGE
    if outcome.status == "succeeded":
        return OK
    if outcome.status == "partially_succeeded":
        return PARTIAL if strict else OK
    return OTHER
