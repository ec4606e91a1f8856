"""The run loop of `strategy: plan`: plan, ready steps side by side, route, replan or close.

Each round of a step is a task of its own; results are taken in the order of the plan. What every
verdict leads to is one pure rule (`logic.routing`); replan or finalize waits until nothing is ready
or running (C13, C53).
"""

import asyncio

from temporalio import workflow

from workflows.carry import continue_as_new_if_suggested
from workflows.contracts.plan import Step
from workflows.contracts.plan_acts import WriteResult
from workflows.contracts.requests import RequestKind
from workflows.contracts.result import Failure, StopReason
from workflows.contracts.verdict import Verdict
from workflows.engine import Engine, RunEnded
from workflows.findings_run import settle_topics
from workflows.logic import plan_run, routing
from workflows.logic.layers import insufficient_verdict
from workflows.logic.plan_run import Finish, at_rest, statuses_of, steps_of
from workflows.logic.schedule import ready
from workflows.logic.verdicts import escalated
from workflows.model_acts import ExhaustedError, MalformedError, may_begin, needs_of
from workflows.people import pending, waiting_only
from workflows.plan_approval import granted_plan
from workflows.planning import make_plan
from workflows.step_run import StepRun
from workflows.trajectory import record, spill_if_full
from workflows.verify_run import Verification
from workflows.visible import show_details

_REASON = 300
SPILLS_BETWEEN = 2  # rules from which the trajectory is kept while steps run too
_STEP_KINDS: tuple[RequestKind, ...] = ("tool", "question")


async def run_plan(engine: Engine) -> None:
    """Do the whole job; ends with a stop reason set, or with `RunEnded`."""
    dag = engine.state.dag
    if dag.plan is None:
        await _replan(engine)
    while True:
        await granted_plan(engine)
        await _Rounds(engine).run()
        decision = at_rest(dag, engine.task)
        if isinstance(decision, Finish):
            break
        _log_route(engine, "replan", decision.reason)
        plan_run.dead_end(dag, decision.reason)
        dag.replans += 1
        await _replan(engine)
    await settle_topics(engine)
    engine.end(decision.stop_reason, decision.detail)


async def _replan(engine: Engine) -> None:
    engine.enter("planning")
    await make_plan(engine, own=engine.state.dag.version == 0)
    if not engine.task.approvals.plan:
        engine.enter("researching")


def _log_route(engine: Engine, route: str, reason: str) -> None:
    record(engine, "route", "", route=route, reason=reason[:_REASON])
    workflow.logger.info(
        "round=%d | node=router | route=%s | reason=%s",
        engine.state.dag.rounds,
        route,
        reason[:_REASON],
    )


def _carried(engine: Engine, step: Step) -> bool:
    """Whether the step only goes on: its run continued as new while it waited for people."""
    return any(pending(engine, kind, step.id) for kind in _STEP_KINDS)


class _Rounds:
    """Rounds of the current plan, until nothing is ready or running."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.dag = engine.state.dag
        self.running: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        for step in self.dag.steps.values():
            if step.status == "RUNNING":  # carried over from a run that was cut off
                step.status = "PENDING"
        try:
            while True:
                plan_run.settle_blocks(self.dag)
                if not self.running or self.engine.task.rules >= SPILLS_BETWEEN:
                    await spill_if_full(self.engine)
                if not self.running:
                    continue_as_new_if_suggested(self.engine)
                self._start_ready()
                if not self.running:
                    return
                await self._one_done()
                if waiting_only(self.engine, len(self.running)):
                    # The requests are carried; each step takes up its own where it waited.
                    continue_as_new_if_suggested(self.engine)
        finally:
            for task in self.running.values():
                task.cancel()

    def _start_ready(self) -> None:
        """Start what is ready, as far as concurrency and budgets allow."""
        draining = workflow.info().is_continue_as_new_suggested()
        limit = self.engine.task.limits.max_concurrency
        for name in ready(steps_of(self.dag), statuses_of(self.dag), limit):
            if self.dag.ending is not None or len(self.running) >= limit or draining:
                return
            step = next(s for s in steps_of(self.dag) if s.id == name)
            exhausted = may_begin(self.engine, step)
            if exhausted is not None:
                # What runs may still end well: the budget ends the run only when it is needed.
                if not self.running:
                    self._ending(exhausted)
                return
            self._begin(step)

    def _begin(self, step: Step) -> None:
        state = self.dag.steps[step.id]
        state.status = "RUNNING"
        if not _carried(self.engine, step):
            self.dag.rounds += 1
            state.attempts += 1
            state.fruitless = 0
        self.engine.needs[step.id] = needs_of(self.engine, step)
        self.running[step.id] = asyncio.create_task(_Round(self.engine, step).run())
        show_details(self.engine.state)

    async def _one_done(self) -> None:
        """Wait for a round to end, or for the time to be up; take results in plan order."""
        await workflow.wait_condition(
            lambda: (
                any(task.done() for task in self.running.values())
                or self._cut_off()
                or waiting_only(self.engine, len(self.running))
            )
        )
        if self._cut_off():
            await self._cut()
        for step in steps_of(self.dag):
            task = self.running.get(step.id)
            if task is not None and task.done():
                del self.running[step.id]
                self.engine.needs.pop(step.id, None)
                await task
        show_details(self.engine.state)

    def _cut_off(self) -> bool:
        return self.dag.ending == "timeout" and bool(self.running)

    async def _cut(self) -> None:
        """The time for steps is over: what is kept back is for closing."""
        for task in self.running.values():
            task.cancel()
        for name, task in self.running.items():
            try:
                await task
            except asyncio.CancelledError:
                self.dag.steps[name].status = "PENDING"
                self.dag.steps[name].reason = "the time of the run was up"
        self.running.clear()
        self.engine.needs.clear()
        if self.engine.state.stop_reason is not None:
            raise RunEnded

    def _ending(self, reason: StopReason, detail: str = "") -> None:
        if self.dag.ending is None:
            self.dag.ending, self.dag.ending_detail = reason, detail[:_REASON]


class _Round:
    """One execute-and-verify pass of one step, and what its verdict leads to."""

    def __init__(self, engine: Engine, step: Step) -> None:
        self.engine = engine
        self.dag = engine.state.dag
        self.step = step
        self.state = self.dag.steps[step.id]
        self.judge_failed: list[str] = []
        self.exhausted: StopReason | None = None  # the budget that left it without a verdict

    async def run(self) -> None:
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
        del self.dag.failures[:-20]
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
        workflow.logger.info(routing.log_line(self.dag.rounds, self.step.id, verdict, decision))
