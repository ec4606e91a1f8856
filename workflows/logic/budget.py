"""Budgets: reserve before, settle after, and what is kept back (REQUIREMENTS 113-123; C14, C21).

0 means none allowed, None no such limit. Whatever runs in parallel takes from one set of books.
"""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, Literal

from workflows.contracts.result import StopReason

_NOTHING: Final = Decimal(0)


@dataclass(frozen=True)
class Bounds:
    """Hard limits of a run."""

    max_model_calls: int
    max_tool_calls: int
    max_rounds: int | None = None
    max_tokens: int | None = None
    max_cost: Decimal | None = None
    max_active_seconds: float = float("inf")


@dataclass(frozen=True)
class Spent:
    """What is used; calls and rounds are counted when reserved, tokens and cost when settled."""

    model_calls: int = 0
    tool_calls: int = 0
    rounds: int = 0
    tokens: int = 0
    reserved_tokens: int = 0
    cost: Decimal = _NOTHING
    reserved_cost: Decimal = _NOTHING
    active_seconds: float = 0.0


@dataclass(frozen=True)
class Kept:
    """What is kept back for steps in flight and for closing."""

    model_calls: int = 0
    tool_calls: int = 0
    seconds: float = 0.0
    cost: Decimal = _NOTHING


@dataclass(frozen=True)
class Act:
    """Something that is charged; `uses_kept` may take what is kept back."""

    kind: Literal["model", "tool", "round"]
    estimated_tokens: int = 0
    estimated_cost: Decimal = _NOTHING
    uses_kept: bool = False


@dataclass(frozen=True)
class Reserved:
    """The act may start; these are the books with it."""

    spent: Spent


@dataclass(frozen=True)
class Exhausted:
    """The act may not start, and which budget is used up."""

    stop_reason: StopReason


def may_start(bounds: Bounds, spent: Spent, kept: Kept, act: Act) -> Reserved | Exhausted:
    """Reserve an act, or say what forbids it.

    The order of checks: its own count, tokens, cost, time. What is kept back counts as used for an
    act that may not take it.
    """
    back = Kept() if act.uses_kept else kept
    checks: tuple[tuple[bool, StopReason], ...] = (
        (_counted(bounds, spent, back, act), _REASONS[act.kind]),
        (_tokens(bounds, spent, back, act), "token_budget"),
        (_cost(bounds, spent, back, act), "cost_budget"),
        (spent.active_seconds + back.seconds <= bounds.max_active_seconds, "timeout"),
    )
    for allowed, reason in checks:
        if not allowed:
            return Exhausted(reason)
    return Reserved(_with(spent, act))


_REASONS: Final[dict[str, StopReason]] = {
    "model": "model_budget",
    "tool": "tool_budget",
    "round": "round_limit",
}


def _counted(bounds: Bounds, spent: Spent, kept: Kept, act: Act) -> bool:
    if act.kind == "model":
        return spent.model_calls + kept.model_calls + 1 <= bounds.max_model_calls
    if act.kind == "tool":
        return spent.tool_calls + kept.tool_calls + 1 <= bounds.max_tool_calls
    return bounds.max_rounds is None or spent.rounds + 1 <= bounds.max_rounds


def _tokens(bounds: Bounds, spent: Spent, kept: Kept, act: Act) -> bool:
    """Used up when used >= limit (REQUIREMENTS 116); kept calls are taken at this one's size."""
    if bounds.max_tokens is None or not (act.kind == "model" or act.estimated_tokens):
        return True
    used = spent.tokens + spent.reserved_tokens
    return (
        used < bounds.max_tokens
        and used + (kept.model_calls + 1) * act.estimated_tokens <= bounds.max_tokens
    )


def _cost(bounds: Bounds, spent: Spent, kept: Kept, act: Act) -> bool:
    """What costs nothing may always start: 0 allows no money, not no work."""
    if bounds.max_cost is None or not act.estimated_cost:
        return True
    return spent.cost + spent.reserved_cost + kept.cost + act.estimated_cost <= bounds.max_cost


def _with(spent: Spent, act: Act) -> Spent:
    return replace(
        spent,
        model_calls=spent.model_calls + (act.kind == "model"),
        tool_calls=spent.tool_calls + (act.kind == "tool"),
        rounds=spent.rounds + (act.kind == "round"),
        reserved_tokens=spent.reserved_tokens + act.estimated_tokens,
        reserved_cost=spent.reserved_cost + act.estimated_cost,
    )


def settle(spent: Spent, act: Act, tokens: int | None, cost: Decimal | None = None) -> Spent:
    """The books after an act; its reservation stands where nobody said what it took."""
    return replace(
        spent,
        tokens=spent.tokens + (act.estimated_tokens if tokens is None else max(0, tokens)),
        reserved_tokens=max(0, spent.reserved_tokens - act.estimated_tokens),
        cost=spent.cost + (act.estimated_cost if cost is None else max(_NOTHING, cost)),
        reserved_cost=max(_NOTHING, spent.reserved_cost - act.estimated_cost),
    )
