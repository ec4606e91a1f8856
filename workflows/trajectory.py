"""The trajectory: one record an act, the newest in the state, the rest in the store.

REQUIREMENTS 195-199: kind (think, tool, answer, verdict, route, request, error), round, step, and
what belongs to the kind.
"""

from typing import Any, Literal

from temporalio import workflow

from workflows import ports
from workflows.carry import act_of
from workflows.contracts.plan_acts import SpillInput, SpillResult
from workflows.contracts.state import EVENTS_KEPT
from workflows.engine import ActFailedError, Engine

Kind = Literal["think", "tool", "answer", "verdict", "route", "request", "error"]
_SPILL_AT = EVENTS_KEPT - 40
_STAY = _SPILL_AT // 2  # newest ones, for whoever watches
_MOST = 400  # of one object
_AGAIN = 40  # more records after one that failed


def record(engine: Engine, kind: Kind, step: str, **fields: Any) -> None:
    """Record one act; fields that say nothing are left out."""
    kept = {name: value for name, value in fields.items() if value not in ("", None, [])}
    engine.event(kind, round=engine.state.dag.rounds, step=step, elapsed=engine.elapsed, **kept)


async def spill_if_full(engine: Engine) -> None:
    """Move the older records to the store; what it does not take stays, and is tried again later.

    Raises:
        RunEnded: the run was ended meanwhile.
    """
    state = engine.state
    if len(state.events) < max(_SPILL_AT, engine.spill_at):
        return
    moved = state.events[:-_STAY][:_MOST]
    inp = SpillInput(**act_of(engine), records=moved, previous=state.older_events)
    try:
        result: SpillResult = await engine.perform(ports.spill(), inp, "Keep the older trajectory")
    except ActFailedError as failed:
        workflow.logger.warning("the trajectory stays in the state: %s", failed.message)
        engine.spill_at = len(state.events) + _AGAIN
        return
    engine.spill_at = 0
    state.older_events = result.ref
    last = moved[-1]["seq"]
    state.events[:] = [event for event in state.events if event["seq"] > last]
