"""One round of one step: execute, write, verify, and what its verdict leads to.

What every verdict leads to is one pure rule (`logic.routing`); what it says of the whole run waits
until nothing is ready or running (C13, C53).
"""

from temporalio import workflow

from workflows.contracts.plan import Step
from workflows.contracts.plan_acts import WriteResult
from workflows.contracts.result import Failure, StopReason
from workflows.contracts.verdict import Verdict
from workflows.engine import Engine
from workflows.logic import plan_run, routing
from workflows.logic.layers import insufficient_verdict
from workflows.logic.plan_run import steps_of
from workflows.logic.verdicts import escalated
from workflows.model_acts import ExhaustedError, MalformedError
from workflows.step_run import StepRun
from workflows.trajectory import record
from workflows.verify_run import Verification

_REASON = 300
_FAILURES_KEPT = 20


class Round:
    """One execute-and-verify pass of one step, and what its verdict leads to."""

    def __init__(self, engine: Engine, step: Step) -> None:
        self.engine = engine
        self.dag = engine.state.dag
        self.step = step
        self.state = self.dag.steps[step.id]
        self.judge_failed: list[str] = []
        self.exhausted: StopReason | None = None  # the budget that left it without a verdict

    async def run(self) -> None:
        """Do it; whatever happens in it ends in the step's state.

        Raises:
            RunEnded: the run was ended meanwhile.
        """
        try:
            verdict = await self._verdict()
        except ExhaustedError as error:
            self.state.status = "PENDING"
            self.state.reason = f"{error.stop_reason} before it could be written"
            if self.dag.ending is None:
                self.dag.ending = error.stop_reason
            return
        except MalformedError as error:
            reason = f"the reply could not be used: {error}"[:_REASON]
            verdict = Verdict(
                passed=False, score=0.0, layer="structure", reason=reason, scope="local"
            )
        self._routed(verdict)

    async def _verdict(self) -> Verdict | None:
        """Execute, write and verify; a reused result is only verified."""
        run = StepRun(self.engine, self.step)
        if self.state.reused and self.state.attempts == 1:
            reused = await self._reverified(run)
            if reused is not None and reused.passed:
                return reused
            self.state.best_ref, self.state.best_score = "", -1.0
        written = await run.written()
        if isinstance(written, Verdict):
            return written
        if written.insufficient:
            return self._kept(insufficient_verdict(written.insufficient), written.record_ref)
        if written.verdict is not None:
            return self._kept(written.verdict, written.record_ref)
        check = Verification(self.engine, run, written)
        verdict = await check.verdict()
        self.judge_failed, self.exhausted = check.failed, check.exhausted
        return self._kept(verdict, check.record_ref)

    async def _reverified(self, run: StepRun) -> Verdict | None:
        """A finished result against its new criterion (REQUIREMENTS 37)."""
        kept = self.dag.kept[self.state.reused]
        written = WriteResult(record_ref=kept.ref)
        check = Verification(self.engine, run, written)
        verdict = await check.against()
        self.judge_failed = check.failed
        return self._kept(verdict, check.record_ref)

    def _kept(self, verdict: Verdict | None, record_ref: str) -> Verdict | None:
        """The best-scored version is kept (DESIGN, "Verification")."""
        score = verdict.score if verdict is not None else 0.0
        if record_ref and score > self.state.best_score:
            self.state.best_ref, self.state.best_score = record_ref, score
        return verdict

    def _routed(self, verdict: Verdict | None) -> None:
        limits = self.engine.task.limits
        if verdict is not None:
            verdict = escalated(verdict, self.state.local_failures, limits.max_local_retries)
        self.state.verdict = verdict
        others = [s for s in steps_of(self.dag) if s.id != self.step.id and s.required]
        rest_done = all(self.dag.steps[s.id].status in ("DONE", "SKIPPED") for s in others)
        decision = routing.route(
            routing.RouteInput(
                rounds=self.dag.rounds,
                replans=self.dag.replans,
                max_rounds=limits.max_rounds,
                max_replans=limits.max_replans,
                verdict=verdict.model_dump() if verdict is not None else None,
                last=rest_done,
                all_passed=rest_done and verdict is not None and verdict.passed,
            )
        )
        self._told(verdict, decision)
        if verdict is not None and verdict.passed:
            self._passed()
        else:
            self._failed(verdict, decision)
        plan_run.keep_result(self.dag, self.step, self.state.status == "DONE")

    def _passed(self) -> None:
        self.state.status, self.state.reason, self.state.local_failures = "DONE", "", 0
        self.dag.repeats.clear()  # a finished step is news (DESIGN, "Progress")

    def _failed(self, verdict: Verdict | None, decision: routing.Route) -> None:
        """FAILED, or PENDING again; what ends the run waits until nothing runs."""
        reason = verdict.reason if verdict is not None else "; ".join(self.judge_failed)
        self.state.reason = reason[:_REASON] or "no verdict"
        self.dag.failures.append(f"{self.step.id}: {self.state.reason}")
        del self.dag.failures[:-_FAILURES_KEPT]
        if isinstance(decision, routing.Retry):
            self.state.status = "PENDING"
            self.state.local_failures += 1
            return
        self.state.status = "FAILED"
        if isinstance(decision, routing.Finalize) and self.dag.ending is None:
            self.engine.state.degraded = self.engine.state.degraded or decision.degraded
            ending = self.exhausted if verdict is None else None
            self.dag.ending = ending or decision.stop_reason
            self.dag.ending_detail = self.state.reason
        code = "FAILED_DATA" if verdict is not None else "FAILED_TOOL"
        failure = Failure(code=code, step=self.step.id, reason=self.state.reason)
        self.engine.state.failures.append(failure)

    def _told(self, verdict: Verdict | None, decision: routing.Route) -> None:
        self.engine.elapsed = 0.0
        if verdict is not None:
            record(self.engine, "verdict", self.step.id, **verdict.model_dump())
        else:
            record(
                self.engine,
                "error",
                self.step.id,
                error="verifier_error",
                reason="; ".join(self.judge_failed)[:_REASON],
            )
        record(
            self.engine,
            "route",
            self.step.id,
            route=type(decision).__name__.lower(),
            rule=decision.rule,
        )
        dag = self.dag
        told = routing.log_line(dag.rounds, dag.replans, self.step.id, verdict, decision)
        workflow.logger.info(told)
