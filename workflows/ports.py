"""The only place that schedules activities: queue, timeouts, retry policy, summary.

One owner of retries: Temporal. Every policy is bounded and lists `PayloadsTooLarge` as
non-retryable, since an oversize result would run a paid call again and again (FIELD-NOTES,
"Payload size"). There is no schedule-to-close timeout: an outage of the workers costs a run
nothing beyond the act it interrupted.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityCancellationType, ActivityHandle

from workflows.contracts import names
from workflows.contracts.acts import AnswerResult, DecideResult, DraftResult, SearchResult
from workflows.contracts.base import cut_bytes
from workflows.contracts.corpus import IndexResult
from workflows.contracts.plan_acts import (
    CallChecked,
    ConflictResult,
    GatherResult,
    GoalResult,
    LookResult,
    PlanResult,
    SpillResult,
    StepActionResult,
    SupportResult,
    TopicResult,
    WriteResult,
)
from workflows.contracts.result import RunResult
from workflows.contracts.task import Prepared, Settings

SUMMARY_BYTES: Final = 200
_NEVER_AGAIN: Final = [names.PAYLOADS_TOO_LARGE, names.EVIDENCE_LOST, names.INVALID_TASK]


@dataclass(frozen=True)
class Port:
    """How one kind of activity is scheduled; times are in seconds."""

    activity: str
    queue: str
    result: type[Any]
    seconds: float
    attempts: int
    heartbeat: float | None = None
    cancellation: ActivityCancellationType = ActivityCancellationType.TRY_CANCEL

    def start(self, argument: Any, summary: str) -> ActivityHandle[Any]:
        """Schedule it; `summary` is plain text and makes the Web UI's timeline a story."""
        return workflow.start_activity(
            self.activity,
            argument,
            task_queue=self.queue,
            result_type=self.result,
            start_to_close_timeout=timedelta(seconds=self.seconds),
            heartbeat_timeout=timedelta(seconds=self.heartbeat) if self.heartbeat else None,
            retry_policy=RetryPolicy(
                initial_interval=timedelta(seconds=1),
                maximum_interval=timedelta(seconds=60),
                maximum_attempts=self.attempts,
                non_retryable_error_types=_NEVER_AGAIN,
            ),
            cancellation_type=self.cancellation,
            summary=cut_bytes(summary, SUMMARY_BYTES),
        )


def prepare() -> Port:
    """Resolve the task; runs before any setting is known, so its numbers are constants.

    Short and without heartbeats, as `close` is: a killed worker costs its start-to-close timeout.
    """
    return Port(names.PREPARE, names.QUEUE, Prepared, seconds=15, attempts=5)


def decide(settings: Settings) -> Port:
    """One model decision; paid, so it is cancelled for sure before the run goes on."""
    return _model(names.DECIDE, DecideResult, settings)


def answer(settings: Settings) -> Port:
    """One written answer."""
    return _model(names.ANSWER, AnswerResult, settings)


def plan(settings: Settings) -> Port:
    """One plan of the planner."""
    return _model(names.PLAN, PlanResult, settings)


def step_action(settings: Settings) -> Port:
    """One decision inside of a step."""
    return _model(names.STEP_ACTION, StepActionResult, settings)


def write(settings: Settings) -> Port:
    """The written result of a step, checked by code."""
    return _model(names.WRITE, WriteResult, settings)


def support(settings: Settings) -> Port:
    """One support call."""
    return _model(names.SUPPORT, SupportResult, settings)


def goal(settings: Settings) -> Port:
    """One goal call, and the record with its outcomes."""
    return _model(names.GOAL, GoalResult, settings)


def topic(settings: Settings) -> Port:
    """One topic call."""
    return _model(names.TOPIC, TopicResult, settings)


def conflict(settings: Settings) -> Port:
    """One comparison of findings."""
    return _model(names.CONFLICT, ConflictResult, settings)


def search(settings: Settings) -> Port:
    """One search; read-only, so a cancelled one may end by itself."""
    return _tool(names.SEARCH, settings)


def read(settings: Settings) -> Port:
    """More of a source that a search found."""
    return _tool(names.READ, settings)


def look(settings: Settings) -> Port:
    """A look at what the collections hold; no tool call of the run."""
    return _tool(names.LOOK, settings, LookResult)


def tool(settings: Settings, seconds: float, *, reads: bool) -> Port:
    """One call of a tool; one with effects is never tried twice (DESIGN, "Failure")."""
    port = _tool(names.TOOL, settings)
    longest = min(seconds, settings.search_seconds)
    return replace(port, seconds=longest, attempts=port.attempts if reads else 1)


def check_call(settings: Settings) -> Port:
    """Whether a call may be shown to a person; no tool runs."""
    return _tool(names.CHECK_CALL, settings, CallChecked)


def retask() -> Port:
    """The task with a goal that a person changed."""
    return Port(names.RETASK, names.QUEUE, Prepared, seconds=15, attempts=5)


def draft() -> Port:
    """Compose the report for a person to release."""
    return Port(names.DRAFT, names.QUEUE, DraftResult, seconds=20, attempts=5)


def gather() -> Port:
    """The findings of the records that make the report; no model call."""
    return Port(names.GATHER, names.QUEUE, GatherResult, seconds=20, attempts=5)


def spill() -> Port:
    """Keep the older part of the trajectory in the store; the run tries again later by itself."""
    return Port(names.SPILL, names.QUEUE, SpillResult, seconds=15, attempts=2)


def close() -> Port:
    """Compose and keep the report from recorded state; no model call."""
    return Port(names.CLOSE, names.QUEUE, RunResult, seconds=20, attempts=5)


def index() -> Port:
    """Build a collection; long, with counts as heartbeats."""
    return Port(
        names.INDEX,
        names.TOOLS_QUEUE,
        IndexResult,
        seconds=6 * 3600,
        attempts=5,
        heartbeat=10,
        cancellation=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    )


def _tool(activity: str, settings: Settings, result: type[Any] = SearchResult) -> Port:
    return Port(
        activity,
        names.TOOLS_QUEUE,
        result,
        seconds=settings.search_seconds,
        attempts=settings.attempts,
        heartbeat=settings.heartbeat_seconds,
    )


def _model(activity: str, result: type[Any], settings: Settings) -> Port:
    return Port(
        activity,
        names.MODEL_QUEUE,
        result,
        seconds=settings.model_seconds,
        attempts=settings.attempts,
        heartbeat=settings.heartbeat_seconds,
        cancellation=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    )
