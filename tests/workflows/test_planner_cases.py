"""Cases of plans through the real workflow: identity, dead ends, collisions, reasons, reuse.

Of each group every third expressible case in file order. A plan fails globally when its steps find
nothing; a constant second step stands beside the goals of a case, since a plan has two at least.
"""

from typing import Any

import pytest

from tests.case_files import departs, load
from tests.workflows.plan_stage import KSM, Stage, step_of, told
from tests.workflows.planned import PlannedModel, action, goal, step, write
from tests.workflows.test_plan_cases import third

PLANNER = load("planner_cases.json")
FILE = "planner_cases.json"
NOTHING = {"insufficient": "nothing there", "claims": []}
# Goals of plans that no case holds, each unlike the others.
FRESH = ["harbour and mole", "telegram", "mountain pass", "festival"]


def any_case(_: dict[str, Any]) -> bool:
    return True


def plan_of(goals: list[str], beside: str = "") -> dict[str, Any]:
    """A plan with these goals; the first step serves the topic."""
    every = [*goals, *([beside] if beside else [])]
    return {
        "steps": [
            step(f"s{n}", each, topics=["ksm"] if n == 1 else []) for n, each in enumerate(every, 1)
        ]
    }


def model_of(**script: Any) -> PlannedModel:
    """A model that finds the same source whatever the step."""
    return PlannedModel(
        step_action=lambda user: (
            action("write", enough="yes")
            if user["evidence"]
            else action("search", "KSM merges identical memory pages")
        ),
        **script,
    )


@pytest.mark.cases(FILE)
@pytest.mark.parametrize(
    "case", third(PLANNER["fingerprint_pairs"], any_case), ids=lambda c: c["note"]
)
async def test_fingerprint_case(stage: Stage, case: dict[str, Any]) -> None:
    """The plan that failed is recognised in the next one, or is not."""
    plans = [plan_of(case["a"], "x" * 40), plan_of(case["b"], "x" * 40), plan_of(FRESH[:2])]
    model = model_of(plan=plans, written_result=NOTHING)
    await stage.run(model, required_topics=[KSM], limits={"max_replans": 1})
    asked = model.users("plan")
    assert (len(asked) == 3) == case["recommended_same"]
    assert ("problems" in asked[-1]) == case["recommended_same"]


