"""Model acts of a plan: reserved before, settled after, with what must be kept back.

Parallel branches share one budget: what cannot be reserved does not start, and each step in flight
keeps the calls that it still needs to end properly (DESIGN, "Budgets"; C21).
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from temporalio import workflow

from workflows.charge import Charge, next_cost
from workflows.contracts import names
from workflows.contracts.plan import Step
from workflows.contracts.result import StopReason
from workflows.engine import ActFailedError, Engine, RunEnded
from workflows.logic import outcome
from workflows.logic.budget import Act, Bounds, Exhausted, Kept, Spent, may_start
from workflows.logic.clock import closing_reserve
from workflows.logic.cost import FIRST_ESTIMATE
from workflows.logic.step_rules import Room
from workflows.ports import Port

STEP_NEEDS: Final = 3  # write, one support call, the goal call
DECISION_KEPT: Final = 2  # from these rules on also the first decision
_JUDGE_TRIES: Final = 2


class ExhaustedError(Exception):
    """An act could not be reserved; `stop_reason` says which budget is used up."""

    def __init__(self, stop_reason: StopReason) -> None:
        self.stop_reason: StopReason = stop_reason
        super().__init__(stop_reason)


class MalformedError(Exception):
    """A reply that cannot be used; the run goes on without it."""


def room_of(engine: Engine, *, kept: bool = False) -> Room:
    """What the budgets leave now for a decision and for tool calls."""
    limits, usage = engine.task.limits, engine.state.usage
    return Room(
        decision=why_no_decision(engine, kept=kept) is None,
        tool_calls=max(0, limits.max_tool_calls - usage.tool_calls),
    )


def why_no_decision(engine: Engine, *, kept: bool = False) -> StopReason | None:
    """The budget that forbids a decision inside of a step, None if it may be made."""
    return _reserved(engine, names.STEP_ACTION, kept=kept)


def needs_of(engine: Engine, step: Step) -> int:
    """Model calls that a step needs from its beginning to its end."""
    decides = not step.tool and engine.task.rules >= DECISION_KEPT
    return STEP_NEEDS + decides


def is_decision_kept(engine: Engine, step: Step) -> bool:
    """Whether the step's next decision is the one that was kept back for it."""
    return engine.needs.get(step.id, 0) > STEP_NEEDS


def may_begin(engine: Engine, step: Step) -> StopReason | None:
    """The budget that forbids another round, None if it may start with all it needs."""
    limits, dag = engine.task.limits, engine.state.dag
    if dag.rounds >= limits.max_rounds:
        return "round_limit"
    bounds, spent, kept = _books(engine)
    more = needs_of(engine, step) - 1
    kept = replace(
        kept,
        model_calls=kept.model_calls + more,
        cost=kept.cost + more * _dearest(engine),
    )
    found = may_start(bounds, spent, kept, _act(engine, names.STEP_ACTION))
    return found.stop_reason if isinstance(found, Exhausted) else None


async def call_model(
    engine: Engine,
    port: Port,
    argument: Callable[[int], Any],
    summary: str,
    *,
    kept: bool = False,
) -> Any:
    """Reserve, call, settle.

    Args:
        engine: of the run.
        port: the model act.
        argument: makes its input from the ordinal of the call.
        summary: for the timeline.
        kept: whether the act may use what is kept back for steps in flight and for closing.

    Raises:
        ExhaustedError: it could not be reserved.
        MalformedError: the reply could not be used.
        RunEnded: the run was ended, or the model failed for good: then with its stop reason.
    """
    exhausted = _reserved(engine, port.activity, kept=kept)
    if exhausted is not None:
        raise ExhaustedError(exhausted)
    charge = Charge(engine, port.activity, next_cost(engine, port.activity))
    engine.state.usage.model_calls += 1
    engine.reserved_calls += 1
    try:
        result = await engine.perform(port, argument(engine.state.usage.model_calls), summary)
    except ActFailedError as failed:
        engine.reserved_calls -= 1
        if failed.usage is None:
            engine.settle_lost()
        charge.settle(failed.usage)
        detail = outcome.error_text(failed.error_type, failed.message)
        if failed.error_type == names.PROTOCOL_ERROR:
            raise MalformedError(detail) from None
        engine.end(outcome.stop_reason_of(failed.error_type), detail)
        raise RunEnded from None
    except (RunEnded, asyncio.CancelledError):
        engine.reserved_calls -= 1
        engine.settle_lost()
        charge.settle(None)
        raise
    engine.reserved_calls -= 1
    engine.settle(result.usage)
    charge.settle(result.usage)
    return result


