"""Stalls, success, budgets, quantities, derived values: tables and what holds for anything."""

import contextlib
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import load
from workflows.contracts.result import StopReason
from workflows.logic import budget, progress, success
from workflows.logic.derived import DerivedError, derived_from, evaluate
from workflows.logic.quantities import chinese_number, missing_quantities, negations, quantities
from workflows.logic.terms import query_key

CASES = load("progress_cases.json")
FILE = "progress_cases.json"


@pytest.mark.cases(FILE)
@pytest.mark.parametrize("case", CASES["stall_cases"], ids=lambda case: case["id"])
def test_stall_case(case: dict[str, Any]) -> None:
    snapshots = [
        progress.Snapshot(**dict[str, Any]({**each, "done": tuple(each["done"])}))
        for each in case["snapshots"]
    ]
    assert progress.stalled(snapshots, case["k"]) == case["expected_stalled"]
    assert CASES["default_k"] == progress.STALL


@pytest.mark.cases(FILE)
@pytest.mark.parametrize("case", CASES["argument_keys"])
def test_keys_of_arguments(case: dict[str, Any]) -> None:
    assert (query_key(case["a"]) == query_key(case["b"])) == case["query_key_equal"]
    same = progress.stall_key(case["a"]) == progress.stall_key(case["b"])
    assert same == case["stall_key_equal"]


@pytest.mark.cases(FILE)
@pytest.mark.parametrize("case", CASES["coverage_cases"])
def test_coverage_case(case: dict[str, Any]) -> None:
    assert success.coverage(case["required"], case["covered"]) == case["expected_coverage"]
    assert success.may_succeed(case["required"], case["covered"]) == case["may_succeed"]


@pytest.mark.cases(FILE)
@pytest.mark.parametrize("row", CASES["success_truth_table"])
def test_success_row(row: dict[str, bool]) -> None:
    found = success.succeeded(
        goal=row["goal_satisfied"],
        evidence=row["evidence_sufficient"],
        permission=row["permission_valid"],
        output=row["output_valid"],
    )
    assert found == row["expected_success"]


@pytest.mark.cases(FILE)
@pytest.mark.parametrize("row", CASES["terminal_truth_table"])
def test_terminal_row(row: dict[str, bool]) -> None:
    given_ = {name: value for name, value in row.items() if name != "expected_terminal"}
    assert success.terminal(**given_) == row["expected_terminal"]


# What each situation of the cases is called here: by the words that tell its kind.
SITUATIONS: dict[StopReason, tuple[str, ...]] = {
    "no_progress": ("no rows", "no data"),
    "permission": ("may not", "not allowed"),
    "unanswered": ("nobody answered", "never specified"),
    "plan_invalid": ("cycle", "step graph"),
    "model_budget": ("calls", "budget", "used up"),
    "step_failed": ("tool", "service", "timeout"),
}


@pytest.mark.cases(FILE)
@pytest.mark.parametrize("case", CASES["failure_codes"], ids=lambda case: case["situation"])
def test_failure_code(case: dict[str, str]) -> None:
    said = case["situation"]
    reasons: list[StopReason] = [
        reason for reason, words in SITUATIONS.items() if any(word in said for word in words)
    ]
    assert success.failure_code(reasons[0]) == case["expected_code"]


@pytest.mark.cases(FILE)
@pytest.mark.parametrize("case", CASES["claim_cases"], ids=lambda case: case["id"])
def test_claim_case(case: dict[str, Any]) -> None:
    unbacked = success.unbacked_claims(
        case["final_claims"], case["facts"], case["derived"], case["hypotheses"]
    )
    assert ("block" if unbacked else "accept") == case["expected"]


def test_repeats_are_counted_over_attempts_until_there_is_news() -> None:
    repeats: dict[str, int] = {}
    assert [progress.noted(repeats, "k", news=False) for _ in range(3)] == [False, False, True]
    assert not progress.noted(repeats, "k", news=True)
    assert repeats == {}


# --- budgets

BOUNDS = budget.Bounds(10, 5, 3, 1000, Decimal(2), 60.0)


@pytest.mark.parametrize(
    ("spent", "act", "kept", "reason"),
    [
        ({"model_calls": 10}, {"kind": "model"}, {}, "model_budget"),
        ({"model_calls": 7}, {"kind": "model"}, {"model_calls": 3}, "model_budget"),
        ({"tool_calls": 5}, {"kind": "tool"}, {}, "tool_budget"),
        ({"rounds": 3}, {"kind": "round"}, {}, "round_limit"),
        ({"tokens": 1000}, {"kind": "model"}, {}, "token_budget"),
        (
            {"tokens": 500, "reserved_tokens": 400},
            {"kind": "model", "estimated_tokens": 200},
            {},
            "token_budget",
        ),
        (
            {"cost": Decimal("1.9")},
            {"kind": "model", "estimated_cost": Decimal("0.2")},
            {},
            "cost_budget",
        ),
        (
            {"cost": Decimal(1), "reserved_cost": Decimal("0.9")},
            {"kind": "model", "estimated_cost": Decimal("0.2")},
            {},
            "cost_budget",
        ),
        (
            {"cost": Decimal(1)},
            {"kind": "model", "estimated_cost": Decimal("0.2")},
            {"cost": Decimal("0.9")},
            "cost_budget",
        ),
        ({"active_seconds": 50.0}, {"kind": "tool"}, {"seconds": 20.0}, "timeout"),
    ],
)
def test_each_budget_has_its_own_reason(
    spent: dict[str, Any], act: dict[str, Any], kept: dict[str, Any], reason: StopReason
) -> None:
    found = budget.may_start(BOUNDS, budget.Spent(**spent), budget.Kept(**kept), budget.Act(**act))
    assert found == budget.Exhausted(reason)


