"""Signals and the update of AgentRun: everything that is sent is read, judged and recorded.

Handlers take whatever comes and never raise (failures A03, A05, D12; C60). What a decision does is
a pure rule (`logic.requests`); here it is carried out and its fate kept.
"""

from collections.abc import Sequence
from typing import Any

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from workflows.contracts.messages import RecordedMessage, Stop
from workflows.contracts.names import UPDATE_DECIDE
from workflows.contracts.requests import Fate
from workflows.contracts.state import RunState
from workflows.engine import Engine
from workflows.logic import inbox
from workflows.logic import requests as rules
from workflows.logic.requests import Decision, Judged
from workflows.people import close_requests


class Messages:
    """The handlers of a run; it hands over its engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def _state(self) -> RunState:
        return self._engine.state

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
        elif rules.is_closing(self._state):
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
