"""Empty results and stalls: diagnosed before anything is concluded, never only reworded.

How it can go wrong: "there is nothing" after one narrow query; a wider query that is a rewording;
a search that goes on for ever under new punctuation and new plans.
"""

from tests.workflows.plan_stage import Stage, told
from tests.workflows.planned import PlannedModel, action, step


async def test_an_empty_result_is_diagnosed_before_anything_is_concluded(stage: Stage) -> None:
    model = PlannedModel(
        step_action=lambda user: (
            action("search", "qwertz uiopas KSMX dfghj")
            if not user["queries_tried"]
            else action("insufficient")
        )
    )
    moon = [{"id": "moon", "question": "How far is the moon?"}]
    handle = await stage.start(model, required_topics=moon, limits={"max_replans": 0})
    result = await handle.result()
    state = await handle.query("state")
    step_ = state["dag"]["steps"]["s1"]
    assert step_["queries"] == ["qwertz uiopas KSMX dfghj", "KSMX"], told(result)
    assert "5 passages" in step_["looked"]
    assert model.users("step_action")[1]["collections"] == step_["looked"]
    assert (result["coverage"], result["status"]) == (0.0, "failed")


async def test_a_look_at_the_collection_stands_in_the_report(stage: Stage) -> None:
    moon = [{"id": "moon", "question": "How far is the moon from Jupiter?"}]
    model = PlannedModel(step_action=lambda user: action("search", "jupiterx moonx")
                         if len(user["queries_tried"]) < 2 else action("insufficient"))  # fmt: skip
    result = await stage.run(model, required_topics=moon)
    assert result["status"] in ("failed", "partially_succeeded")
    assert "holds 5 passages" in result["report"], result["report"]
    assert "jupiterx" in result["report"]


async def test_an_endless_search_ends_as_a_stall(stage: Stage) -> None:
    asks = iter(range(1000))
    model = PlannedModel(
        step_action=lambda _: action("search", "rivers" + "!?." * (next(asks) % 3)),
        written_result={"insufficient": "no", "claims": []},
        plan=lambda user: {"steps": [
            step("s1", f"try {len(user['failed_plans'])} {'abcdef'[len(user['failed_plans'])] * 9}",
                 topics=["ksm", "zswap"]),
            step("s2", f"other {'uvwxyz'[len(user['failed_plans'])] * 9}", topics=[])]},
    )  # fmt: skip
    result = await stage.run(model, limits={"max_no_progress": 9})
    assert result["status"] in ("failed", "partially_succeeded"), told(result)
    assert result["usage"]["model_calls"] < 40
    assert any("three times" in str(failure) for failure in result["failures"]) or (
        "three times" in result["report"]
    )