def test_what_is_kept_is_for_those_it_is_kept_for() -> None:
    spent, kept = budget.Spent(model_calls=7), budget.Kept(model_calls=3)
    act = budget.Act("model", uses_kept=True)
    assert isinstance(budget.may_start(BOUNDS, spent, kept, act), budget.Reserved)


ACTS = st.builds(
    budget.Act,
    st.sampled_from(["model", "tool", "round"]),
    st.integers(0, 400),
    st.decimals(0, 1, places=2),
    st.booleans(),
)


@given(st.lists(st.tuples(ACTS, st.booleans(), st.none() | st.integers(0, 400)), max_size=40))
def test_reservations_never_exceed_a_bound(
    acts: list[tuple[budget.Act, bool, int | None]],
) -> None:
    spent, kept = budget.Spent(), budget.Kept(model_calls=2)
    open_acts: list[budget.Act] = []
    for act, ends, tokens in acts:
        found = budget.may_start(BOUNDS, spent, kept, act)
        if isinstance(found, budget.Reserved):
            spent = found.spent
            open_acts.append(act)
            if not act.uses_kept and act.kind == "model":
                assert spent.model_calls + kept.model_calls <= BOUNDS.max_model_calls
        else:
            assert budget.may_start(BOUNDS, spent, kept, act) == found
        assert spent.model_calls <= BOUNDS.max_model_calls
        assert spent.tool_calls <= BOUNDS.max_tool_calls
        assert spent.rounds <= (BOUNDS.max_rounds or 0)
        assert spent.reserved_tokens >= 0
        if ends and open_acts:
            told = None if tokens is None else min(tokens, open_acts[-1].estimated_tokens)
            spent = budget.settle(spent, open_acts.pop(), told)
        assert spent.tokens + spent.reserved_tokens <= (BOUNDS.max_tokens or 0)


# --- quantities and derived values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("fell from 100 to 80, i.e. 20 percent", [("100", ""), ("80", ""), ("20", "%")]),
        ("1,200 kg and 1.2 thousand", [("1200", "kg"), ("1200.0", "")]),
        ("百分之五十、三万五千人", [("50", "%"), ("35000", "")]),
        ("2 个百分点", [("2", "pp")]),
        ("version 3.11.2", [("3112", "version")]),
        ("twelve apples, two million pears", [("12", ""), ("2000000", "")]),
        ("no number here", []),
    ],
)
def test_quantities(text: str, values: list[tuple[str, str]]) -> None:
    found = [(str(q.value), q.unit) for q in quantities(text)]
    assert found == values


@pytest.mark.parametrize(
    ("claim", "passage", "missing"),
    [
        ("It takes 1200 kg", "1,200 kg are needed", []),
        ("50%", "百分之五十", []),
        ("50 kg", "50 g", ["50 kg"]),
        ("rose by 5%", "rose by 5 percentage points", ["5%"]),
        ("101 rows", "100 rows", ["101 rows"]),
        ("in 12 steps", "in twelve steps", []),
    ],
)
def test_missing_quantities(claim: str, passage: str, missing: list[str]) -> None:
    assert missing_quantities(claim, [passage]) == missing


def test_chinese_numerals() -> None:
    assert [chinese_number(t) for t in ("三百二十", "一万五千", "二〇二四", "十", "")] == [
        Decimal(320),
        Decimal(15000),
        Decimal(2024),
        Decimal(10),
        None,
    ]


def test_negations() -> None:
    assert [negations(t) for t in ("It does not", "isn't and never", "不支持", "notable")] == [
        1,
        2,
        1,
        0,
    ]


def test_a_derived_value_comes_from_its_quotes() -> None:
    quotes = ["Sales were 100 in Q3.", "Sales were 80 in Q4."]
    assert derived_from("(100-80)/100", "Sales fell by 20%.", quotes).value == Decimal("0.2")
    with pytest.raises(DerivedError, match="stands in no quote"):
        derived_from("(100-70)/100", "Sales fell by 30%.", quotes)
    with pytest.raises(DerivedError, match="does not state"):
        derived_from("(100-80)/100", "Sales fell by 25%.", quotes)


@pytest.mark.parametrize(
    "expression",
    ["", "1/0", "9**9**9", "__import__('os')", "a+1", "1;2", "(" * 150, "1" * 300, "True+1", "[1]"],
)
def test_an_expression_that_is_none_is_refused(expression: str) -> None:
    with pytest.raises(DerivedError):
        evaluate(expression)


@pytest.mark.parametrize(
    ("expression", "value"),
    [("min(3, 2)", 2), ("sum(1,2,3)", 6), ("abs(-4)", 4), ("100 > 90", 1), ("20% * 50", 10)],
)
def test_expressions(expression: str, value: int) -> None:
    assert evaluate(expression).value == value


@given(st.text(max_size=60))
def test_any_text_has_quantities_without_a_crash(text: str) -> None:
    for quantity in quantities(text):
        assert quantity.value.is_finite()
    with contextlib.suppress(DerivedError):
        evaluate(text)
