"""What a run does when no step is ready or running, as a rule.

How it can go wrong: a budget that was used up by the very act that finished the work; one failed
step that replans what does not need it; a plan of the caller's that is changed; a topic that no
finding covers sends a finished plan round again.
"""

from typing import Any

import pytest

from tests.case_files import load
from tests.logic import closing
from workflows.contracts.plan import Plan, Step, StepStatus
from workflows.contracts.plan_state import PlanState, StepState
from workflows.contracts.task import ResolvedTask
from workflows.logic.plan_run import Finish, Replan, adopt, at_rest, keep_result

PLAN = Plan(
    steps=[
        Step(id="s1", goal="Find KSM", accept="a quote", topics=["loop"]),
        Step(id="s2", goal="Find zswap", accept="a quote", topics=["recovery"]),
        Step(id="s3", goal="Look around", accept="a quote", required=False),
    ]
)


def planned(**limits: Any) -> ResolvedTask:
    task = closing.task(strategy="plan", extractive=False)
    most = {"max_replans": 3, **limits}
    return task.model_copy(update={"limits": task.limits.model_copy(update=most)})


def dag(*statuses: StepStatus, **changes: Any) -> PlanState:
    steps = {
        step.id: StepState(status=status, reason=f"{step.id} broke" if status == "FAILED" else "")
        for step, status in zip(PLAN.steps, statuses, strict=True)
    }
    return PlanState(plan=PLAN, steps=steps, version=1, **changes)


def test_all_steps_done_closes_whatever_the_topics_say() -> None:
    """Rule 3: passed at the last step finalizes (REQUIREMENTS 102; DESIGN: all done, then topics).

    Topics are judged afterwards; one that is not covered is named as a gap, and lowers the status.
    """
    done = dag("DONE", "DONE", "DONE", answers={"0": "answered", "1": "no"})
    assert at_rest(done, planned()) == Finish("completed")


def test_completion_is_looked_at_before_budgets_and_limits() -> None:
    used_up = dag("DONE", "DONE", "DONE", ending="model_budget", replans=3)
    assert at_rest(used_up, planned()) == Finish("completed")  # C14


def test_a_step_that_is_not_required_holds_nobody_up() -> None:
    assert at_rest(dag("DONE", "DONE", "FAILED"), planned()) == Finish("completed")


def test_what_ends_the_run_comes_before_another_plan() -> None:
    ended = dag("DONE", "FAILED", "DONE", ending="round_limit", ending_detail="why")
    assert at_rest(ended, planned()) == Finish("round_limit", "why")


def test_a_failed_plan_is_made_anew_while_replans_are_left() -> None:
    failed = dag("DONE", "FAILED", "BLOCKED")
    assert at_rest(failed, planned()) == Replan("s2: s2 broke")
    failed.replans = 3
    assert at_rest(failed, planned()) == Finish("replan_limit", "s2: s2 broke")


@pytest.mark.parametrize("changes", [{"plan": PLAN}, {"extractive": True}])
def test_a_callers_plan_and_one_that_code_would_make_again_are_not_replanned(
    changes: dict[str, Any],
) -> None:
    task = planned().model_copy(update=changes)
    assert at_rest(dag("DONE", "FAILED", "DONE"), task) == Finish("step_failed", "s2: s2 broke")


@pytest.mark.cases("planner_cases.json")
def test_a_new_plan_keeps_results_and_evidence() -> None:
    """Plan and steps are replaced, nothing that was found is (REQUIREMENTS 36)."""
    case = next(c for c in load("planner_cases.json")["replan_keeps"] if c.get("event") == "replan")
    before, after = case["before"], case["after"]
    ref = "sha256:" + "0" * 64
    state = dag("DONE", "DONE", "FAILED")
    for name in before["results"]:
        state.steps[name].best_ref, state.steps[name].best_score = ref, 0.9
        state.steps[name].page_ref, state.steps[name].page_numbers = ref, [1, 2, 3]
        keep_result(state, next(s for s in PLAN.steps if s.id == name), passed=True)
    new = Plan(steps=[Step(id="n1", goal="Compare prices", accept="a quote")])
    adopt(state, new)
    assert state.version == after["plan_version"]
    assert [kept.step for kept in state.kept.values()] == after["results_at_least"]
    assert [page.numbers for page in state.old_pages] == [[1, 2, 3]] * 2
    assert {step.status for step in state.steps.values()} == {"PENDING"}  # the cursor
