"""Approval of the plan: nothing of it runs before (REQUIREMENTS 153-155; failures D01-D15).

How it can go wrong: something runs unapproved; a decision grants what its author did not see; a
person's no is taken for another try.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.client import WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.exceptions import CancelledError

from tests.workflows.people_stage import activities, fates, opened, outcomes, say
from tests.workflows.plan_stage import TASK, Stage, staged
from tests.workflows.planned import PlannedModel, plan_for, step

PLAN_APPROVAL: dict[str, Any] = {"approvals": {"plan": True}}
WORK = {"step_action", "search", "write", "support", "goal", "tool"}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    home: Path = tmp_path_factory.mktemp("people")
    async with staged(home) as ready:
        yield ready


async def waiting(stage: Stage, model: PlannedModel | None = None, **task: Any) -> Any:
    handle = await stage.start(model or PlannedModel(), **{**PLAN_APPROVAL, **task})
    return handle, await opened(handle, "plan")


async def ended(handle: Any) -> dict[str, Any]:
    return await asyncio.wait_for(handle.result(), 60)


async def test_nothing_runs_before_the_plan_is_approved(stage: Stage) -> None:
    handle, request = await waiting(stage)
    await asyncio.sleep(0.5)
    assert not WORK & set(await activities(handle))
    status = await handle.query("status")
    assert status["phase"] == "awaiting_plan"
    assert status["awaiting"] == ["plan"]
    assert [s["id"] for s in request["shown"]["steps"]] == ["s1", "s2"]
    assert request["shown"]["goal"] == TASK["goal"]
    await say(handle, "approve", request)
    result = await ended(handle)
    assert (result["status"], result["stop_reason"]) == ("succeeded", "completed")
    assert result["trajectory"]["human_approval_required"]
    assert WORK - {"tool"} <= set(await activities(handle))
    assert await fates(handle) == ["accepted"]
    assert await outcomes(handle) == ["approved"]
    assert "plan-1-" in result["report"]
    assert "approved by ann" in result["report"]


async def test_first_valid_decision_wins(stage: Stage) -> None:
    handle, request = await waiting(stage)
    await asyncio.gather(*(say(handle, "approve", request) for _ in range(3)))
    await say(handle, "reject", request)
    result = await ended(handle)
    assert result["status"] == "succeeded"
    told = sorted(await fates(handle))
    assert told == ["accepted", "duplicate", "duplicate", "late"]


async def test_a_rejection_ends_the_run_and_no_later_approval_revives_it(stage: Stage) -> None:
    handle, request = await waiting(stage)
    await say(handle, "reject", request)
    await say(handle, "approve", request)
    result = await ended(handle)
    assert (result["status"], result["stop_reason"]) == ("rejected", "rejected")
    assert not WORK & set(await activities(handle))
    assert "ann" in result["report"]


async def test_a_comment_makes_one_other_plan_and_asks_again(stage: Stage) -> None:
    def plan(user: dict[str, Any]) -> dict[str, Any]:
        made = plan_for(user)
        if user["failure_reasons"]:
            made["steps"][0]["goal"] = "Read the kernel manual on KSM"
        return made

    model = PlannedModel(plan=plan)
    handle, first = await waiting(stage, model)
    await say(handle, "reject", first, comment="use the kernel manual")
    second = await opened(handle, "plan", 2)
    assert second["id"] != first["id"]
    assert second["shown"]["steps"][0]["goal"] == "Read the kernel manual on KSM"
    assert "use the kernel manual" in model.users("plan")[1]["failure_reasons"][0]
    assert "use the kernel manual" in second["note"]
    await say(handle, "approve", first)  # what was rejected cannot be approved any more
    await say(handle, "reject", second, comment="still not")
    result = await ended(handle)
    assert result["status"] == "rejected"
    assert model.count("plan") == 2
    assert await fates(handle) == ["accepted", "late", "accepted"]


async def test_an_edited_plan_is_what_runs(stage: Stage) -> None:
    handle, request = await waiting(stage)
    steps = [step("only", "Find how zswap and KSM are enabled", topics=["ksm", "zswap"])]
    steps[0].pop("tool_hint")
    await say(handle, "approve", request, edits={"steps": steps})
    result = await ended(handle)
    assert [s["id"] for s in result["steps"]] == ["only"]
    assert result["plan_version"] == 2
    assert await outcomes(handle) == ["edited"]


async def test_edits_are_validated_like_the_original(stage: Stage) -> None:
    handle, request = await waiting(stage)
    bad: list[Any] = [
        {"steps": [step("a", "x", topics=[], depends_on=["a"])]},
        {"steps": [step("a", "x", topics=["ksm", "zswap"], accept="looks good")]},
        {"steps": []},
        {"steps": [step("a", "x", topics=["ksm"])]},
        {"goal": ""},
        {"goal": "Another goal", "steps": [step("a", "x", topics=["ksm", "zswap"])]},
        {"nonsense": 1},
    ]
    for edits in bad:
        await say(handle, "approve", request, edits=edits)
    await say(handle, "reject", request, edits={"steps": []})
    told = (await handle.query("requests"))["messages"]
    assert [m["fate"] for m in told] == ["malformed"] * 8
    reasons = " ".join(m["reason"] for m in told)
    assert "cannot depend on itself" in reasons
    assert "zswap" in reasons
    assert (await opened(handle, "plan"))["id"] == request["id"]
    await say(handle, "approve", request)
    assert (await ended(handle))["status"] == "succeeded"


async def test_a_changed_goal_is_planned_anew_and_asked_again(stage: Stage) -> None:
    model = PlannedModel()
    handle, first = await waiting(stage, model, required_topics=[])
    await say(handle, "approve", first, edits={"goal": "How is zram set up?"})
    second = await opened(handle, "plan", 2)
    assert second["shown"]["goal"] == "How is zram set up?"
    assert model.users("plan")[1]["goal"] == "How is zram set up?"
    await say(handle, "approve", second)
    result = await ended(handle)
    assert "How is zram set up?" in result["report"]
    assert TASK["goal"] not in result["report"]


@pytest.mark.parametrize(
    ("change", "fate"),
    [
        (lambda r: r[:-1] + ("0" if r[-1] != "0" else "1"), "stale"),
        (lambda _: "plan-7-00000000", "unknown_request"),
        (lambda _: "plan-1", "unknown_request"),
    ],
)
async def test_no_decision_without_the_exact_id(stage: Stage, change: Any, fate: str) -> None:
    handle, request = await waiting(stage)
    await say(handle, "approve", change(request["id"]))
    await handle.signal("approve", {"by": "ann"})
    await handle.signal("approve", True)
    await handle.signal("Approve", {"request_id": request["id"], "by": "ann"})
    await handle.signal("answer", {"request_id": request["id"], "by": "ann", "text": "yes"})
    assert await fates(handle) == [
        fate, "malformed", "malformed", "unknown_signal", "malformed",
    ]  # fmt: skip
    told = (await handle.query("requests"))["messages"]
    assert "request_id" in told[1]["reason"]
    assert "approve" in told[3]["reason"]
    assert (await handle.query("status"))["awaiting"] == ["plan"]
    await handle.signal("stop")
    result = await ended(handle)
    assert result["status"] == "stopped"
    assert await outcomes(handle) == ["withdrawn"]


async def test_only_those_named_may_decide(stage: Stage) -> None:
    handle, request = await waiting(stage, approvals={"plan": True, "approvers": ["eva", "bo"]})
    assert request["approvers"] == ["eva", "bo"]
    await say(handle, "approve", request)
    assert await fates(handle) == ["not_allowed"]
    assert "eva, bo" in (await handle.query("requests"))["messages"][0]["reason"]
    await handle.signal("approve", {"request_id": request["id"], "by": "eva"})
    assert (await ended(handle))["status"] == "succeeded"


async def test_silence_is_no_consent(stage: Stage) -> None:
    handle = await stage.start(
        PlannedModel(), approvals={"plan": True, "expires_after_seconds": 1.0}
    )
    result = await ended(handle)
    assert (result["status"], result["stop_reason"]) == ("expired", "expired")
    assert not WORK & set(await activities(handle))
    assert "rejected" not in json.dumps(result["failures"]) + result["report"]
    assert await outcomes(handle) == ["expired"]


async def test_update_decides_and_refuses_at_once(stage: Stage) -> None:
    handle, request = await waiting(stage)
    wrong = {"request_id": "plan-9-11111111", "decision": "approve", "by": "ann"}
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await handle.execute_update("decide", wrong)
    assert "unknown_request" in str(refused.value.cause)
    assert request["id"] in str(refused.value.cause)
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await handle.execute_update("decide", {**wrong, "decision": "maybe"})
    assert "malformed" in str(refused.value.cause)
    assert await fates(handle) == []  # a refused update leaves no trace
    decision = {"request_id": request["id"], "decision": "approve", "by": "ann"}
    told = await handle.execute_update("decide", decision)
    assert told["outcome"] == "approved"
    result = await ended(handle)
    assert result["status"] == "succeeded"


async def test_an_early_decision_grants_nothing(stage: Stage) -> None:
    """A20: a signal before there is anything to decide."""
    stage.lab.model.script(PlannedModel())
    handle = await stage.lab.start(
        {**TASK, **PLAN_APPROVAL},
        start_signal="approve",
        start_signal_args=[{"request_id": "plan-1-00000000", "by": "ann"}],
    )
    await opened(handle, "plan")
    assert await fates(handle) == ["unknown_request"]
    await handle.signal("stop")
    await ended(handle)


async def test_equal_runs_share_no_approval(stage: Stage) -> None:
    """D14."""
    one, first = await waiting(stage)
    other, second = await waiting(stage)
    assert first["shown"] == second["shown"]
    assert first["id"] != second["id"]
    await say(other, "approve", first)
    assert await fates(other) == ["stale"]
    await say(one, "approve", first)
    assert (await ended(one))["status"] == "succeeded"
    assert (await other.query("status"))["awaiting"] == ["plan"]
    await say(other, "approve", second)
    assert (await ended(other))["status"] == "succeeded"


async def test_cancel_while_waiting_leaves_a_report(stage: Stage) -> None:
    handle, _ = await waiting(stage)
    await handle.cancel()
    with pytest.raises(WorkflowFailureError) as failed:
        await ended(handle)
    assert isinstance(failed.value.cause, CancelledError)
    assert (await handle.query("status"))["status"] == "cancelled"
    assert await outcomes(handle) == ["cancelled"]
    memo: Any = (await (await handle.describe()).memo())["surefoot"]
    assert memo["report_ref"].startswith("sha256:")
    assert memo["requests"] == []


async def test_the_extractive_planner_can_heed_no_comment_and_says_so(stage: Stage) -> None:
    handle = await stage.start(
        PlannedModel(),
        goal="内存如何去重",
        required_topics=["KSM"],
        models={"planner": "extractive", "executor": "extractive", "judge": "extractive"},
        **PLAN_APPROVAL,
    )
    first = await opened(handle, "plan")
    await say(handle, "reject", first, comment="换个办法")
    second = await opened(handle, "plan", 2)
    assert "换个办法" in second["note"]
    assert "退回" in second["note"]
    await say(handle, "approve", second)
    assert (await ended(handle))["status"] == "succeeded"
