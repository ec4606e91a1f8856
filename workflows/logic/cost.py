"""What model calls cost: rates, estimates and charges in US dollars, in decimal, never in float.

A run's cost is known where the price of every model that it uses is; else it is not counted, and
`prepare` refuses a `max_cost`.
"""

from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from typing import Final

from workflows.contracts import names
from workflows.contracts.acts import TokenUsage
from workflows.contracts.price import Price, Role
from workflows.contracts.task import ResolvedTask

FIRST_ESTIMATE: Final = 1_500  # tokens of a call before any has told
_NOTHING: Final = Decimal(0)
_MILLION: Final = -6  # as a power of ten, to divide exactly
_SMALLEST: Final = Decimal("0.000000000001")  # what one token can cost at the lowest price
_ROLES: Final[dict[str, Role]] = {
    names.DECIDE: "planner",
    names.ANSWER: "planner",
    names.PLAN: "planner",
    names.STEP_ACTION: "executor",
    names.WRITE: "executor",
}


@dataclass(frozen=True)
class Rate:
    """US dollars for a million tokens."""

    prompt: Decimal = _NOTHING
    completion: Decimal = _NOTHING

    def of(self, prompt_tokens: int, completion_tokens: int) -> Decimal:
        """What so many tokens cost, exactly."""
        whole = self.prompt * prompt_tokens + self.completion * completion_tokens
        return whole.scaleb(_MILLION)


def roles_used(task: ResolvedTask) -> list[Role]:
    """Roles whose models a run may call."""
    if task.strategy != "plan":
        return ["planner"]
    return ["executor", "judge"] if task.plan is not None else ["planner", "executor", "judge"]


def price_of(task: ResolvedTask, role: Role) -> Price | None:
    """The price of a role's model, None where it is not known."""
    return {
        "planner": task.prices.planner,
        "executor": task.prices.executor,
        "judge": task.prices.judge,
    }[role]


def prices_known(task: ResolvedTask) -> bool:
    """Whether what the run costs can be told."""
    return all(price_of(task, role) is not None for role in roles_used(task))


def rate_of(task: ResolvedTask, act: str) -> Rate:
    """What a model act of this name costs; nothing where the run's cost cannot be told."""
    price = price_of(task, _ROLES.get(act, "judge")) if prices_known(task) else None
    return Rate(Decimal(price.prompt), Decimal(price.completion)) if price else Rate()


def estimated(rate: Rate, prompt_tokens: int, completion_tokens: int, calls: int) -> Decimal:
    """What the next call is likely to cost: the mean of what `calls` calls took so far.

    Before any call has told, the first estimate at the dearer of both prices.
    """
    if calls < 1 or not prompt_tokens + completion_tokens:
        return max(rate.of(FIRST_ESTIMATE, 0), rate.of(0, FIRST_ESTIMATE))
    return rate.of(-(-prompt_tokens // calls), -(-completion_tokens // calls))


def charged(rate: Rate, usage: TokenUsage, reserved: Decimal) -> Decimal:
    """What an act costs by its reply's usage, each attempt before it its reservation.

    No tokens at all means that nothing was billed: the server refused every attempt.
    """
    if not usage.prompt_tokens + usage.completion_tokens:
        return _NOTHING
    lost = max(1, usage.attempt) - 1
    return rate.of(usage.prompt_tokens, usage.completion_tokens) + lost * reserved


def money_text(value: Decimal) -> str:
    """A sum as contracts carry it: no exponent, no trailing zeros, cut at twelve places."""
    text = format(value.quantize(_SMALLEST, ROUND_DOWN), "f").rstrip("0").rstrip(".")
    return "0" if text in ("", "-0") else text
