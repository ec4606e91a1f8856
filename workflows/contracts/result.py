"""The result of AgentRun (INTERFACE, "Result"): status and stop reason are separate fields."""

from typing import Literal

from workflows.contracts.base import NonNegative, Wire
from workflows.contracts.claim import ClaimCounts
from workflows.contracts.plan import StepStatus
from workflows.contracts.verdict import Verdict

Status = Literal[
    "succeeded", "partially_succeeded", "failed", "rejected", "expired", "stopped", "cancelled"
]
StopReason = Literal[
    "completed", "model_finished", "no_progress", "model_budget", "tool_budget", "token_budget",
    "cost_budget", "round_limit", "replan_limit", "step_failed", "timeout", "model_error",
    "protocol_error", "verifier_error", "plan_invalid", "plan_repeated", "permission",
    "invalid_input", "rejected", "expired", "stopped", "cancelled", "unanswered", "internal_error",
]  # fmt: skip
FailureCode = Literal[
    "FAILED_DATA", "FAILED_PERMISSION", "FAILED_TOOL", "FAILED_INPUT", "FAILED_PLAN",
    "ABORTED_BUDGET",
]  # fmt: skip

REPORT_BYTES = 64 * 1024
RESULT_BYTES = 256 * 1024
PASSAGES_PER_SOURCE = 6


class Failure(Wire):
    """One failure with its kind and a reason a person can act on (REQUIREMENTS 133)."""

    code: FailureCode
    step: str = ""
    reason: str


class EvidenceItem(Wire):
    """A source in the result; `passages` are the quotes that are cited, at most 6."""

    id: str
    source_id: str
    title: str = ""
    topics: list[str] = []
    empty: bool = False
    passages: list[str] = []
    retrieved_at: str = ""
    sha256: str = ""
    origin: str = ""
    date: str = ""


class StepResult(Wire):
    """A step in the result."""

    id: str
    goal: str
    status: StepStatus
    attempts: NonNegative = 1
    verdict: Verdict | None = None


class Usage(Wire):
    """What a run used; `model_calls` and `tool_calls` count acts, each reserved once."""

    model_calls: NonNegative = 0
    model_attempts: NonNegative = 0
    tool_calls: NonNegative = 0
    searches: NonNegative = 0
    prompt_tokens: NonNegative = 0
    completion_tokens: NonNegative = 0
    tokens_estimated: bool = False
    cost: str = "0"
    rounds: NonNegative = 0
    replans: NonNegative = 0
    active_seconds: float = 0.0
    waiting_seconds: float = 0.0


class Trajectory(Wire):
    """The trajectory record (REQUIREMENTS 201); `success` comes from a checker of code."""

    task_id: str
    success: bool
    steps_planned: NonNegative
    steps_completed: NonNegative
    tool_calls: NonNegative
    retries: NonNegative
    budget_exhausted: bool
    evidence_coverage: float
    unauthorized_attempts: NonNegative = 0
    human_approval_required: bool = False


class RunResult(Wire):
    """The result of AgentRun, at most 256 KiB."""

    status: Status
    stop_reason: StopReason
    degraded: bool = False
    strategy: str
    language: str
    model: str
    plan_version: NonNegative = 0
    report: str
    report_ref: str = ""
    coverage: float = 0.0
    missing_topics: list[str] = []
    partial_topics: list[str] = []
    claims: ClaimCounts = ClaimCounts()
    evidence: list[EvidenceItem] = []
    steps: list[StepResult] = []
    usage: Usage = Usage()
    failures: list[Failure] = []
    trajectory: Trajectory
    notes: list[str] = []
