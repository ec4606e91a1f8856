"""Budgets of a plan: each has its own reason, is never exceeded, and leaves enough to close.

How it can go wrong: a budget that is checked too late; one reason for all; time that is used up
before what was found is verified; a stop that delivers nothing.
"""

import asyncio
from typing import Any

import pytest

from tests.workflows.plan_stage import KSM, Stage, step_of, told
from tests.workflows.planned import PlannedModel, act, step


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_model_calls": 1}, "model_budget"),
        ({"max_model_calls": 7}, "model_budget"),
        ({"max_tokens": 300}, "token_budget"),
        ({"max_rounds": 1}, "round_limit"),
    ],
)
async def test_each_budget_has_its_own_reason_and_is_kept(
    stage: Stage, limits: dict[str, Any], reason: str
) -> None:
    result = await stage.run(PlannedModel(), limits=limits)
    assert result["stop_reason"] == reason, told(result)
    for name, most in limits.items():
        used = {"max_tokens": result["usage"]["prompt_tokens"] - 200}.get(
            name, result["usage"].get(name.removeprefix("max_"), 0)
        )
        assert used <= most
    assert result["trajectory"]["budget_exhausted"]
    assert result["report"]


async def test_the_last_call_that_is_allowed_may_finish_the_work(stage: Stage) -> None:
    """Success before budgets (REQUIREMENTS 122; C14): what is needed is enough, in parallel too."""
    steps = [
        step("s1", "Find KSM", topics=["ksm"], tool="search", args={"query": "KSM merges pages"}),
        step("s2", "Find zswap", topics=["zswap"], tool="search", args={"query": "zswap enabled"}),
    ]
    plan = {"steps": steps}
    free = await stage.run(PlannedModel(), plan=plan)
    assert free["status"] == "succeeded", told(free)
    needed = free["usage"]["model_calls"]
    exact = await stage.run(PlannedModel(), plan=plan, limits={"max_model_calls": needed})
    assert (exact["status"], exact["usage"]["model_calls"]) == ("succeeded", needed), told(exact)
    less = await stage.run(PlannedModel(), plan=plan, limits={"max_model_calls": needed - 1})
    assert (less["status"] == "succeeded", less["degraded"]) == (False, True), told(less)
    assert less["usage"]["model_calls"] <= needed - 1


async def test_a_budget_that_only_an_optional_step_needs_takes_no_success_away(
    stage: Stage,
) -> None:
    """Completion is looked at before what has ended the rounds (C14)."""
    first = step("s1", "Find KSM", topics=["ksm"], tool="search", args={"query": "KSM merges"})
    more = step("s2", "Find more", topics=[], required=False, depends_on=["s1"])
    alone = await stage.run(PlannedModel(), required_topics=[KSM], plan={"steps": [first]})
    result = await stage.run(
        PlannedModel(),
        required_topics=[KSM],
        plan={"steps": [first, more]},
        limits={"max_model_calls": alone["usage"]["model_calls"]},
    )
    assert (result["status"], result["stop_reason"]) == ("succeeded", "completed"), told(result)
    assert [s["status"] for s in result["steps"]] == ["DONE", "PENDING"]


async def test_steps_side_by_side_never_reserve_more_than_there_is(stage: Stage) -> None:
    """Twelve ready steps, calls for a few: what began ends properly, the others never start."""
    steps = [step(f"s{n}", f"Find KSM {n}", topics=["ksm"]) for n in range(12)]
    model = PlannedModel()
    result = await stage.run(
        model,
        required_topics=[KSM],
        plan={"steps": steps},
        limits={"max_model_calls": 14, "max_concurrency": 12, "max_tool_calls": 40},
    )
    assert result["stop_reason"] == "model_budget", told(result)
    assert result["usage"]["model_calls"] == len(model.asked) <= 14
    statuses = [s["status"] for s in result["steps"]]
    assert set(statuses) == {"DONE", "PENDING"}
    assert statuses.count("DONE") >= 2
    assert model.count("topic") == 1  # what was kept back for closing was there


async def test_without_tool_calls_there_is_no_evidence(stage: Stage) -> None:
    result = await stage.run(PlannedModel(), limits={"max_tool_calls": 0})
    assert result["status"] == "failed", told(result)
    assert result["usage"]["searches"] == 0


async def test_time_is_kept_back_for_closing(stage: Stage) -> None:
    model = PlannedModel(step_action=lambda user: {"kind": "hang"}
                         if step_of(user) == "s2" else act(user))  # fmt: skip
    result = await stage.run(model, limits={"max_active_seconds": 8.0})
    assert result["stop_reason"] == "timeout", told(result)
    assert result["status"] == "partially_succeeded"
    # What was found is verified to its end: its topic is judged, not only shown.
    assert "ksm" not in [*result["missing_topics"], *result["partial_topics"]], told(result)


async def test_a_stop_delivers_what_is_verified(stage: Stage) -> None:
    model = PlannedModel(step_action=lambda user: {"kind": "hang"}
                         if step_of(user) == "s2" else act(user))  # fmt: skip
    handle = await stage.start(model)
    for _ in range(300):
        plan = await handle.query("plan")
        if plan.get("steps") and plan["steps"][0]["status"] == "DONE":
            break
        await asyncio.sleep(0.1)
    await handle.signal("stop", {"by": "ann"})
    result = await handle.result()
    assert result["status"] == "stopped"
    assert result["claims"]["supported"] >= 1, told(result)
    assert "KSM" in result["report"]
