"""Release of the report: what was released is what is delivered (REQUIREMENTS 154; D07, D15).

How it can go wrong: another text than the one released; edited text that passes as verified; a
report that is delivered though nobody, or somebody against it, decided.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.client import WorkflowFailureError

from tests.workflows.people_stage import fates, opened, outcomes, say
from tests.workflows.plan_stage import Stage, staged
from tests.workflows.planned import PlannedModel, plan_for

RELEASE: dict[str, Any] = {"approvals": {"report": True}}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    home: Path = tmp_path_factory.mktemp("release")
    async with staged(home) as ready:
        yield ready


async def waiting(stage: Stage, model: PlannedModel | None = None, **task: Any) -> Any:
    handle = await stage.start(model or PlannedModel(), **{**RELEASE, **task})
    return handle, await opened(handle, "report")


async def ended(handle: Any) -> dict[str, Any]:
    return await asyncio.wait_for(handle.result(), 60)


async def test_what_was_released_is_what_is_delivered(stage: Stage) -> None:
    handle, request = await waiting(stage)
    status = await handle.query("status")
    assert (status["phase"], status["status"]) == ("awaiting_report", None)
    assert (await handle.query("report"))["report"] is None
    assert request["shown"]["status"] == "succeeded"
    await asyncio.sleep(1.2)  # the text says when it was made
    await say(handle, "approve", request)
    result = await ended(handle)
    assert result["status"] == "succeeded"
    assert result["report"].startswith(request["shown"]["report"])
    assert result["report_ref"] == request["shown"]["report_ref"]
    assert len(result["report"].encode()) == request["shown"]["bytes"]
    assert any("released by ann" in note for note in result["notes"])


async def test_a_rejected_report_is_not_delivered_as_good(stage: Stage) -> None:
    handle, request = await waiting(stage)
    await say(handle, "reject", request)
    result = await ended(handle)
    assert (result["status"], result["stop_reason"]) == ("rejected", "rejected")
    assert "rejected" in result["report"].split("##")[0]


async def test_nobody_released_it_in_time(stage: Stage) -> None:
    handle = await stage.start(
        PlannedModel(), approvals={"report": True, "expires_after_seconds": 1.5}
    )
    result = await ended(handle)
    assert (result["status"], result["stop_reason"]) == ("expired", "expired")
    assert result["evidence"]
    assert "rejected" not in result["report"]


async def test_four_words_for_four_situations(stage: Stage) -> None:
    """D15: waiting for the plan, for the report, rejected, expired."""
    task = {"approvals": {"plan": True, "report": True}}
    handle = await stage.start(PlannedModel(), **task)
    request = await opened(handle, "plan")
    words = [(await handle.query("status"))["phase"]]
    await say(handle, "approve", request)
    report = await opened(handle, "report")
    words.append((await handle.query("status"))["phase"])
    await say(handle, "reject", report)
    words.append((await ended(handle))["status"])
    assert words == ["awaiting_plan", "awaiting_report", "rejected"]


async def test_a_comment_sends_the_work_back_once(stage: Stage) -> None:
    def plan(user: dict[str, Any]) -> dict[str, Any]:
        made = plan_for(user)
        if user["failure_reasons"]:
            for step in made["steps"]:
                step["goal"] += " in the manual, with paths"
        return made

    model = PlannedModel(plan=plan)
    handle, first = await waiting(stage, model)
    await say(handle, "reject", first, comment="name the paths")
    second = await opened(handle, "report", 2)
    assert second["id"] != first["id"]
    assert "name the paths" in model.users("plan")[1]["failure_reasons"][-1]
    await say(handle, "approve", first)
    await say(handle, "approve", second)
    result = await ended(handle)
    assert result["status"] == "succeeded"
    assert result["usage"]["replans"] == 1
    assert await fates(handle) == ["accepted", "late", "accepted"]


async def test_edited_text_is_checked_again_and_marked(stage: Stage) -> None:
    handle, request = await waiting(stage)
    whole = request["shown"]["report"]
    assert request["shown"]["bytes"] == len(whole.encode())
    lines = whole.splitlines()
    # Two steps search side by side: either note may be the first.
    ids = {each["source_id"]: each["id"] for each in await handle.query("evidence")}
    ksm, zswap = ids["notes:ksm.md"], ids["notes:zswap.md"]
    edited = "\n".join(
        [
            *lines,
            f"KSM doubles the memory of every machine [{ksm}].",
            f"zswap is not enabled by default [{zswap}].",
            "See [the site](https://example.org/x) and [E99].",
        ]
    )
    await asyncio.sleep(1.1)  # composed anew, the report would have another time in it
    await say(handle, "approve", request, edits={"report": edited})
    result = await ended(handle)
    report = result["report"]
    assert "KSM doubles the memory of every machine. (by ann, not verified)" in report
    assert f"zswap is not enabled by default [{zswap}].\n" in report
    assert "example.org" not in report
    assert "E99" not in report
    assert "ann changed this report" in report.split("##")[0]
    for line in lines:
        assert line in report
    assert await outcomes(handle) == ["edited"]
    assert (result["status"], result["degraded"]) == ("succeeded", True)
    assert "2 statements of the report are by ann and not verified" in result["notes"]


async def test_a_run_without_model_is_released_too(stage: Stage) -> None:
    models = {"planner": "extractive", "executor": "extractive", "judge": "extractive"}
    for strategy in ("plan", "react", "direct"):
        handle, request = await waiting(stage, models=models, strategy=strategy)
        await say(handle, "reject", request, comment="shorter")
        again = await opened(handle, "report", 2)
        assert "shorter" in again["note"]
        await say(handle, "approve", again)
        assert (await ended(handle))["report_ref"] == again["shown"]["report_ref"]


async def test_stop_while_the_report_waits(stage: Stage) -> None:
    handle, _ = await waiting(stage)
    await handle.signal("stop", {"by": "bo", "reason": "enough"})
    result = await ended(handle)
    assert (result["status"], result["stop_reason"]) == ("stopped", "stopped")
    assert await outcomes(handle) == ["withdrawn"]
    assert result["evidence"]


async def test_cancel_while_the_report_waits(stage: Stage) -> None:
    handle, _ = await waiting(stage)
    await handle.cancel()
    with pytest.raises(WorkflowFailureError):
        await ended(handle)
    assert (await handle.query("status"))["status"] == "cancelled"
    report = await handle.query("report")
    assert report["report_ref"].startswith("sha256:")
    assert "E1" in report["report"]


async def test_a_burst_of_decisions_around_the_end_leaves_one(stage: Stage) -> None:
    """A27: 500 identical approvals; the run closes with one recorded decision."""
    handle, request = await waiting(stage)
    payload = {"request_id": request["id"], "by": "ann"}

    async def send() -> None:
        for _ in range(50):
            try:
                await handle.signal("approve", payload)
            except Exception:  # noqa: BLE001 - the run has closed meanwhile, as it should
                return

    await asyncio.gather(*(send() for _ in range(10)))
    result = await asyncio.wait_for(handle.result(), 30)
    assert result["status"] == "succeeded"
    assert (await fates(handle)).count("accepted") <= 1
    assert await outcomes(handle) == ["approved"]
