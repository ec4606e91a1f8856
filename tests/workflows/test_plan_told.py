"""What a run tells of itself: the trajectory, log lines, and in which language.

How it can go wrong: an act without a record; a record without what belongs to its kind; records
out of order; a log that says of no node what it decided.
"""

import asyncio
import logging
from typing import Any

import pytest

from tests.workflows.plan_stage import KSM, Stage, told
from tests.workflows.planned import PlannedModel, act, action, goal, step

ALWAYS = {"seq", "event", "round", "step", "elapsed"}
# What each kind of record holds beside that (REQUIREMENTS 195-199).
HOLDS = {
    "think": {"action"},
    "tool": {"tool", "arguments", "ok", "numbers"},
    "answer": {"claims", "tokens"},
    "verdict": {"score", "layer", "scope", "reason"},
    "route": {"route", "rule"},
    "error": {"error"},
    "request": {"request", "asks", "outcome"},
}


async def test_the_trajectory_tells_every_act(stage: Stage) -> None:
    """One record of each kind at least, in order, with what belongs to it."""
    scores = iter([0.6])
    asks = iter([action("search", "KSM merges pages"), action("read", evidence_id="E99")])
    model = PlannedModel(
        step_action=lambda user: next(asks, None) or act(user),
        goal=lambda _: goal(next(scores, 0.9), reason="the unit is missing"),
    )
    handle = await stage.start(
        model,
        required_topics=[KSM],
        plan={"steps": [step("s1", "Find KSM", topics=["ksm"])]},
        approvals={"report": True},
    )
    await _approve(handle)
    result = await handle.result()
    assert result["status"] == "succeeded", told(result)
    records = await stage.trajectory(handle)
    kinds = [record["event"] for record in records]
    assert set(kinds) == {*HOLDS, "task_finished"}, kinds
    assert [r["seq"] for r in records] == list(range(1, len(records) + 1))
    for record in records[:-1]:
        assert set(record) >= ALWAYS, record
        if record["event"] == "verdict" and not record["step"]:
            assert {"layer", "topic", "answer"} <= set(record)  # of a topic, not of a step
        elif record["event"] == "route" and not record["step"]:
            assert {"route", "reason"} <= set(record)
        else:
            assert HOLDS[record["event"]] <= set(record), record
    # One round: think, tool, ..., answer, verdict, route; the second has the round's number.
    of_rounds = [(r["round"], r["event"]) for r in records if r.get("step") == "s1"]
    for number in (1, 2):
        told_ = [event for round_, event in of_rounds if round_ == number]
        assert told_[-3:] == ["answer", "verdict", "route"], of_rounds
    verdicts = [r for r in records if r["event"] == "verdict" and r["step"]]
    assert [(v["score"], v["layer"], v["scope"]) for v in verdicts] == [
        (0.6, "goal", "local"), (0.9, "goal", "local"),
    ]  # fmt: skip
    assert verdicts[0]["reason"] == "the unit is missing"
    decided = [r for r in records if r["event"] == "think" and r["step"]]
    assert all(r["tokens"] == 110 for r in decided)
    assert any(r["elapsed"] > 0 for r in records)


async def _approve(handle: Any) -> None:
    for _ in range(600):
        requests = (await handle.query("requests"))["open"]
        if requests:
            await handle.signal("approve", {"request_id": requests[0]["id"], "by": "ann"})
            return
        await asyncio.sleep(0.1)


async def test_each_node_logs_a_line(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """`round=3 | node=verifier | ...` with score, layer, scope, route and reason (197, 108)."""
    scores = iter([0.6])

    def judged(user: dict[str, Any]) -> dict[str, Any]:
        low = "ksm" in user["goal"]
        return goal(next(scores, 0.9) if low else 0.9, reason="the unit\nis missing")

    with caplog.at_level(logging.INFO, logger="temporalio.workflow"):
        result = await stage.run(PlannedModel(goal=judged), limits={"max_concurrency": 1})
    assert result["status"] == "succeeded", told(result)
    lines = [r.getMessage() for r in caplog.records if r.getMessage().startswith("round=")]
    of = {
        node: [line for line in lines if f"| node={node} |" in line]
        for node in ("planner", "executor", "verifier")
    }
    assert [len(of[node]) for node in of] == [1, 3, 3], lines
    assert of["planner"][0].startswith("round=0 | node=planner | version=1 | steps=s1,s2")
    assert of["verifier"][0].startswith(
        "round=1 | node=verifier | step=s1 | score=0.6 | layer=goal | scope=local"
        " | route=retry | rule=5 | replans=0 | reason=the unit is missing"
    )
    assert [line.partition(" |")[0] for line in of["verifier"]] == ["round=1", "round=2", "round=3"]
    assert "step=s1 | attempt=2" in of["executor"][1]


async def test_a_chinese_run_is_chinese(stage: Stage) -> None:
    bridge = {"id": "桥梁", "question": "桥梁的荷载由什么传到地基？"}
    model = PlannedModel()
    result = await stage.run(model, goal="桥梁如何承受荷载？", required_topics=[bridge])
    assert result["status"] == "succeeded", told(result)
    assert "## 主题" in result["report"]
    assert "桥墩传到地基" in result["report"]
    assert "计划" in self_message(stage, 0)


def self_message(stage: Stage, number: int) -> str:
    return stage.lab.model.requests[number]["messages"][0]["content"]
