"""The run loop of `strategy: plan`: plan, ready steps side by side, route, replan or close.

Each round of a step (`step_round`) is a task of its own; results are taken in the order of the
plan. Replan or finalize waits until nothing is ready or running (C13, C53).
"""

import asyncio

from temporalio import workflow

from workflows.carry import continue_as_new_if_suggested
from workflows.contracts.plan import Step
from workflows.contracts.requests import RequestKind
from workflows.contracts.result import StopReason
from workflows.engine import Engine, RunEnded
from workflows.findings_run import settle_topics
from workflows.logic import plan_run
from workflows.logic.plan_run import Finish, at_rest, statuses_of, steps_of
from workflows.logic.routing import node_line
from workflows.logic.schedule import ready
from workflows.model_acts import may_begin, needs_of
from workflows.people import pending, waiting_only
from workflows.plan_approval import granted_plan
from workflows.planning import make_plan
from workflows.side_by_side import end_all
from workflows.step_round import Round
from workflows.trajectory import record, spill_if_full
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
    dag = engine.state.dag
    workflow.logger.info(
        node_line(dag.rounds, "router", "", route=route, replans=dag.replans, reason=reason)
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
        # No `finally`: an evicted run is closed outside the event loop, where nothing is awaited.
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
        except (Exception, asyncio.CancelledError):
            await end_all(self.engine, self.running.values())
            raise

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
        self.running[step.id] = asyncio.create_task(Round(self.engine, step).run())
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