async def ask_judge(
    engine: Engine, port: Port, argument: Callable[[int], Any], summary: str
) -> tuple[Any, str, StopReason | None]:
    """Ask a judge, once more if there is no verdict (C57).

    Returns:
        The result and "", or None, why there is none, and the budget that forbade it.

    Raises:
        RunEnded: the run was ended.
    """
    problem = ""
    for _ in range(_JUDGE_TRIES):
        try:
            result = await call_model(engine, port, argument, summary, kept=True)
        except MalformedError as error:
            problem = str(error)
            continue
        except ExhaustedError as error:
            return None, error.stop_reason, error.stop_reason
        if not result.malformed:
            return result, "", None
        problem = result.malformed
    return None, problem, None


def _reserved(engine: Engine, act: str, *, kept: bool) -> StopReason | None:
    """Why a model call may not start, None if it may."""
    bounds, spent, back = _books(engine)
    found = may_start(bounds, spent, back, replace(_act(engine, act), uses_kept=kept))
    if isinstance(found, Exhausted):
        workflow.logger.info("budget: %s is used up", found.stop_reason)
        return found.stop_reason
    return None


def _books(engine: Engine) -> tuple[Bounds, Spent, Kept]:
    task, usage, dag = engine.task, engine.state.usage, engine.state.dag
    limits = task.limits
    bounds = Bounds(
        max_model_calls=limits.max_model_calls,
        max_tool_calls=limits.max_tool_calls,
        max_rounds=limits.max_rounds,
        max_tokens=limits.max_tokens,
        max_cost=None if limits.max_cost is None else Decimal(limits.max_cost),
        max_active_seconds=limits.max_active_seconds,
    )
    spent = Spent(
        model_calls=usage.model_calls,
        tool_calls=usage.tool_calls,
        rounds=dag.rounds,
        tokens=usage.prompt_tokens + usage.completion_tokens,
        reserved_tokens=engine.reserved_calls * _estimate(engine),
        cost=Decimal(usage.cost),
        reserved_cost=engine.reserved_cost,
        active_seconds=usage.active_seconds,
    )
    steps, closing = sum(engine.needs.values()), closing_calls(engine)
    cost = steps * _dearest(engine) + closing * next_cost(engine, names.TOPIC)
    seconds = closing_reserve(limits.max_active_seconds)
    return bounds, spent, Kept(steps + closing, 0, seconds, cost)


def _act(engine: Engine, act: str) -> Act:
    """A call of the act named, with what it is likely to take."""
    return Act("model", estimated_tokens=_estimate(engine), estimated_cost=next_cost(engine, act))


def _dearest(engine: Engine) -> Decimal:
    """The cost of a call that a step in flight still needs: it writes, then it is judged."""
    return max(next_cost(engine, names.WRITE), next_cost(engine, names.SUPPORT))


def closing_calls(engine: Engine) -> int:
    """Topic calls that closing needs: one a topic that no source declares; none by code."""
    task, dag = engine.task, engine.state.dag
    if task.judge_extractive:
        return 0
    declared = sum(how == "declared" for how in engine.state.covered.values())
    return max(0, len(task.topics) - declared - len(dag.answers))


def _estimate(engine: Engine) -> int:
    """Tokens that a call is likely to take: the mean so far."""
    usage = engine.state.usage
    done = usage.model_calls - engine.reserved_calls
    if engine.task.extractive and engine.task.judge_extractive:
        return 0
    return (usage.prompt_tokens + usage.completion_tokens) // done if done > 0 else FIRST_ESTIMATE
