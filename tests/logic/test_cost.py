"""Money: rates, estimates, charges, and reservations that never exceed the limit.

How it can go wrong: a float rounds a cent away; parallel calls reserve the same money twice; a lost
attempt is free; a refused one is paid; a cost that cannot be told is shown as one that is.
"""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflows.contracts import names
from workflows.contracts.acts import TokenUsage
from workflows.contracts.plan import Plan, Step
from workflows.contracts.price import Price, RolePrices
from workflows.contracts.state import RunState, UsageState
from workflows.contracts.task import Limits, ResolvedTask, Settings, Strategy, Task
from workflows.logic import budget, cost, react
from workflows.logic.resolve import limits_for, resolve

PLANNER = Price(prompt="2.00", completion="8.00")
EXECUTOR = Price(prompt="1", completion="5")
JUDGE = Price(prompt="0.40", completion="1.60")
ALL = RolePrices(planner=PLANNER, executor=EXECUTOR, judge=JUDGE)
RATE = cost.Rate(Decimal(2), Decimal(8))
OWN = Plan(steps=[Step(id="s1", goal="Find it", accept="a quote")])


def task(strategy: Strategy = "plan", prices: RolePrices = ALL, **fields: Any) -> ResolvedTask:
    given_ = Task.model_validate({"goal": "Neutral goal", "strategy": strategy, **fields})
    resolved = resolve(given_, "default", "m", Settings(), extractive=False)
    return resolved.model_copy(update={"prices": prices})


def test_a_rate_is_for_a_million_tokens_and_exact() -> None:
    assert RATE.of(1_000_000, 0) == 2
    assert RATE.of(0, 1_000_000) == 8
    assert RATE.of(1, 1) == Decimal("0.00001")
    tenth = cost.Rate(Decimal("0.1"), Decimal("0.2"))
    assert tenth.of(1_000_000, 1_000_000) == Decimal("0.3")  # in float 0.30000000000000004


@pytest.mark.parametrize(
    ("act", "price"),
    [
        (names.DECIDE, PLANNER),
        (names.ANSWER, PLANNER),
        (names.PLAN, PLANNER),
        (names.STEP_ACTION, EXECUTOR),
        (names.WRITE, EXECUTOR),
        (names.SUPPORT, JUDGE),
        (names.GOAL, JUDGE),
        (names.TOPIC, JUDGE),
        (names.CONFLICT, JUDGE),
    ],
)
def test_each_act_has_the_price_of_its_role(act: str, price: Price) -> None:
    expected = cost.Rate(Decimal(price.prompt), Decimal(price.completion))
    assert cost.rate_of(task(), act) == expected


@pytest.mark.parametrize(
    ("resolved", "known"),
    [
        (task(), True),
        (task(prices=RolePrices()), False),
        (task(prices=RolePrices(planner=PLANNER, executor=EXECUTOR)), False),
        (task(prices=RolePrices(executor=EXECUTOR, judge=JUDGE)), False),
        # the caller's own plan needs no planner, the other loops nothing else
        (task(prices=RolePrices(executor=EXECUTOR, judge=JUDGE), plan=OWN.model_dump()), True),
        (task("react", RolePrices(planner=PLANNER)), True),
        (task("direct", RolePrices(executor=EXECUTOR, judge=JUDGE)), False),
    ],
)
def test_a_cost_is_told_only_when_every_price_is_known(resolved: ResolvedTask, known: bool) -> None:
    assert cost.prices_known(resolved) is known
    told = [cost.rate_of(resolved, act) != cost.Rate() for act in (names.DECIDE, names.SUPPORT)]
    assert known or told == [False, False]


