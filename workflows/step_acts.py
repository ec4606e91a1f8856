"""What every act inside of a step shares: its reservation, its failure, its observation.

A failure is an observation, never an exception (REQUIREMENTS 174, 175); what an act brought is
taken into the state and the trajectory at once.
"""

from typing import Any

from workflows import ports
from workflows.carry import act_of
from workflows.contracts.acts import SearchResult
from workflows.contracts.plan import Step
from workflows.contracts.plan_acts import ToolInput, Upstream
from workflows.contracts.plan_state import StepState
from workflows.contracts.result import Failure
from workflows.engine import ActFailedError, Engine
from workflows.logic import outcome, step_ledger
from workflows.logic.step_rules import calls_left
from workflows.model_acts import room_of
from workflows.trajectory import record

_FAILURES_KEPT = 20


class StepActs:
    """The acts of one step; every change is made in `StepState` at once."""

    def __init__(self, engine: Engine, step: Step) -> None:
        self.engine = engine
        self.step = step
        self.state: StepState = engine.state.dag.steps[step.id]

    def summary(self, what: str) -> str:
        """A line of the timeline: step, attempt, what is done."""
        return f"{self.step.id} attempt {self.state.attempts}: {what}"

    def upstream(self) -> list[Upstream]:
        """Records of the steps that this one depends on (REQUIREMENTS 48; C18)."""
        steps = self.engine.state.dag.steps
        return [
            Upstream(
                step=name,
                ref=steps[name].best_ref,
                page_ref=steps[name].page_ref,
                page_numbers=steps[name].page_numbers,
            )
            for name in self.step.depends_on
            if name in steps and steps[name].best_ref
        ]

    def calls_left(self) -> int:
        """Tool calls the step may still make."""
        return calls_left(self.state, self.engine.task, room_of(self.engine))

    def reserve(self) -> None:
        """Count a tool call before it starts (REQUIREMENTS 118)."""
        self.state.tool_calls += 1
        self.engine.state.usage.tool_calls += 1

    def call(self, tool: str, arguments: dict[str, Any]) -> ToolInput:
        """The call of a tool as this step makes it."""
        return ToolInput(
            **act_of(self.engine),
            step=self.step.id,
            tool=tool,
            args=arguments,
            ordinal=self.state.attempts,
            page_ref=self.state.page_ref,
            page_numbers=self.state.page_numbers,
            upstream=self.upstream(),
        )

    async def perform(self, port: ports.Port, inp: Any, summary: str) -> SearchResult:
        """Perform an act; what failed for good is its result."""
        try:
            result: SearchResult = await self.engine.perform(port, inp, summary)
        except ActFailedError as failed:
            note = outcome.error_text(failed.error_type, failed.message)
            result = SearchResult(ok=False, error="tool_error", note=note)
        if not result.ok:
            reason = f"{summary}: {result.note or result.error}"[:500]
            failures = self.engine.state.failures
            failures.append(Failure(code="FAILED_TOOL", step=self.step.id, reason=reason))
            del failures[:-_FAILURES_KEPT]
        return result

    def accepted(self, query: str, result: SearchResult, tool: str) -> None:
        """Take in what an act brought."""
        step_ledger.accept(self.engine.state, self.state, query, result)
        self.observed(tool, query)

    def refused(self, reason: str) -> None:
        """An act that was not carried out, and why: the next decision sees it."""
        result = SearchResult(ok=False, error="validation", note=reason)
        step_ledger.accept(self.engine.state, self.state, reason[:80], result)
        self.observed("refused", reason[:80])

    def observed(self, tool: str, arguments: str) -> None:
        """Record the newest observation in the trajectory."""
        seen = self.state.observation
        if seen is not None:
            record(
                self.engine,
                "tool" if seen.ok else "error",
                self.step.id,
                tool=tool,
                arguments=arguments[:200],
                ok=seen.ok,
                error=seen.error,
                numbers=seen.numbers,
                new_sources=seen.new_sources,
            )
