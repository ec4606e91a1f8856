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
from temporalio.common import RawValue
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from workflows import ports
    from workflows.carry import CARRIED
    from workflows.closing import close
    from workflows.contracts.acts import PrepareInput
    from workflows.contracts.messages import RecordedMessage, Stop
    from workflows.contracts.names import AGENT_RUN, INVALID_TASK, UPDATE_DECIDE
    from workflows.contracts.requests import Fate
    from workflows.contracts.result import RunResult
    from workflows.contracts.state import RunState
    from workflows.contracts.task import Prepared, Task
    from workflows.engine import ActFailedError, Engine, RunEnded
    from workflows.findings_run import settle_topics
    from workflows.logic import inbox
    from workflows.logic import requests as rules
    from workflows.logic.parse import InvalidTaskError, parse_task
    from workflows.logic.requests import Decision, Judged
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
class AgentRun:
    """One run: a task in, a cited report out."""

    @workflow.init
    def __init__(self, *args: Any) -> None:
        """Take over carried state, so that signals before `run` find it (failures A20)."""
        self._engine = Engine(_carried(args) or RunState())
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

    # --- messages: each handler beside its helper

    @workflow.signal(description="Grant a request: " + inbox.EXPECTED["approve"])
    def approve(self, *args: Any) -> None:
        """Grant the named request."""
        self._decision("approve", args)

    @workflow.signal(description="Refuse a request: " + inbox.EXPECTED["reject"])
    def reject(self, *args: Any) -> None:
        """Refuse the named request."""
        self._decision("reject", args)

    @workflow.signal(description="Answer a question of the run: " + inbox.EXPECTED["answer"])
    def answer(self, *args: Any) -> None:
        """Answer the named question."""
        self._decision("answer", args)

    @workflow.signal(description="Finish now with a partial report: " + inbox.EXPECTED["stop"])
    def stop(self, *args: Any) -> None:
        """Finish now, with a partial report."""
        read = inbox.read_message("stop", args)
        if not isinstance(read.value, Stop):
            self._record("stop", args, read.reason, fate="malformed")
        elif self._state.stop_reason is not None and self._state.phase != "awaiting_report":
            self._record("stop", args, "the run is already closing", fate="late")
        else:
            self._record("stop", args, "")
            by, why = read.value.by or "someone", read.value.reason
            detail = f"stopped by {by}" + (f": {why}" if why else "")
            self._engine.end("stopped", detail)
            if self._state.phase == "awaiting_report":
                self._engine.end_instead("stopped", detail)
            close_requests(self._engine)

    @workflow.signal(dynamic=True)
    def unknown(self, name: str, args: Sequence[RawValue]) -> None:
        """Record a signal of an unknown name with the list of right ones."""
        payloads = [workflow.payload_converter().from_payload(a.payload) for a in args]
        self._record(name[:100], payloads, inbox.unknown_signal(), fate="unknown_signal")

    @workflow.update(name=UPDATE_DECIDE, description="Decide: " + inbox.EXPECTED["decide"])
    def decide(self, *args: Any) -> dict[str, str]:
        """Decide on a request; the validator refuses at once what cannot count."""
        decision, found = self._judged(UPDATE_DECIDE, args, apply=True)
        self._record_decision(UPDATE_DECIDE, args, decision, found)
        request = found.request
        return {
            "outcome": request.outcome if request else found.fate,
            "request_id": request.id if request else "",
            "reason": found.reason,
        }

    @decide.validator
    def _validate_decide(self, *args: Any) -> None:
        _, found = self._judged(UPDATE_DECIDE, args, apply=False)
        if found.fate != "accepted":
            raise ApplicationError(
                f"{found.fate}: {found.reason}", type="InvalidDecision", non_retryable=True
            )

    def _decision(self, name: str, args: Sequence[Any]) -> None:
        decision, found = self._judged(name, args, apply=True)
        self._record_decision(name, args, decision, found)

    def _judged(
        self, name: str, args: Sequence[Any], *, apply: bool
    ) -> tuple[Decision | None, Judged]:
        """A message as a decision, and what becomes of it; a validator only looks."""
        read = inbox.read_message(name, args)
        if read.value is None:
            return None, Judged("malformed", read.reason)
        decision = inbox.as_decision(name, read.value)
        if isinstance(decision, str):
            return None, Judged("malformed", f"{decision}; expected {inbox.EXPECTED[name]}")
        now = workflow.now().timestamp()
        judge = rules.decide if apply else rules.judged
        return decision, judge(self._state, decision, now)

    def _record_decision(
        self, name: str, args: Sequence[Any], decision: Decision | None, found: Judged
    ) -> None:
        request_id = decision.request_id if decision else ""
        by = decision.by if decision else ""
        self._record(name, args, found.reason, fate=found.fate, request=request_id, by=by)

    def _record(
        self,
        name: str,
        args: Sequence[Any],
        reason: str,
        *,
        fate: Fate = "accepted",
        request: str = "",
        by: str = "",
    ) -> None:
        inbox.record(
            self._state,
            RecordedMessage(
                name=name,
                outcome="accepted" if fate == "accepted" else "ignored",
                fate=fate,
                reason=reason[:500],
                payload=inbox.payload_text(args),
                at=workflow.now().isoformat(timespec="seconds"),
                request=request[:200],
                by=by,
            ),
        )

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

    @property
    def _state(self) -> RunState:
        return self._engine.state

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
    """State of the run before, accepted only in a run that was continued as new."""
    if workflow.info().continued_run_id is None or len(args) != 1:
        return None
    value = args[0]
    if not isinstance(value, dict) or CARRIED not in value:
        return None
    try:
        return RunState.model_validate(cast("dict[str, Any]", value)[CARRIED])
    except ValidationError:
        return None  # `run` then refuses the input
