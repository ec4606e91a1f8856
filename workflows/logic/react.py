"""The `react` loop's decisions: what comes before a model call and what after one.

Order before a decision: no progress, then model budget, tokens, money (REQUIREMENTS 110, 121, 136).
A used-up tool budget still allows one closing decision; a further search request stops the run
(REQUIREMENTS 120). A finish leads to closing whatever it claims (REQUIREMENTS 5, 10, 11).
"""

import hashlib
from dataclasses import dataclass
from decimal import Decimal

from workflows.contracts.decision import NextAction
from workflows.contracts.result import StopReason
from workflows.contracts.state import RunState
from workflows.contracts.task import ResolvedTask
from workflows.logic.budget import Act, Bounds, Exhausted, Kept, Spent, may_start
from workflows.logic.terms import query_key


@dataclass(frozen=True)
class Decide:
    """Ask the model."""

    allow_search: bool
    remaining_tool_calls: int


@dataclass(frozen=True)
class Search:
    """Send the query to the search."""

    query: str


@dataclass(frozen=True)
class Repeat:
    """Answer the query from memory: it was tried before (REQUIREMENTS 55)."""

    query: str


@dataclass(frozen=True)
class Finish:
    """Close the run."""

    stop_reason: StopReason


def before_decision(
    state: RunState, task: ResolvedTask, cost: Decimal = Decimal(0)
) -> Decide | Finish:
    """What the loop does next, before any model call, which is likely to cost `cost` dollars."""
    limits, usage = task.limits, state.usage
    if state.no_progress >= limits.max_no_progress:
        return Finish("no_progress")
    if usage.model_calls >= limits.max_model_calls:
        return Finish("model_budget")
    exhausted = used_up(state, task, cost)
    if exhausted is not None:
        return Finish(exhausted)
    remaining = max(0, limits.max_tool_calls - usage.tool_calls) if "search" in task.tools else 0
    return Decide(allow_search=remaining > 0, remaining_tool_calls=remaining)


def after_decision(
    state: RunState, task: ResolvedTask, decision: NextAction
) -> Search | Repeat | Finish:
    """What a decision leads to; budgets are checked again right before the act (54, 123)."""
    if decision.action == "finish":
        return Finish("model_finished")
    if "search" not in task.tools or state.usage.tool_calls >= task.limits.max_tool_calls:
        return Finish("tool_budget")
    if key_digest(decision.query) in state.query_keys:
        return Repeat(decision.query)
    return Search(decision.query)


def used_up(state: RunState, task: ResolvedTask, cost: Decimal) -> StopReason | None:
    """The budget of tokens or money that forbids a call that is likely to cost `cost` dollars."""
    if tokens_used_up(state, task):
        return "token_budget"
    most = task.limits.max_cost
    bounds = Bounds(
        task.limits.max_model_calls, 0, max_cost=None if most is None else Decimal(most)
    )
    spent = Spent(cost=Decimal(state.usage.cost))
    found = may_start(bounds, spent, Kept(), Act("model", estimated_cost=cost, uses_kept=True))
    return found.stop_reason if isinstance(found, Exhausted) else None


def tokens_used_up(state: RunState, task: ResolvedTask) -> bool:
    """Tokens are exceeded when used >= limit (REQUIREMENTS 116); no limit is never exceeded."""
    used = state.usage.prompt_tokens + state.usage.completion_tokens
    return task.limits.max_tokens is not None and used >= task.limits.max_tokens


def key_digest(query: str) -> str:
    """A query key as the state keeps it: 16 hex digits, so that 2,000 queries stay small."""
    return hashlib.sha256(query_key(query).encode()).hexdigest()[:16]
