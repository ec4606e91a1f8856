"""What a run tells of itself: the trajectory, and in which language."""

from tests.workflows.plan_stage import Stage, told
from tests.workflows.planned import PlannedModel


async def test_the_trajectory_tells_every_act(stage: Stage) -> None:
    handle = await stage.start(PlannedModel())
    await handle.result()
    records = await stage.trajectory(handle)
    kinds = {record["event"] for record in records}
    assert {"think", "tool", "answer", "verdict", "route", "task_finished"} <= kinds
    verdict = next(r for r in records if r["event"] == "verdict" and r["step"])
    assert {"round", "step", "score", "layer", "scope", "reason", "elapsed"} <= set(verdict)
    assert [r["seq"] for r in records] == sorted(r["seq"] for r in records)


async def test_a_chinese_run_is_chinese(stage: Stage) -> None:
    bridge = {"id": "桥梁", "question": "桥梁的荷载由什么传到地基？"}
    model = PlannedModel()
    result = await stage.run(model, goal="桥梁如何承受荷载？", required_topics=[bridge])
    assert result["status"] == "succeeded", told(result)
    assert "## 主题" in result["report"] or "主题" in result["report"]
    assert "桥墩传到地基" in result["report"]
    assert "计划" in self_message(stage, 0)


def self_message(stage: Stage, number: int) -> str:
    return stage.lab.model.requests[number]["messages"][0]["content"]
