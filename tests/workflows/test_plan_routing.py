"""What follows a verdict: a retry with its own reason, escalation, another plan, the end.

How it can go wrong: a retry without its reason, or with another step's; a plan that is only
reworded; a result that is lost, or reused unverified; a judge without a verdict that passes.
"""

from typing import Any

from tests.workflows.plan_stage import Stage, step_of, told
from tests.workflows.planned import PlannedModel, goal, plan_for, step


async def test_a_retry_carries_its_own_reason_first(stage: Stage) -> None:
    scores = iter([0.6])
    model = PlannedModel(
        goal=lambda user: (
            goal(next(scores, 0.9), reason="the unit is missing")
            if "ksm" in user["goal"]
            else goal()
        )
    )
    result = await stage.run(model)
    assert result["status"] == "succeeded", told(result)
    assert {s["id"]: s["attempts"] for s in result["steps"]} == {"s1": 2, "s2": 1}
    retries = [u for u in model.users("written_result") if "fix_first" in u]
    assert [step_of(u) for u in retries] == ["s1"]
    assert next(iter(retries[0])) == "fix_first"
    assert retries[0]["fix_first"] == "the unit is missing"


async def test_local_failures_escalate_then_a_new_plan_keeps_results(stage: Stage) -> None:
    def plans(user: dict[str, Any]) -> dict[str, Any]:
        if not user["failed_plans"]:
            return plan_for(user)
        return {
            "steps": [
                step("n1", "Look up what KSM writes to the file run", topics=["ksm"]),
                step("n2", "Find zswap", topics=["zswap"]),
            ]
        }

    model = PlannedModel(
        plan=plans,
        goal=lambda user: goal(0.6, reason="too thin") if user["goal"] == "Find ksm" else goal(),
    )
    result = await stage.run(model)
    assert result["status"] == "succeeded", told(result)
    assert (result["plan_version"], result["usage"]["replans"]) == (2, 1)
    assert result["usage"]["rounds"] == 3 + 1 + 2
    second = model.users("plan")[1]
    assert "too thin" in second["failed_plans"][0]["reason"]
    assert second["failed_plans"][0]["fingerprint"]
    assert any("s2: Find zswap" in line for line in second["finished_steps"])
    # The finished step was reused: verified again, not executed again.
    searched = [u for u in model.users("step_action") if step_of(u) == "n2"]
    assert searched == []
    ids = [item["id"] for item in result["evidence"]]
    assert len(ids) == len(set(ids))


async def test_the_same_plan_again_closes_degraded(stage: Stage) -> None:
    model = PlannedModel(written_result={"insufficient": "nothing there", "claims": []})
    result = await stage.run(model)
    assert result["stop_reason"] == "plan_repeated", told(result)
    assert result["degraded"]
    assert model.count("plan") == 3  # the first, the repeat, and the one re-ask
    assert "failed before" in " ".join(model.users("plan")[2]["problems"])


async def test_replans_end_at_their_limit(stage: Stage) -> None:
    def other(user: dict[str, Any]) -> dict[str, Any]:
        word = ["alpha beta", "gamma delta", "epsilon eta", "omega chi"][len(user["failed_plans"])]
        topics = ["ksm", "zswap"]
        return {"steps": [step("s1", f"{word} one", topics=topics), step("s2", word, topics=[])]}

    model = PlannedModel(plan=other, written_result={"insufficient": "no", "claims": []})
    result = await stage.run(model, limits={"max_replans": 2})
    assert (result["stop_reason"], result["usage"]["replans"]) == ("replan_limit", 2), told(result)


async def test_a_judge_without_a_verdict_is_never_a_pass(stage: Stage) -> None:
    model = PlannedModel(goal={"passed": True, "reason": "fine"})
    result = await stage.run(model)
    assert (result["stop_reason"], result["degraded"]) == ("verifier_error", True), told(result)
    assert result["status"] == "partially_succeeded"
    assert model.count("goal") == 2 * model.count("written_result")  # each asked once more
