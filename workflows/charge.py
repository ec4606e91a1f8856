"""The money of one model call: reserved when it starts, settled once when it ends, however it ends.

Workflow code is one thread: between the check and the reservation nothing else runs, so parallel
branches cannot reserve the same money twice (DESIGN, "Budgets"; C21).
"""

from decimal import Decimal

from workflows.contracts.acts import TokenUsage
from workflows.engine import Engine
from workflows.logic.budget import Act, Spent, settle
from workflows.logic.cost import charged, estimated, money_text, rate_of


def next_cost(engine: Engine, act: str) -> Decimal:
    """What a call of the act named is likely to cost."""
    usage = engine.state.usage
    return estimated(
        rate_of(engine.task, act),
        usage.prompt_tokens,
        usage.completion_tokens,
        usage.model_calls - engine.reserved_calls,
    )


class Charge:
    """A reservation, from its making until `settle`."""

    def __init__(self, engine: Engine, act: str, reserved: Decimal) -> None:
        self._engine = engine
        self._rate = rate_of(engine.task, act)
        self._reserved = reserved
        engine.reserved_cost += reserved

    def settle(self, usage: TokenUsage | None) -> None:
        """Charge what the call took; None for one that was lost: its reservation stands."""
        total = self._engine.state.usage
        books = Spent(cost=Decimal(total.cost), reserved_cost=self._engine.reserved_cost)
        act = Act(kind="model", estimated_cost=self._reserved)
        cost = None if usage is None else charged(self._rate, usage, self._reserved)
        books = settle(books, act, tokens=0, cost=cost)
        total.cost, self._engine.reserved_cost = money_text(books.cost), books.reserved_cost
