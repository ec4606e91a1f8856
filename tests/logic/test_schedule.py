"""The graph's rules in a small simulator: waves, failures, retries, budgets, repair, revision.

The simulator is the one that `dag_cases.json` describes: a barrier after each wave, ready steps in
listing order, completion looked at before the budget. It decides nothing itself.
"""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import departs, load
from workflows.contracts.plan import StepStatus
from workflows.logic import schedule
from workflows.logic.derived import declined, evaluate
from workflows.logic.plan_rules import graph_problems

DAG = load("dag_cases.json")
CASES = "dag_cases.json"


@dataclass(frozen=True)
class Step:
    """A step as the rules see it."""

    id: str
    depends_on: tuple[str, ...] = ()
    required: bool = True
    args: str = ""


@dataclass
class Simulator:
    """Runs a plan in waves by the rules of `schedule`."""

    steps: list[Step]
    outcomes: dict[str, list[str]]
    max_calls: int | None = None
    max_attempts: int = 1
    limit: int | None = None
    statuses: dict[str, StepStatus] = field(default_factory=dict[str, StepStatus])
    waves: list[list[str]] = field(default_factory=list[list[str]])
    attempts: dict[str, int] = field(default_factory=dict[str, int])
    calls: int = 0
    starved: bool = False

    def __post_init__(self) -> None:
        self.statuses = dict.fromkeys((s.id for s in self.steps), "PENDING")
        self.attempts = dict.fromkeys((s.id for s in self.steps), 0)

    def run(self) -> None:
        """Wave after wave, until nothing is ready or the budget is used up."""
        while wave := schedule.ready(self.steps, self.statuses, self.limit):
            ran = [name for name in wave if self._runs(name)]
            if ran:
                self.waves.append(ran)
            self.statuses = schedule.propagate(self.steps, self.statuses)
            if self.starved:
                return

    def _runs(self, name: str) -> bool:
        outcomes = self.outcomes.get(name) or ["ok"]
        for attempt in range(self.max_attempts):
            if self.max_calls is not None and self.calls >= self.max_calls:
                self.starved = True
                if attempt:
                    self.statuses[name] = "FAILED"
                return attempt > 0
            self.calls += 1
            self.attempts[name] += 1
            outcome = outcomes[min(self.attempts[name], len(outcomes)) - 1]
            if outcome == "ok":
                self.statuses[name] = "DONE"
                return True
            if outcome == "permanent":
                break
        self.statuses[name] = "FAILED"
        return True

    @property
    def status(self) -> str:
        """The status by the rule of the case file."""
        required = [s for s in self.steps if s.required]
        if all(self.statuses[s.id] in ("DONE", "SKIPPED") for s in required):
            return "SUCCEEDED"
        return "ABORTED_BUDGET" if self.starved else "FAILED_TOOL"


def steps_of(nodes: list[dict[str, Any]]) -> list[Step]:
    return [
        Step(n["id"], tuple(n["depends_on"]), n.get("required", True), repr(n.get("args")))
        for n in nodes
    ]


def simulator(case: dict[str, Any]) -> Simulator:
    options = case["options"]
    outcomes = {node["id"]: node.get("outcomes", []) for node in case["nodes"]}
    return Simulator(
        steps_of(case["nodes"]),
        outcomes,
        options["max_calls"],
        options["max_attempts"],
        options["max_concurrency"],
    )


