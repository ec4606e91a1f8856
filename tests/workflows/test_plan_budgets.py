"""Budgets of a plan: each has its own reason, is never exceeded, and leaves enough to close.

How it can go wrong: a budget that is checked too late; one reason for all; time that is used up
before what was found is verified; a stop that delivers nothing.
"""

import asyncio
from typing import Any

import pytest

from tests.workflows.plan_stage import Stage, step_of, told
from tests.workflows.planned import PlannedModel, act


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
    assert "ksm" not in result["missing_topics"], told(result)


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
