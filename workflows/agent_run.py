"""AgentRun, the main job: prepare, research, close (INTERFACE, "Names"; DESIGN, "The loops").

The workflow owns control flow and budgets. Its parts: `engine` (acts, clock, events), `step_loop`
(react and direct), `ports` (activities), `visible` (what people see), `logic` (every decision).
Handlers take whatever is sent and never raise; `run` itself raises `InvalidTask` for bad input and
ends every other way with a report.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from workflows import ports
    from workflows.carry import CARRIED, CHAIN
    from workflows.closing import close
    from workflows.contracts.acts import PrepareInput
    from workflows.contracts.names import AGENT_RUN, INVALID_TASK
    from workflows.contracts.result import RunResult
    from workflows.contracts.state import RunState
    from workflows.contracts.task import Prepared, Task
    from workflows.engine import ActFailedError, Engine, RunEnded
    from workflows.findings_run import settle_topics
    from workflows.logic.parse import InvalidTaskError, parse_task
    from workflows.messages import Messages
    from workflows.people import close_requests
    from workflows.plan_schedule import run_plan
    from workflows.release import released
    from workflows.step_loop import run_direct, run_react
    from workflows.visible import (
        attributes_note,
        evidence_view,
        plan_view,
        requests_view,
        show_details,
        status_view,
        trajectory_view,
    )


@workflow.defn(name=AGENT_RUN)
class AgentRun(Messages):
    """One run: a task in, a cited report out."""

    @workflow.init
    def __init__(self, *args: Any) -> None:
        """Take over carried state, so that signals before `run` find it (failures A20)."""
        super().__init__(Engine(_carried(args) or RunState()))
        self._result: RunResult | None = None

    @workflow.run
    async def run(self, *args: Any) -> RunResult:
        """Do the job.

        Raises:
            ApplicationError: `InvalidTask`, non-retryable, before anything is called.
        """
        if self._state.prepared is None:
            task = self._accept(args)
            self._state.goal = task.goal
            self._state.started_at = workflow.now().isoformat(timespec="seconds")
            self._state.last_tick = workflow.now().timestamp()
            work = self._prepare_and_work(task)
        else:
            work = self._work()
        cancelled = await self._until_ended(work)
        while not cancelled and await self._goes_on():
            cancelled = await self._until_ended(self._work())
        cancelled = cancelled or self._state.stop_reason == "cancelled"
        cancelled = await self._until_closed() or cancelled
        await workflow.wait_condition(workflow.all_handlers_finished)
        if cancelled:
            raise asyncio.CancelledError
        return cast("RunResult", self._result)

    # --- queries

    @workflow.query(description="Phase, budgets, missing topics")
    def status(self, *_: Any) -> dict[str, Any]:
        """Where the run stands."""
        return status_view(self._state)

    @workflow.query(description="The plan: in react the advice of the newest decision")
    def plan(self, *_: Any) -> dict[str, Any]:
        """The plan with its steps; `version` 0 says that it is advice and binds nobody."""
        return plan_view(self._state)

    @workflow.query(description="The evidence ledger")
    def evidence(self, *_: Any) -> list[dict[str, Any]]:
        """Every evidence id with its source."""
        return evidence_view(self._state)

    @workflow.query(description="Open requests and the newest messages")
    def requests(self, *_: Any) -> dict[str, Any]:
        """Open requests, and how each message was taken."""
        return requests_view(self._state)

    @workflow.query(description="Events, and the trajectory record at the end")
    def trajectory(self, *_: Any) -> dict[str, Any]:
        """The newest events in causal order."""
        return trajectory_view(self._state, self._result)

    @workflow.query(description="The report, once there is one")
    def report(self, *_: Any) -> dict[str, Any]:
        """The report's text and its ref in the evidence store."""
        result = self._result
        return {
            "report": result.report if result else None,
            "report_ref": result.report_ref if result else "",
        }

    @workflow.query(description="The whole state")
    def state(self, *_: Any) -> dict[str, Any]:
        """Everything the run remembers."""
        return self._state.model_dump(mode="json")

    # --- the run

    def _accept(self, args: Sequence[Any]) -> Task:
        try:
            return parse_task(args)
        except InvalidTaskError as error:
            raise ApplicationError(str(error), type=INVALID_TASK, non_retryable=True) from None

    async def _prepare_and_work(self, task: Task) -> None:
        info = workflow.info()
        show_details(self._state)
        inp = PrepareInput(
            run_id=info.first_execution_run_id, workflow_id=info.workflow_id, task=task
        )
        try:
            prepared: Prepared = await ports.prepare().start(inp, "Prepare the task")
            self._state.prepared = prepared
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise asyncio.CancelledError from None
            self._engine.end("internal_error", f"the task could not be prepared: {error.cause}")
            return
        note = attributes_note(self._state)
        if note:
            self._state.notes.append(note)
        if prepared.problems:
            self._engine.end("invalid_input", "; ".join(prepared.problems))
            return
        self._engine.tick()
        self._engine.enter("planning" if prepared.task.strategy == "plan" else "researching")
        await self._work()

    async def _work(self) -> None:
        if self._state.stop_reason is not None:
            return  # carried over while its report waited to be released
        self._engine.watch_deadline()
        strategy = self._engine.task.strategy
        if strategy == "plan":
            await run_plan(self._engine)
        elif strategy == "direct":
            await run_direct(self._engine)
        else:
            await run_react(self._engine)

    async def _until_ended(self, work: Any) -> bool:
        """Work until something ends the run; whether that was a cancel."""
        try:
            await work
        except RunEnded:
            workflow.logger.debug("the run was ended")
        except asyncio.CancelledError:
            self._engine.end("cancelled")
            return True
        except (ActFailedError, RuntimeError, ValueError, LookupError, TypeError) as error:
            # Any defect leads to closing with a reason, never to an endless loop (111).
            workflow.logger.exception("internal error")
            self._engine.end("internal_error", f"{type(error).__name__}: {error}")
        return False

    async def _goes_on(self) -> bool:
        """Have a person release the report; whether they sent the work back instead."""
        try:
            return await released(self._engine)
        except asyncio.CancelledError:
            self._engine.end_instead("cancelled")
        except (ActFailedError, RuntimeError, ValueError, LookupError, TypeError) as error:
            workflow.logger.exception("internal error")
            self._engine.end_instead("internal_error", f"{type(error).__name__}: {error}")
        return False

    async def _until_closed(self) -> bool:
        """Close in a task of its own, so that a cancel cannot cut it off; whether one came."""
        closing = asyncio.create_task(self._close())
        cancelled = False
        while not closing.done():
            try:
                await asyncio.shield(closing)
            except asyncio.CancelledError:
                cancelled = True
        await closing
        return cancelled

    async def _close(self) -> None:
        close_requests(self._engine)
        await settle_topics(self._engine)
        self._result = await close(self._engine)


def _carried(args: Sequence[Any]) -> RunState | None:
    """State of the run before, accepted only in a run that was continued as new.

    On a cron schedule every execution but the first is continued, with the input of a caller: there
    the state counts only beside the run id of the chain.
    """
    info = workflow.info()
    if info.continued_run_id is None or len(args) != 1:
        return None
    if not isinstance(args[0], dict) or CARRIED not in args[0]:
        return None
    value = cast("dict[str, Any]", args[0])
    before = None if info.cron_schedule else info.first_execution_run_id  # as runs carried it
    if value.get(CHAIN, before) != info.first_execution_run_id:
        return None
    try:
        return RunState.model_validate(value[CARRIED])
    except ValidationError:
        return None  # `run` then refuses the input
