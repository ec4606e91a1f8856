"""Verification of a written result: support calls side by side, then the goal call (layers 5, 6).

A claim whose judge gives no verdict stays unverified and is not printed; no verdict at all is never
a pass (DESIGN, "Verification"; C3, C57). One retry a call, counted.
"""

from collections.abc import Callable
from typing import Any

from workflows import ports
from workflows.carry import act_of
from workflows.contracts.claim import ClaimOutcome
from workflows.contracts.plan_acts import (
    GoalInput,
    GoalResult,
    SupportInput,
    SupportResult,
    WriteResult,
)
from workflows.contracts.result import StopReason
from workflows.contracts.verdict import Verdict
from workflows.engine import Engine
from workflows.model_acts import ask_judge
from workflows.ports import Port
from workflows.side_by_side import run_all
from workflows.step_run import StepRun

_STANDING = ("supported", "qualified")
UNSUPPORTED_SCORE = 0.2


class Verification:
    """The judge's part of one round."""

    def __init__(self, engine: Engine, run: StepRun, written: WriteResult) -> None:
        self.engine = engine
        self.run = run
        self.record_ref = written.record_ref
        self.outcomes: list[ClaimOutcome] = list(written.outcomes)
        self.limitations = [""] * len(self.outcomes)
        self.reasons = [""] * len(self.outcomes)
        self.failed: list[str] = []  # judge calls without a verdict
        self.exhausted: StopReason | None = None  # the budget that forbade one

    async def verdict(self) -> Verdict | None:
        """The verdict on the step; None where there is none.

        Raises:
            RunEnded: the run was ended meanwhile.
        """
        await self._support()
        standing = [o for o in self.outcomes if o in _STANDING]
        goal = await self._goal(judge=bool(standing))
        if goal is not None:
            state = self.run.state
            self.record_ref, state.claims = goal.record_ref, goal.counts
        if standing:
            return goal.verdict if goal is not None else None
        if self.failed:
            return None
        why = "; ".join(reason for reason in self.reasons if reason)[:300]
        return Verdict(
            passed=False,
            score=UNSUPPORTED_SCORE,
            layer="evidence",
            reason=f"no claim is supported by its passages: {why}" if why else "no claim stands",
            scope="local",
        )

    async def against(self) -> Verdict | None:
        """The goal call alone: a finished result against another criterion.

        Raises:
            RunEnded: the run was ended meanwhile.
        """
        result = await self._goal(judge=True)
        if result is None:
            return None
        self.record_ref, self.run.state.claims = result.record_ref, result.counts
        return result.verdict

    async def _support(self) -> None:
        """One claim a call, side by side; a judge saw batches worse (DESIGN)."""
        pending = [i for i, outcome in enumerate(self.outcomes) if outcome == "unverified"]
        self.engine.needs[self.run.step.id] = len(pending) + 1
        await run_all(self.engine, [self._supported(index) for index in pending])

    async def _supported(self, index: int) -> None:
        def argument(call: int) -> SupportInput:
            return SupportInput(
                **act_of(self.engine),
                call=call,
                record_ref=self.record_ref,
                claims=[index],
                topics=self.run.topics,
                page_ref=self.run.state.page_ref,
                page_numbers=self.run.state.page_numbers,
                upstream=self.run.upstream(),
            )

        number, of = index + 1, len(self.outcomes)
        summary = f"verify {self.run.step.id}: support {number} of {of}"
        port = ports.support(self.engine.task.settings)
        result: SupportResult | None = await self._asked(port, argument, summary)
        if result is not None and result.outcomes:
            self.outcomes[index] = result.outcomes[0]
            self.limitations[index] = (result.limitations or [""])[0]
            self.reasons[index] = (result.reasons or [""])[0]

    async def _goal(self, *, judge: bool) -> GoalResult | None:
        step = self.run.step

        def argument(call: int) -> GoalInput:
            return GoalInput(
                **act_of(self.engine),
                call=call,
                record_ref=self.record_ref,
                goal=step.goal,
                accept=step.accept,
                outcomes=self.outcomes,
                limitations=self.limitations,
                reasons=self.reasons,
                judge=judge,
            )

        port = ports.goal(self.engine.task.settings)
        self.engine.needs[step.id] = int(judge)
        if not judge:
            return await self.engine.perform(port, argument(0), f"verify {step.id}: record")
        result = await self._asked(port, argument, f"verify {step.id}: goal")
        if result is None:  # the record still holds what the support calls said
            judge = False
            return await self.engine.perform(port, argument(0), f"verify {step.id}: record")
        return result

    async def _asked(self, port: Port, argument: Callable[[int], Any], summary: str) -> Any:
        """Ask a judge; None if there is no verdict, which is kept as a failure."""
        result, problem, exhausted = await ask_judge(self.engine, port, argument, summary)
        if result is None:
            self.exhausted = self.exhausted or exhausted
            self.failed.append(f"{summary}: {problem}"[:300])
        return result
