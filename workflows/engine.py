"""What every loop of a run uses: acts with budgets reserved before, the clock, events, ending.

The engine performs; the rules in `logic` decide. An act is reserved before it starts and settled
after it (DESIGN, "Budgets"); what ends a run first sets the stop reason, and whatever is in flight
then is cancelled and its late result dropped (REQUIREMENTS 118, 127).
"""

import asyncio
from decimal import Decimal
from typing import Any, cast

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

from workflows.contracts.acts import FailedAct, TokenUsage
from workflows.contracts.result import StopReason
from workflows.contracts.state import EVENTS_KEPT, EVENTS_MOST, RunState
from workflows.contracts.task import ResolvedTask
from workflows.logic.clock import active_delta, closing_reserve, execution_deadline
from workflows.logic.ledger import missing_topics
from workflows.ports import Port
from workflows.visible import show_details, show_phase

_SHORTEST_SLEEP = 0.05  # seconds; a deadline that rounding put a hair away is not slept for twice


class RunEnded(Exception):
    """The run closes now; `state.stop_reason` says why."""


class ActFailedError(Exception):
    """An act failed for good, after every attempt its policy allows."""

    def __init__(self, error_type: str, message: str, usage: TokenUsage | None = None) -> None:
        self.error_type = error_type
        self.message = message
        self.usage = usage  # what the failure said it used; its tokens are settled already
        super().__init__(message)