@pytest.mark.cases(FILE)
@pytest.mark.parametrize("case", third(PLANNER["dead_end_cases"], any_case), ids=lambda c: c["id"])
async def test_dead_end_case(
    stage: Stage, case: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    """A plan is a dead end after it has failed globally, not while it is tried."""
    plans = case["plans"]
    goals = {each: case["outcomes"][n] for n, plan in enumerate(plans) for each in plan}
    model = model_of(
        plan=[plan_of(plan) for plan in plans],
        written_result=lambda user: (
            NOTHING if goals[user["step"]["goal"]] == "global" else write(user)
        ),
    )
    result = await stage.run(model, required_topics=[KSM])
    expected = case["expected"]
    for planning, user in zip(expected["plannings"], model.users("plan"), strict=False):
        assert len(user["failed_plans"]) == planning["dead_ends_before"]
    most = PLANNER["budgets"]["max_replans"]
    if expected["replans_final"] > most:
        departs(request, "C56")  # the counter alone goes beyond the limit of a run
    assert result["usage"]["replans"] == min(expected["replans_final"], most), told(result)


@pytest.mark.cases(FILE)
@pytest.mark.parametrize("case", third(PLANNER["collision_cases"], any_case), ids=lambda c: c["id"])
async def test_collision_case(stage: Stage, case: dict[str, Any]) -> None:
    """A plan that failed is asked for once more, then the run closes."""
    failed: list[list[str]] = case["dead_ends"]
    dead = {goal_ for plan in failed for goal_ in plan}
    works = case["expected"].get("plan", [])
    model = model_of(
        plan=[plan_of(plan) for plan in [*failed, *case["planner_replies"]]],
        written_result=lambda user: (
            NOTHING
            if user["step"]["goal"] in dead and user["step"]["goal"] not in works
            else write(user)
        ),
    )
    result = await stage.run(model, required_topics=[KSM])
    expected = case["expected"]
    assert model.count("plan") == len(failed) + expected["planner_calls"], told(result)
    if expected["outcome"] == "execute":
        assert [s["goal"] for s in result["steps"]] == expected["plan"]
    else:
        assert (result["stop_reason"], result["degraded"]) == ("plan_repeated", True)


@pytest.mark.cases(FILE)
@pytest.mark.parametrize(
    "case", third(PLANNER["planner_failure_window"], any_case), ids=lambda c: c["id"]
)
async def test_failure_window_case(stage: Stage, case: dict[str, Any]) -> None:
    """The planner sees the last five reasons: of local failures, then of a global one."""
    reasons: list[str] = case["reasons"]
    told_ = iter(reasons)
    model = model_of(
        plan=[plan_of(["Find KSM"], FRESH[0]), plan_of(FRESH[1:3])],
        goal=lambda user: (
            goal(0.6 if reason != reasons[-1] else 0.1, reason=reason)
            if user["goal"] == "Find KSM" and (reason := next(told_, ""))
            else goal()
        ),
    )
    limits = {"max_local_retries": 20, "max_rounds": 30, "max_replans": 1}
    await stage.run(model, required_topics=[KSM], limits=limits)
    seen = model.users("plan")[-1]["failure_reasons"]
    assert [reason.removeprefix("s1: ") for reason in seen] == case["expected"]


@pytest.mark.cases(FILE)
@pytest.mark.parametrize("case", third(PLANNER["executor_reason"], any_case), ids=lambda c: c["id"])
async def test_executor_reason_case(stage: Stage, case: dict[str, Any]) -> None:
    """A retry carries the last reason of its own step, and nothing else does."""
    history = iter([h for h in case["history"] if h["step"] == "s1"])

    def judged(user: dict[str, Any]) -> dict[str, Any]:
        verdict = next(history, None) if user["goal"] == "Find KSM" else None
        failed = verdict is not None and not verdict["passed"]
        return goal(0.6 if failed else 0.9, reason=verdict["reason"] if verdict else "fine")

    plan = {"steps": [step("s1", "Find KSM", topics=["ksm"]),
                      step("s2", "Find more", topics=["ksm"], depends_on=["s1"])]}  # fmt: skip
    model = model_of(goal=judged)
    await stage.run(model, required_topics=[KSM], plan=plan, limits={"max_local_retries": 5})
    own = [user for user in model.users("written_result") if step_of(user) == case["step"]]
    assert own[-1].get("fix_first") == case["expected_reason"]


@pytest.mark.cases(FILE)
@pytest.mark.parametrize(
    "case",
    third(PLANNER["goal_similarity"], lambda c: bool(c["a"].strip())),
    ids=lambda c: f"{c['a']}-{c['b']}",
)
async def test_reuse_case(stage: Stage, case: dict[str, Any]) -> None:
    """What a step found serves a step of the next plan, if their goals are close enough (37)."""
    plans = [plan_of([case["a"]], "x" * 60), plan_of([case["b"]], FRESH[1])]
    plans[1]["steps"][0]["id"] = "n1"
    model = model_of(
        plan=plans,
        written_result=lambda user: NOTHING if "xxx" in user["step"]["goal"] else write(user),
    )
    result = await stage.run(model, required_topics=[KSM])
    assert result["plan_version"] == 2, told(result)
    executed = [user for user in model.users("written_result") if step_of(user) == "n1"]
    assert (executed == []) == case["expected_reuse_at_0_8"]
    verified = [user for user in model.users("goal") if user["goal"] == case["b"]]
    assert verified  # against its new criterion, executed or not


FAILED_BEFORE = next(c for c in PLANNER["replan_keeps"] if c["id"] == "no_reuse_of_failed_result")


@pytest.mark.cases(FILE)
async def test_a_failed_result_is_not_reused(stage: Stage) -> None:
    failed = FAILED_BEFORE["before"]["results"]["s1"]["goal"]
    new = FAILED_BEFORE["new_plan"]
    low = iter([0.1])
    plans = [plan_of([failed], FRESH[0]), {"steps": [
        step(each["id"], each["goal"], topics=["ksm"]) for each in new]}]  # fmt: skip
    model = model_of(
        plan=plans, goal=lambda user: goal(next(low, 0.9) if user["goal"] == failed else 0.9)
    )
    await stage.run(model, required_topics=[KSM])
    executed = {step_of(user) for user in model.users("written_result")} & {s["id"] for s in new}
    assert sorted(executed) == FAILED_BEFORE["expected"]["executed"]
