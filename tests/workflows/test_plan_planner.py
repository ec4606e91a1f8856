"""Plans: the planner's and the caller's, validated before anything runs.

How it can go wrong: an invalid plan that runs; a re-ask without what was wrong; re-asking for ever;
a caller's plan that is taken on trust.
"""

from typing import Any

import pytest

from tests.workflows.plan_stage import KSM, NOTES, Stage, told
from tests.workflows.planned import PlannedModel, plan_for, step


async def test_a_plan_is_made_run_verified_and_reported(stage: Stage) -> None:
    model = PlannedModel()
    handle = await stage.start(model)
    result = await handle.result()
    assert (result["status"], result["stop_reason"]) == ("succeeded", "completed"), told(result)
    assert (result["plan_version"], result["coverage"]) == (1, 1.0)
    assert [s["status"] for s in result["steps"]] == ["DONE", "DONE"]
    assert result["claims"]["supported"] >= 2
    assert result["trajectory"]["steps_completed"] == 2
    for item in result["evidence"]:
        assert all(passage in _note(item["source_id"]) for passage in item["passages"])
    assert model.count("topic") == 2
    view = await handle.query("plan")
    assert [s["status"] for s in view["steps"]] == ["DONE", "DONE"]


def _note(source_id: str) -> str:
    return NOTES[source_id.partition(":")[2]]


async def test_an_invalid_plan_is_asked_for_once_more_with_what_is_wrong(stage: Stage) -> None:
    steps = [
        step("s1", "Find KSM", topics=["ksm"], accept="a reasonable text", depends_on=["s2"]),
        step("s2", "Find zswap", topics=["zswap"], depends_on=["s1"]),
    ]
    model = PlannedModel(plan=[{"steps": steps}, plan_for])
    result = await stage.run(model)
    assert result["status"] == "succeeded", told(result)
    first, second = model.users("plan")
    assert "problems" not in first
    said = " ".join(second["problems"])
    assert all(word in said for word in ("s1, s2", "reasonable"))


@pytest.mark.parametrize(
    "reply",
    [
        {"steps": []},
        {"steps": [step("s1", "Find KSM", topics=["ksm"])] * 2},
        {"steps": [step("s1", "Find KSM", topics=["ksm"]), step("s2", "More", topics=["ksm"])]},
        {"kind": "raw", "content": "no JSON", "finish_reason": "stop", "refusal": None},
    ],
)
async def test_two_invalid_plans_end_the_run(stage: Stage, reply: Any) -> None:
    model = PlannedModel(plan=reply)
    result = await stage.run(model)
    assert (result["status"], result["stop_reason"]) == ("failed", "plan_invalid")
    assert result["failures"][-1]["code"] == "FAILED_PLAN"
    assert [name for name, _ in model.asked] == ["plan", "plan"]


async def test_a_callers_plan_is_validated_and_needs_no_planner(stage: Stage) -> None:
    model = PlannedModel()
    plan = {"steps": [step("only", "Find KSM", topics=["ksm"])]}
    result = await stage.run(model, required_topics=[KSM], plan=plan)
    assert (result["status"], model.count("plan")) == ("succeeded", 0), told(result)
    cyclic = {"steps": [step("a", "x", topics=["ksm"], depends_on=["b"]),
                        step("b", "y", topics=[], depends_on=["a"])]}  # fmt: skip
    refused = await stage.run(PlannedModel(), required_topics=[KSM], plan=cyclic)
    assert (refused["status"], refused["stop_reason"]) == ("failed", "plan_invalid")
    assert "a, b" in refused["failures"][-1]["reason"]