@pytest.mark.cases(CASES)
@pytest.mark.parametrize("case", DAG["cases"], ids=lambda case: case["id"])
def test_dag_case(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    expected = case["expected"]
    problems = graph_problems(steps_of(case["nodes"]))
    assert (problems == []) == expected["valid"]
    if not expected["valid"]:
        found = [{"code": p.code, "ids": list(p.ids)} for p in problems]
        assert sorted(found, key=str) == sorted(expected["errors"], key=str)
        return
    runs = simulator(case)
    assert schedule.ready(runs.steps, runs.statuses) == expected["first_ready"]
    assert schedule.levels(runs.steps) == expected["levels"]
    runs.run()
    found = (runs.waves, runs.statuses, runs.status, runs.calls, runs.attempts)
    assert found == (
        expected["waves"],
        expected["final_states"],
        expected["status"],
        expected["calls"],
        expected["attempts"],
    )
    operations = zip(case.get("operations", []), expected.get("after_operations", []), strict=True)
    for operation, after in operations:
        departs(request, "C54")  # repair and revision are for the pure rules
        operate(runs, operation, after)
    if "greedy" in expected:
        assert greedy(case, expected["greedy"]["max_concurrency"]) == expected["greedy"]["start"]


def operate(runs: Simulator, operation: dict[str, Any], after: dict[str, Any]) -> None:
    runs.waves = []
    before = dict(runs.statuses)
    if not after["accepted"]:
        with pytest.raises(schedule.RefusedError) as refused:
            change(runs, operation)
        assert refused.value.code == after["reason"]
        assert runs.statuses == before == after["states"]
        return
    change(runs, operation)
    runs.run()
    assert (runs.waves, runs.statuses, runs.status, runs.calls) == (
        after["new_waves"],
        after["states"],
        after["status"],
        after["calls"],
    )


def change(runs: Simulator, operation: dict[str, Any]) -> None:
    if operation["op"] == "repair":
        name = operation["node"]
        runs.statuses = schedule.repaired(runs.steps, runs.statuses, name)
        runs.outcomes[name] = operation["outcomes"]
        runs.attempts[name] = 0
        return
    new = steps_of(operation["nodes"])
    runs.statuses = schedule.revised(runs.steps, new, runs.statuses)
    runs.steps = new
    runs.attempts |= {s.id: 0 for s in new if s.id not in runs.attempts}


def greedy(case: dict[str, Any], limit: int) -> dict[str, int]:
    """Start times without a barrier: what is ready starts as soon as there is room."""
    steps = steps_of(case["nodes"])
    durations = {node["id"]: node["duration"] for node in case["nodes"]}
    statuses: dict[str, StepStatus] = dict.fromkeys(durations, "PENDING")
    start: dict[str, int] = {}
    now = 0
    while "PENDING" in statuses.values() or "RUNNING" in statuses.values():
        for name in schedule.ready(steps, statuses, limit):
            start[name], statuses[name] = now, "RUNNING"
        now += 1
        for name in [n for n, s in statuses.items() if s == "RUNNING"]:
            if start[name] + durations[name] <= now:
                statuses[name] = "DONE"
    return start


@pytest.mark.cases(CASES)
@pytest.mark.parametrize("case", DAG["decline_cases"])
def test_decline_case(case: dict[str, Any]) -> None:
    if "expected_error" in case:
        # An undefined rate and an incomplete period are no declines; the tool that needs them
        # says what is missing (test_sales).
        assert case["previous"] == 0 or case["current"] is None
        return
    found = declined(Decimal(case["previous"]), Decimal(case["current"]))
    assert found == case["expected_declined"]


@pytest.mark.cases(CASES)
def test_the_reference_run_declines_as_told() -> None:
    sales = {(product, quarter): Decimal(n) for product, quarter, n in DAG["sample_rows"]}
    quarters = sorted({quarter for _, quarter in sales})
    found = [
        {
            "product": product,
            "decline_rate": float(evaluate(f"({before}-{after})/{before}").value),
        }
        for product in sorted({product for product, _ in sales})
        if declined(before := sales[product, quarters[0]], after := sales[product, quarters[1]])
    ]
    assert found == DAG["reference_run"]["declined_products"]


GRAPHS = st.integers(1, 9).flatmap(
    lambda n: st.lists(st.sets(st.integers(0, max(0, n - 1))), min_size=n, max_size=n)
).map(
    lambda edges: [
        Step(f"s{i}", tuple(f"s{d}" for d in sorted(e) if d < i)) for i, e in enumerate(edges)
    ]
)  # fmt: skip
OUTCOME = st.sampled_from(["ok", "permanent", "transient"])


@given(GRAPHS, st.data())
def test_whatever_happens_the_order_holds(steps: list[Step], data: st.DataObject) -> None:
    outcomes = {s.id: data.draw(st.lists(OUTCOME, min_size=1, max_size=2)) for s in steps}
    runs = Simulator(
        steps,
        outcomes,
        data.draw(st.none() | st.integers(0, 8)),
        data.draw(st.integers(1, 2)),
        data.draw(st.none() | st.integers(1, 3)),
    )
    runs.run()
    done_at = {name: place for place, wave in enumerate(runs.waves) for name in wave}
    for step in steps:
        if step.id in done_at:
            assert all(done_at[d] < done_at[step.id] for d in step.depends_on)
            assert all(runs.statuses[d] == "DONE" for d in step.depends_on)
    ran = [name for wave in runs.waves for name in wave]
    assert len(ran) == len(set(ran))
    assert schedule.propagate(steps, runs.statuses) == runs.statuses
    if not runs.starved:
        assert schedule.is_at_rest(steps, runs.statuses)
        assert set(runs.statuses.values()) <= {"DONE", "FAILED", "BLOCKED"}
    blocked = schedule.blocked_by(steps, runs.statuses)
    assert all(runs.statuses[c] == "FAILED" for causes in blocked.values() for c in causes)
    for name in [n for n, s in runs.statuses.items() if s == "FAILED"]:
        after = schedule.repaired(steps, runs.statuses, name)
        assert all(after[n] == "DONE" for n, s in runs.statuses.items() if s == "DONE")


def test_a_skipped_step_holds_nobody_up() -> None:
    steps = [Step("a"), Step("b", ("a",))]
    assert schedule.ready(steps, {"a": "SKIPPED", "b": "PENDING"}) == ["b"]


def test_a_chain_of_hundreds_is_fine() -> None:
    chain = [Step(f"s{i}", (f"s{i - 1}",) if i else ()) for i in range(600)]
    statuses: dict[str, StepStatus] = dict.fromkeys((s.id for s in chain), "PENDING")
    statuses["s0"] = "FAILED"
    assert set(schedule.propagate(chain, statuses).values()) == {"FAILED", "BLOCKED"}
    assert graph_problems([*chain[1:], Step("s0", ("s599",))])[0].code == "cycle"