class Engine:
    """One run's state and the means to change it."""

    def __init__(self, state: RunState) -> None:
        self.state = state
        self._in_flight: list[float] = []  # start-to-close seconds of each act
        self._watch: asyncio.Task[None] | None = None
        self.elapsed = 0.0  # seconds of the act that was performed last
        self.needs: dict[str, int] = {}  # model calls that each step in flight still needs
        self.spill_at = 0  # events from which a spill that failed is tried again
        self.reserved_calls = 0  # model calls in flight
        self.reserved_cost = Decimal(0)  # US dollars reserved for them
        self.waits = 0  # coroutines that wait for people

    @property
    def task(self) -> ResolvedTask:
        """The resolved task; there is one as soon as `prepare` has answered."""
        if self.state.prepared is None:
            raise RuntimeError("the task is not resolved yet")
        return self.state.prepared.task

    @property
    def busy(self) -> bool:
        """Whether an act is in flight."""
        return bool(self._in_flight)

    def missing(self) -> list[int]:
        """Indexes of topics not covered yet."""
        return missing_topics(self.state, len(self.task.topics))

    def end(self, reason: StopReason, detail: str = "") -> None:
        """End the run; the first reason stays."""
        if self.state.stop_reason is None:
            self.state.stop_reason = reason
            self.state.stop_detail = detail[:500]

    def end_instead(self, reason: StopReason, detail: str = "") -> None:
        """A person's word on the finished report takes the place of why the work ended."""
        self.state.stop_reason, self.state.stop_detail = reason, detail[:500]

    def enter(self, phase: Any) -> None:
        """Change the phase and show it."""
        self.state.phase = phase
        show_phase(self.state)
        show_details(self.state)

    def event(self, name: str, **fields: Any) -> None:
        """Record an event with its sequence number; the newest stay (REQUIREMENTS 195)."""
        self.state.event_count += 1
        self.state.events.append({"seq": self.state.event_count, "event": name, **fields})
        most = EVENTS_KEPT if self.state.dag.plan is None else EVENTS_MOST
        del self.state.events[:-most]

    def tick(self) -> None:
        """Charge active time since the last tick (DESIGN, "Time")."""
        now = workflow.now().timestamp()
        delta = active_delta(now, self.state.last_tick, max(self._in_flight, default=0.0))
        usage = self.state.usage
        usage.active_seconds = round(usage.active_seconds + delta, 3)
        if self.waits and not self._in_flight:
            waited = max(0.0, now - self.state.last_tick)
            usage.waiting_seconds = round(usage.waiting_seconds + waited, 3)
        self.state.last_tick = now

    async def perform(self, port: Port, argument: Any, summary: str) -> Any:
        """Run one act to its end.

        Raises:
            RunEnded: the run was ended meanwhile; the act is cancelled, its result dropped.
            ActFailedError: every attempt failed.
        """
        self._check_ended()
        self.tick()
        started = workflow.now().timestamp()
        handle = port.start(argument, summary)
        self._in_flight.append(port.seconds)
        # No `finally`: an evicted run is closed outside the event loop, where nothing may be asked.
        try:
            await workflow.wait_condition(
                lambda: handle.done() or self.state.stop_reason is not None
            )
            if not handle.done():
                await self._abandon(handle)
                self._landed(port)
                raise RunEnded
            result = await handle
        except asyncio.CancelledError:
            await self._abandon(handle)
            self._landed(port)
            raise
        except ActivityError as error:
            self._landed(port)
            raise self._failed(error) from None
        self._landed(port)
        self.elapsed = round(workflow.now().timestamp() - started, 3)
        return result

    def _landed(self, port: Port) -> None:
        self.tick()
        self._in_flight.remove(port.seconds)

    def settle(self, usage: TokenUsage) -> None:
        """Charge a model act: its tokens, and its reservation again for each lost attempt."""
        total = self.state.usage
        attempts = max(1, usage.attempt)
        total.model_attempts += attempts
        total.prompt_tokens += usage.prompt_tokens * attempts
        total.completion_tokens += usage.completion_tokens
        total.tokens_estimated = total.tokens_estimated or usage.estimated or attempts > 1

    def settle_lost(self) -> None:
        """Charge a model act that was cut off: what a call took so far on average, estimated."""
        calls = max(1, self.state.usage.model_calls - 1)
        self.settle(
            TokenUsage(prompt_tokens=self.state.usage.prompt_tokens // calls, estimated=True)
        )

    def watch_deadline(self) -> None:
        """From now on the run ends as `timeout` when its active time is used up.

        A plan stops its steps before, so that what they found can still be verified.
        """
        self._watch = asyncio.create_task(self._watch_deadline())

    def stop_watching(self) -> None:
        """No deadline any more: the run closes or continues as new."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    async def _watch_deadline(self) -> None:
        info = workflow.info()
        wall = execution_deadline(
            info.workflow_start_time.timestamp(),
            info.execution_timeout.total_seconds() if info.execution_timeout else None,
        )
        limit = self.task.limits.max_active_seconds
        dag, planned = self.state.dag, self.task.strategy == "plan"
        while self.state.stop_reason is None:
            if self._only_people():
                # No timer runs while only people are waited for: a week costs what a second does.
                await workflow.wait_condition(lambda: not self._only_people())
                continue
            remaining = limit - self.state.usage.active_seconds
            detail = f"active time is limited to {limit:g} seconds"
            if wall is not None and wall - workflow.now().timestamp() < remaining:
                remaining = wall - workflow.now().timestamp()
                detail = "the server's execution timeout is near"
            if planned and dag.ending is None:
                remaining -= closing_reserve(limit)
            if remaining <= 0 and planned and dag.ending is None:
                dag.ending, dag.ending_detail = "timeout", detail
                continue
            if remaining <= 0:
                self.end("timeout", detail)
                return
            try:
                await workflow.wait_condition(
                    self._only_people,
                    timeout=max(remaining, _SHORTEST_SLEEP),
                    timeout_summary="Deadline of the run",
                )
            except TimeoutError:
                self.tick()

    def _only_people(self) -> bool:
        return self.waits > 0 and not self._in_flight

    def _check_ended(self) -> None:
        if self.state.stop_reason is not None:
            raise RunEnded

    async def _abandon(self, handle: Any) -> None:
        if handle.done():
            return
        handle.cancel()
        try:
            await handle
        except (ActivityError, asyncio.CancelledError):
            workflow.logger.debug("an act was cut off")

    def _failed(self, error: ActivityError) -> ActFailedError:
        cause = error.cause
        if isinstance(cause, ApplicationError):
            accounts = cast(
                "list[dict[str, Any]]", [d for d in cause.details if isinstance(d, dict)]
            )
            usage = FailedAct.model_validate(accounts[0]).usage if accounts else None
            if usage is not None:
                self.settle(usage)
            return ActFailedError(cause.type or "", cause.message, usage)
        return ActFailedError(type(cause).__name__, str(cause or error))
