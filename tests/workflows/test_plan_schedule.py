"""The schedule of a plan: what runs side by side, what waits, what reaches whom.

How it can go wrong: a branch that waits for one it does not need; FAILED and BLOCKED mixed up; a
step without the results it depends on; a number given twice; a fixed call that is decided.
"""

import asyncio
from typing import Any

from tests.workflows.plan_stage import KSM, ZRAM, ZSWAP, Stage, step_of, told
from tests.workflows.planned import PlannedModel, act, action, step, write


async def test_ready_steps_run_at_the_same_time_and_numbers_are_never_given_twice(
    stage: Stage,
) -> None:
    waiting = 0
    most = 0
    gate = asyncio.Event()
    loop = asyncio.get_running_loop()

    def together(user: dict[str, Any]) -> dict[str, Any]:
        nonlocal waiting, most
        waiting += 1
        most = max(most, waiting)
        if waiting == 3:
            loop.call_soon_threadsafe(gate.set)
        asyncio.run_coroutine_threadsafe(asyncio.wait_for(gate.wait(), 20), loop).result(25)
        return act(user)

    model = PlannedModel(step_action=together)
    result = await stage.run(model, required_topics=[KSM, ZSWAP, ZRAM])
    assert most >= 3
    assert result["status"] == "succeeded", told(result)
    ids = [item["id"] for item in result["evidence"]]
    assert len(ids) == len(set(ids))
    sources = [item["source_id"] for item in result["evidence"] if not item["empty"]]
    assert len(sources) == len(set(sources))


async def test_a_failed_step_blocks_what_needs_it_and_nothing_else(stage: Stage) -> None:
    plan = {
        "steps": [
            step("bad", "Find KSM", topics=["ksm"]),
            step("after", "Use what bad found", topics=[], depends_on=["bad"]),
            step("good", "Find zswap", topics=["zswap"]),
        ]
    }
    gives_up = {"insufficient": "no such thing", "claims": []}
    model = PlannedModel(
        written_result=lambda user: gives_up if step_of(user) == "bad" else write(user)
    )
    result = await stage.run(model, plan=plan)
    statuses = {s["id"]: s["status"] for s in result["steps"]}
    assert statuses == {"bad": "FAILED", "after": "BLOCKED", "good": "DONE"}
    assert (result["status"], result["stop_reason"]) == ("partially_succeeded", "step_failed")
    assert result["missing_topics"] == ["ksm"]
    assert "waits for bad" in result["report"]


async def test_results_of_steps_reach_those_that_depend_on_them(stage: Stage) -> None:
    plan = {
        "steps": [
            step("s1", "Find KSM", topics=["ksm"]),
            step("s2", "Find zswap", topics=["zswap"], depends_on=["s1"]),
        ]
    }
    model = PlannedModel()
    result = await stage.run(model, plan=plan)
    assert result["status"] == "succeeded", told(result)
    seen = next(user for user in model.users("step_action") if step_of(user) == "s2")
    assert seen["upstream"][0]["step"] == "s1"
    assert "KSM" in seen["upstream"][0]["claims"][0]
    assert any("KSM" in str(source) for source in seen["evidence"])


async def test_the_sales_example_gives_product_a(stage: Stage) -> None:
    plan = {
        "steps": [
            {
                "id": "fetch_sales",
                "goal": "Fetch the sales of two quarters",
                "accept": "a row for each product and quarter",
                "tool": "fetch_sales",
                "args": {"quarters": ["Q3", "Q4"]},
            },
            {
                "id": "detect_decline",
                "goal": "Find products that declined by more than ten percent",
                "accept": "each product with its rate",
                "depends_on": ["fetch_sales"],
                "tool": "detect_decline",
                "args": {"rows": {"$result": "fetch_sales"}},
                "topics": ["decline"],
            },
        ]
    }
    question = {"id": "decline", "question": "Which product declined?"}
    model = PlannedModel()
    result = await stage.run(model, required_topics=[question], plan=plan)
    assert result["status"] == "succeeded", told(result)
    assert '{"product": "A", "decline_rate": 0.2}' in result["report"]
    assert '"product": "B"' not in result["report"].partition("detect_decline")[2]
    assert model.count("step_action") == 0


async def test_a_tool_that_fails_or_is_not_allowed_is_an_observation(stage: Stage) -> None:
    plan = {"steps": [{"id": "s1", "goal": "Ask", "accept": "one row", "tool": "broken"}]}
    result = await stage.run(PlannedModel(), required_topics=[], plan=plan)
    assert (result["status"], result["stop_reason"]) == ("failed", "step_failed")
    assert any("no route to host" in failure["reason"] for failure in result["failures"])
    asks = action("tool", tool="wipe", arguments_json="{}")
    model = PlannedModel(step_action=[asks, act])
    result = await stage.run(model, required_topics=[KSM])
    assert result["trajectory"]["unauthorized_attempts"] <= 1
    assert "gone" not in result["report"]
