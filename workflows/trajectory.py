"""The trajectory: one record an act, the newest in the state, the rest in the store.

REQUIREMENTS 195-199: kind (think, tool, answer, verdict, route, request, error), round, step, and
what belongs to the kind.
"""

from typing import Any, Literal

from temporalio.exceptions import ActivityError

from workflows import ports
from workflows.carry import act_of
from workflows.contracts.plan_acts import SpillInput, SpillResult
from workflows.contracts.state import EVENTS_KEPT
from workflows.engine import Engine

Kind = Literal["think", "tool", "answer", "verdict", "route", "request", "error"]
_SPILL_AT = EVENTS_KEPT - 40  # a round makes fewer records than that


def record(engine: Engine, kind: Kind, step: str, **fields: Any) -> None:
    """Record one act; fields that say nothing are left out."""
    kept = {name: value for name, value in fields.items() if value not in ("", None, [])}
    engine.event(kind, round=engine.state.dag.rounds, step=step, elapsed=engine.elapsed, **kept)


async def spill_if_full(engine: Engine) -> None:
    """Move the older records to the store before the state drops them."""
    state = engine.state
    if len(state.events) < _SPILL_AT:
        return
    moved = state.events[: _SPILL_AT // 2]
    inp = SpillInput(**act_of(engine), records=moved, previous=state.older_events)
    try:
        result: SpillResult = await ports.spill().start(inp, "Keep the older trajectory")
    except ActivityError:
        return  # the newest records still stand in the state
    state.older_events = result.ref
    last = moved[-1]["seq"]
    state.events[:] = [event for event in state.events if event["seq"] > last]