@pytest.mark.parametrize(
    ("prompt", "completion", "calls", "expected"),
    [
        (0, 0, 0, "0.012"),  # 1500 tokens at the dearer price
        (0, 0, 3, "0.012"),  # free calls tell nothing of what a paid one takes
        (3000, 600, 3, "0.0036"),
        (100, 10, 3, "0.0001"),  # 34 and 4 tokens: rounded up
    ],
)
def test_an_estimate_is_the_mean(prompt: int, completion: int, calls: int, expected: str) -> None:
    assert cost.estimated(RATE, prompt, completion, calls) == Decimal(expected)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 1000, "completion_tokens": 100}, "0.0028"),
        ({"prompt_tokens": 1000, "completion_tokens": 100, "attempt": 3}, "2.0028"),
        ({"attempt": 4}, "0"),  # refused, and not billed
        ({"prompt_tokens": 1, "attempt": 0}, "0.000002"),
    ],
)
def test_a_charge(usage: dict[str, int], expected: str) -> None:
    assert cost.charged(RATE, TokenUsage.model_validate(usage), Decimal(1)) == Decimal(expected)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("0.10", "0.1"),
        ("100", "100"),
        ("1E+3", "1000"),
        ("1e-7", "0.0000001"),
        ("1e-13", "0"),
        ("0.000000000001", "0.000000000001"),
    ],
)
def test_money_as_text(value: str, text: str) -> None:
    assert cost.money_text(Decimal(value)) == text


@pytest.mark.parametrize("strategy", ["plan", "react", "direct"])
@pytest.mark.parametrize(
    ("given_", "most"), [(0.1, "0.1"), (3, "3"), (0, "0"), (1e-7, "0.0000001")]
)
def test_the_limit_is_the_number_that_was_written(
    strategy: Strategy, given_: float, most: str
) -> None:
    assert limits_for(strategy, Limits(max_cost=given_), 1).max_cost == most
    assert limits_for(strategy, Limits(), 1).max_cost is None


@pytest.mark.parametrize(
    ("spent", "next_", "most", "reason"),
    [
        ("0", "0.1", 0.1, None),
        ("0.1", "0.1", 0.2, None),
        ("0.1", "0.100000000001", 0.2, "cost_budget"),
        ("0", "0.1", 0, "cost_budget"),
        ("0.3", "0", 0, None),  # what costs nothing may always start
        ("5", "5", None, None),
    ],
)
def test_react_stops_before_a_call_that_does_not_fit(
    spent: str, next_: str, most: float | None, reason: str | None
) -> None:
    limits = {} if most is None else {"max_cost": most}
    state = RunState(usage=UsageState(cost=spent))
    found = react.before_decision(state, task("react", limits=limits), Decimal(next_))
    assert getattr(found, "stop_reason", None) == reason


def test_tokens_are_looked_at_before_money() -> None:
    state = RunState(usage=UsageState(prompt_tokens=100, cost="9"))
    resolved = task("react", limits={"max_tokens": 100, "max_cost": 1})
    assert react.before_decision(state, resolved, Decimal(1)) == react.Finish("token_budget")


# --- reservations, in any order, of any size

money = st.decimals(0, 1, places=6)
acts = st.lists(
    st.tuples(
        money,  # estimate
        money,  # what the reply says, at most the estimate
        money,  # kept back
        st.booleans(),  # may use what is kept
        st.sampled_from(["start", "settle", "lose"]),
        st.integers(0, 30),
    ),
    max_size=60,
)


@given(acts, st.decimals(0, 5, places=6))
def test_reserved_and_spent_never_exceed_the_limit(
    steps: list[tuple[Decimal, Decimal, Decimal, bool, str, int]], most: Decimal
) -> None:
    bounds = budget.Bounds(1000, 0, max_cost=most)
    spent = budget.Spent()
    in_flight: list[budget.Act] = []
    for estimate, told, back, uses_kept, what, which in steps:
        if what == "start" or not in_flight:
            act = budget.Act("model", estimated_cost=estimate, uses_kept=uses_kept)
            found = budget.may_start(bounds, spent, budget.Kept(cost=back), act)
            needed = spent.cost + spent.reserved_cost + estimate + (0 if uses_kept else back)
            assert isinstance(found, budget.Reserved) == (needed <= most or not estimate)
            if isinstance(found, budget.Reserved):
                spent = found.spent
                in_flight.append(act)
            else:
                assert found.stop_reason == "cost_budget"
        else:
            act = in_flight.pop(which % len(in_flight))
            settled = None if what == "lose" else min(told, act.estimated_cost)
            spent = budget.settle(spent, act, 0, settled)
        assert spent.reserved_cost == sum(act.estimated_cost for act in in_flight)
        assert spent.cost + spent.reserved_cost <= most
