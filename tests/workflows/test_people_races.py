"""Races around decisions, resets, full histories (failures D01, D07, A22, A27; DESIGN, "People").

How it can go wrong: two outcomes for one request; a decision that outlives what it was made for; a
request that is lost or asked twice when a history is continued.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.client import WorkflowHandle

from tests.workflows.long_run import chain_events
from tests.workflows.people_stage import (
    BRIDGE,
    Outbox,
    activities,
    completed_tasks,
    fates,
    opened,
    outcomes,
    reset,
    say,
)
from tests.workflows.plan_stage import TOOLS, Stage, staged
from tests.workflows.planned import PlannedModel, plan_for

OUT = Outbox()
FULL = ("--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=40")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    home: Path = tmp_path_factory.mktemp("races")
    async with staged(home) as ready:
        yield ready


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def short(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A stage whose histories are full after 40 events."""
    home: Path = tmp_path_factory.mktemp("short")
    async with staged(home, extra=FULL, tools=[*TOOLS, OUT.tool()]) as ready:
        yield ready


async def ended(handle: Any) -> dict[str, Any]:
    return await asyncio.wait_for(handle.result(), 60)


# --- races


async def test_a_decision_after_stop_changes_nothing(stage: Stage) -> None:
    handle = await stage.start(PlannedModel(), approvals={"plan": True})
    request = await opened(handle, "plan")
    await asyncio.gather(handle.signal("stop"), say(handle, "approve", request))
    result = await ended(handle)
    if "approved" in await outcomes(handle):  # the approval came first: the run began, and stopped
        assert result["status"] == "stopped"
        return
    assert (result["status"], await outcomes(handle)) == ("stopped", ["withdrawn"])
    assert "search" not in await activities(handle)


async def test_an_approval_while_the_plan_is_made_anew_grants_nothing(stage: Stage) -> None:
    def plan(user: dict[str, Any]) -> dict[str, Any]:
        made = plan_for(user)
        if user["failure_reasons"]:
            made["steps"][0]["goal"] = "Read the manual on KSM"
            return {"kind": "decision", "value": made, "sleep": 1.0}
        return made

    handle = await stage.start(PlannedModel(plan=plan), approvals={"plan": True})
    first = await opened(handle, "plan")
    await say(handle, "reject", first, comment="read the manual")
    await asyncio.sleep(0.3)
    assert (await handle.query("status"))["phase"] == "planning"
    await say(handle, "approve", first)
    second = await opened(handle, "plan", 2)
    assert await fates(handle) == ["accepted", "late"]
    assert "search" not in await activities(handle)
    await say(handle, "approve", second)
    assert (await ended(handle))["status"] == "succeeded"


@pytest.mark.parametrize("early", [0.25, 0.05, 0.0, -0.05])
async def test_decision_and_deadline_at_the_same_instant(stage: Stage, early: float) -> None:
    """One outcome, whichever it is, and the run says the same as the request."""
    handle = await stage.start(
        PlannedModel(), approvals={"plan": True, "expires_after_seconds": 1.0}
    )
    request = await opened(handle, "plan")
    await asyncio.sleep(max(0.0, 0.9 - early))
    for _ in range(4):
        try:
            await say(handle, "approve", request)
        except Exception:  # noqa: BLE001 - the run has ended as expired meanwhile
            break
        await asyncio.sleep(0.05)
    result = await ended(handle)
    ended_as = await outcomes(handle)
    assert (ended_as, result["status"]) in [
        (["approved"], "succeeded"), (["expired"], "expired"),
    ]  # fmt: skip
    if ended_as == ["expired"]:
        assert "accepted" not in await fates(handle)
        assert "search" not in await activities(handle)


async def test_a_reset_lets_no_old_decision_approve_a_new_plan(stage: Stage) -> None:
    goals = iter(["Find KSM", "Read another book on KSM"])

    def plan(user: dict[str, Any]) -> dict[str, Any]:
        made = plan_for(user)
        made["steps"][0]["goal"] = next(goals)
        return made

    handle = await stage.start(PlannedModel(plan=plan), approvals={"plan": True})
    request = await opened(handle, "plan")
    await say(handle, "approve", request)
    assert (await ended(handle))["status"] == "succeeded"
    first, *_ = await completed_tasks(handle)
    again = await reset(stage.lab.client, handle, first)
    asked = await opened(again, "plan")
    assert asked["shown"]["steps"][0]["goal"] == "Read another book on KSM"
    assert asked["id"] != request["id"]
    await say(again, "approve", request)
    assert "accepted" not in await fates(again)
    assert "search" not in await activities(again)
    await say(again, "approve", asked)
    assert (await ended(again))["status"] == "succeeded"


# --- full histories


async def fill(handle: WorkflowHandle[Any, Any], first_run: str) -> None:
    """Signals of no meaning, until the run goes on in a fresh history."""
    for _ in range(60):
        await handle.signal("noise", {"n": 1})
        await asyncio.sleep(0.02)
        if (await handle.describe()).run_id != first_run:
            return
    raise AssertionError("the run did not continue as new")


async def current(stage: Stage, handle: WorkflowHandle[Any, Any]) -> WorkflowHandle[Any, Any]:
    return stage.lab.client.get_workflow_handle(handle.id)


@pytest.mark.parametrize("kind", ["plan", "report"])
async def test_a_request_is_carried_into_a_fresh_history(short: Stage, kind: str) -> None:
    started = await short.start(
        PlannedModel(), approvals={kind: True, "expires_after_seconds": 600}
    )
    handle = await current(short, started)
    request = await opened(handle, kind)
    await fill(handle, (await handle.describe()).run_id)
    carried = await opened(handle, kind)
    assert (carried["id"], carried["deadline"]) == (request["id"], request["deadline"])
    await say(handle, "approve", request)
    result = await ended(handle)
    assert result["status"] == "succeeded"
    if kind == "report":
        assert result["report_ref"] == request["shown"]["report_ref"]
    assert await outcomes(handle) == ["approved"]


async def both_open(handle: WorkflowHandle[Any, Any]) -> list[dict[str, Any]]:
    for _ in range(400):
        told = (await handle.query("requests"))["open"]
        if len(told) == 2:
            return told
        await asyncio.sleep(0.05)
    raise AssertionError("two requests are not open")


async def test_waiting_steps_go_on_where_they_waited(short: Stage) -> None:
    """Two calls wait; after a fresh history each is granted once and carried out once (150)."""
    OUT.sent.clear()
    steps = [{**BRIDGE, "id": f"s{n}", "args": {"to": f"p{n}", "text": "x"}} for n in (1, 2)]
    started = await short.start(
        PlannedModel(), required_topics=[], tools=["search", "send"], plan={"steps": steps}
    )
    handle = await current(short, started)
    before = await both_open(handle)
    await fill(handle, (await handle.describe()).run_id)
    after = await both_open(handle)
    assert sorted(r["id"] for r in after) == sorted(r["id"] for r in before)
    for request in after:
        await say(handle, "approve", request)
    result = await ended(handle)
    assert sorted(sent["to"] for sent in OUT.sent) == ["p1", "p2"]
    assert [(s["status"], s["attempts"]) for s in result["steps"]] == [("DONE", 1), ("DONE", 1)]
    assert result["usage"]["tool_calls"] == 2
    assert result["usage"]["rounds"] == 2
    runs = await chain_events(short.lab.client, handle.id, started.first_execution_run_id or "")
    assert len(runs) > 1
