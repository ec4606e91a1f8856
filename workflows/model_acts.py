"""Model acts of a plan: reserved before, settled after, with what must be kept back.

Parallel branches share one budget: what cannot be reserved does not start, and each step in flight
keeps the calls that it still needs to end properly (DESIGN, "Budgets"; C21).
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from temporalio import workflow

from workflows.contracts.names import PROTOCOL_ERROR
from workflows.contracts.result import StopReason
from workflows.engine import ActFailedError, Engine, RunEnded
from workflows.logic import outcome
from workflows.logic.budget import Act, Bounds, Exhausted, Kept, Spent, may_start
from workflows.logic.clock import closing_reserve
from workflows.logic.step_rules import Room
from workflows.ports import Port

STEP_NEEDS: Final = 3  # write, one support call, the goal call
_JUDGE_TRIES: Final = 2
_FIRST_ESTIMATE: Final = 1_500  # tokens of a call before any has told


class ExhaustedError(Exception):
    """An act could not be reserved; `stop_reason` says which budget is used up."""

    def __init__(self, stop_reason: StopReason) -> None:
        self.stop_reason: StopReason = stop_reason
        super().__init__(stop_reason)


class MalformedError(Exception):
    """A reply that cannot be used; the run goes on without it."""


def room_of(engine: Engine) -> Room:
    """What the budgets leave now for a decision and for tool calls."""
    limits, usage = engine.task.limits, engine.state.usage
    return Room(
        decision=_reserved(engine, kept=False) is None,
        tool_calls=max(0, limits.max_tool_calls - usage.tool_calls),
    )


def may_begin(engine: Engine) -> StopReason | None:
    """The budget that forbids another round, None if it may start with all it needs."""
    limits, dag = engine.task.limits, engine.state.dag
    if dag.rounds >= limits.max_rounds:
        return "round_limit"
    bounds, spent, kept = _books(engine)
    needed = kept.model_calls + (STEP_NEEDS - 1)
    act = Act(kind="model", estimated_tokens=_estimate(engine))
    found = may_start(bounds, spent, Kept(needed, 0, kept.seconds), act)
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
    exhausted = _reserved(engine, kept=kept)
    if exhausted is not None:
        raise ExhaustedError(exhausted)
    engine.state.usage.model_calls += 1
    engine.reserved_calls += 1
    try:
        result = await engine.perform(port, argument(engine.state.usage.model_calls), summary)
    except ActFailedError as failed:
        engine.reserved_calls -= 1
        if not failed.settled:
            engine.settle_lost()
        detail = outcome.error_text(failed.error_type, failed.message)
        if failed.error_type == PROTOCOL_ERROR:
            raise MalformedError(detail) from None
        engine.end(outcome.stop_reason_of(failed.error_type), detail)
        raise RunEnded from None
    except (RunEnded, asyncio.CancelledError):
        engine.reserved_calls -= 1
        engine.settle_lost()
        raise
    engine.reserved_calls -= 1
    engine.settle(result.usage)
    return result


async def ask_judge(
    engine: Engine, port: Port, argument: Callable[[int], Any], summary: str
) -> tuple[Any, str]:
    """Ask a judge, once more if there is no verdict (C57).

    Returns:
        The result and "", or None and why there is none.

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
            return None, error.stop_reason
        if not result.malformed:
            return result, ""
        problem = result.malformed
    return None, problem


def _reserved(engine: Engine, *, kept: bool) -> StopReason | None:
    """Why a model call may not start, None if it may."""
    bounds, spent, back = _books(engine)
    act = Act(kind="model", estimated_tokens=_estimate(engine), uses_kept=kept)
    found = may_start(bounds, spent, back, act)
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
        max_cost=None,
        max_active_seconds=limits.max_active_seconds,
    )
    spent = Spent(
        model_calls=usage.model_calls,
        tool_calls=usage.tool_calls,
        rounds=dag.rounds,
        tokens=usage.prompt_tokens + usage.completion_tokens,
        reserved_tokens=engine.reserved_calls * _estimate(engine),
        active_seconds=usage.active_seconds,
    )
    calls = sum(engine.needs.values()) + closing_calls(engine)
    return bounds, spent, Kept(calls, 0, closing_reserve(limits.max_active_seconds))


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
    return (usage.prompt_tokens + usage.completion_tokens) // done if done > 0 else _FIRST_ESTIMATE
