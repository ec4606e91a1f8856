"""Empty results and stalls: diagnosed before anything is concluded, never only reworded.

How it can go wrong: "there is nothing" after one narrow query; a wider query that is a rewording;
a search that goes on for ever under new punctuation and new plans.
"""

from typing import Any

from tests.workflows.lab import history
from tests.workflows.plan_stage import KSM, Stage, told
from tests.workflows.planned import PlannedModel, action, step
from workflows.contracts.names import LOOK


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


async def test_a_narrow_query_is_widened_once_and_the_collection_looked_at_once(
    stage: Stage,
) -> None:
    """However many queries find nothing: one wider query, one look, and both before writing."""
    queries = iter(["qwertz KSMX dfghj", "uiopas KSMY lkjhg", "yxcvb KSMZ mnbvc"])
    model = PlannedModel(
        step_action=lambda _: (
            action("search", query) if (query := next(queries, "")) else action("insufficient")
        )
    )
    handle = await stage.start(
        model,
        required_topics=[KSM],
        plan={"steps": [step("s1", "Find KSM", topics=["ksm"])]},
        limits={"max_no_progress": 9},
    )
    result = await handle.result()
    state = await handle.query("state")
    tried = state["dag"]["steps"]["s1"]["queries"]
    assert tried == ["qwertz KSMX dfghj", "KSMX", "uiopas KSMY lkjhg", "yxcvb KSMZ mnbvc"]
    assert result["usage"]["searches"] == 4, told(result)
    looks = [
        event["activityTaskScheduledEventAttributes"]["activityType"]["name"]
        for event in await history(handle)
        if "activityTaskScheduledEventAttributes" in event
    ].count(LOOK)
    assert looks == 1
    assert "5 passages" in model.users("written_result")[0]["collections"]


async def test_a_stall_is_counted_over_plans_and_rewordings(stage: Stage) -> None:
    """Two fruitless searches in one plan and one in the next are three equivalent ones."""
    marks = iter(["qqwx vvkk", "qqwx, vvkk", "qqwx vvkk?"])

    def turns(user: dict[str, Any]) -> dict[str, Any]:
        first = user["step"]["id"] == "s1" and len(user["queries_tried"]) < 2
        query = next(marks, "") if first else ""
        return action("search", query) if query else action("insufficient")

    plans = [
        {"steps": [step("s1", goal_, topics=["ksm"]), step("s2", beside, topics=[])]}
        for goal_, beside in (("harbour and mole", "x" * 40), ("telegram", "festival"))
    ]
    model = PlannedModel(
        step_action=turns, plan=plans, written_result={"insufficient": "no", "claims": []}
    )
    limits = {"max_replans": 1, "max_no_progress": 9, "max_concurrency": 1}
    result = await stage.run(model, required_topics=[KSM], limits=limits)
    assert result["plan_version"] == 2, told(result)
    assert "three times" in result["steps"][0]["verdict"]["reason"]


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
    assert any("three times" in failure["reason"] for failure in result["failures"])
    assert set(result["claims"].values()) == {0}
    assert [item for item in result["evidence"] if item["passages"]] == []
