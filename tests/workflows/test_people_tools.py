"""Calls with effects and questions: granted once, carried out as granted.

REQUIREMENTS 148-152, 156. How it can go wrong: an effect without a grant, or twice; other arguments
than those shown; a no that is taken for another try; one branch that waits holds up the others.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.workflows import lab as labs
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
from tests.workflows.planned import PlannedModel, act, action, step

OUT = Outbox()
SEND: dict[str, Any] = {
    "goal": "Send the note on KSM to ann",
    "required_topics": [],
    "tools": ["search", "send"],
    "plan": {"steps": [BRIDGE]},
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    home: Path = tmp_path_factory.mktemp("effects")
    async with staged(home, tools=[*TOOLS, OUT.tool()]) as ready:
        yield ready


@pytest.fixture(autouse=True)
def empty_outbox() -> None:
    OUT.sent.clear()
    OUT.fail = ""


async def ended(handle: Any) -> dict[str, Any]:
    return await asyncio.wait_for(handle.result(), labs.RUN_SECONDS)


async def test_an_effect_waits_for_a_grant_and_happens_once(stage: Stage) -> None:
    handle = await stage.start(PlannedModel(), **SEND)
    request = await opened(handle, "tool")
    assert request["shown"] == {
        "tool": "send", "args": BRIDGE["args"], "effect": "write", "step": "s1",
        "goal": BRIDGE["goal"],
    }  # fmt: skip
    assert not OUT.sent
    assert "tool" not in await activities(handle)
    for _ in range(3):
        await say(handle, "approve", request)
    result = await ended(handle)
    assert OUT.sent == [BRIDGE["args"]]
    assert result["steps"][0]["status"] == "DONE"
    assert result["evidence"][0]["source_id"] == "tool:send:s1"
    assert (await activities(handle)).count("tool") == 1
    assert "approved by ann" in result["report"]


async def test_edited_arguments_are_what_runs(stage: Stage) -> None:
    handle = await stage.start(PlannedModel(), **SEND)
    request = await opened(handle, "tool")
    await say(handle, "approve", request, edits={"to": "bo", "text": "KSM merges pages"})
    await ended(handle)
    assert OUT.sent == [{"to": "bo", "text": "KSM merges pages"}]


async def test_edited_arguments_are_checked_like_the_original(stage: Stage) -> None:
    handle = await stage.start(PlannedModel(), **SEND)
    first = await opened(handle, "tool")
    await say(handle, "approve", first, edits={"args": {"to": 5}})
    second = await opened(handle, "tool", 2)
    assert not OUT.sent
    assert second["shown"] == first["shown"]
    assert "refused" in second["note"]
    await say(handle, "approve", first)
    await say(handle, "approve", second)
    await ended(handle)
    assert OUT.sent == [BRIDGE["args"]]
    assert await fates(handle) == ["accepted", "late", "accepted"]


async def test_a_rejection_without_a_comment_ends_the_run(stage: Stage) -> None:
    handle = await stage.start(PlannedModel(), **SEND)
    await say(handle, "reject", await opened(handle, "tool"))
    result = await ended(handle)
    assert (result["status"], result["stop_reason"]) == ("rejected", "rejected")
    assert not OUT.sent


def sends_until_told(user: dict[str, Any]) -> dict[str, Any]:
    """A model that wants to send first, and after a refusal does its research."""
    observation = user.get("last_observation") or {}
    if observation.get("error") == "rejected" or user.get("evidence"):
        return act(user)
    return action("tool", tool="send", arguments_json='{"to": "ann", "text": "hi"}')


async def test_a_rejection_with_a_comment_goes_back_to_the_step_once(stage: Stage) -> None:
    model = PlannedModel(step_action=sends_until_told)
    handle = await stage.start(model, tools=["search", "send"], limits={"max_concurrency": 1})
    first = await opened(handle, "tool")
    assert first["step"] == "s1"
    await say(handle, "reject", first, comment="do not write to people")
    second = await opened(handle, "tool", 2)
    assert second["step"] == "s2"
    noted = [u["last_observation"] for u in model.users("step_action") if u["last_observation"]]
    assert "do not write to people" in noted[0]["note"]
    await say(handle, "reject", second, comment="nor here")
    result = await ended(handle)
    assert result["status"] == "succeeded"  # both steps found what they needed without sending
    assert not OUT.sent


async def test_the_second_rejection_in_a_step_ends_the_run(stage: Stage) -> None:
    stubborn = action("tool", tool="send", arguments_json='{"to": "ann", "text": "hi"}')
    handle = await stage.start(
        PlannedModel(step_action=stubborn), tools=["search", "send"], required_topics=[]
    )
    await say(handle, "reject", await opened(handle, "tool"), comment="no")
    await say(handle, "reject", await opened(handle, "tool", 2), comment="no, really")
    assert (await ended(handle))["status"] == "rejected"
    assert not OUT.sent


async def test_an_effect_that_failed_is_never_tried_again(stage: Stage) -> None:
    OUT.fail = "broken"
    handle = await stage.start(PlannedModel(), **SEND)
    await say(handle, "approve", await opened(handle, "tool"))
    result = await ended(handle)
    assert len(OUT.sent) == 1
    assert result["steps"][0]["status"] == "FAILED"
    assert "whether it took effect is not known" in result["report"]
    assert (await activities(handle)).count("tool") == 1


async def test_an_effect_happens_once_wherever_its_run_is_reset_to(stage: Stage) -> None:
    """Behind the grant nobody is asked again, before it somebody grants it again: it is done."""
    first = await stage.start(PlannedModel(), **SEND)
    await say(first, "approve", await opened(first, "tool"))
    await ended(first)
    for event in await completed_tasks(first):
        again = await reset(stage.lab.client, first, event)
        ending = asyncio.create_task(again.result())
        while not ending.done():
            for request in (await again.query("requests"))["open"]:
                await say(again, "approve", request)
            await asyncio.wait([ending], timeout=0.2)
        assert (await ending)["steps"][0]["status"] == "DONE"
        assert OUT.sent == [BRIDGE["args"]]


async def test_an_effect_that_was_cut_off_is_never_begun_again(stage: Stage) -> None:
    """Its worker wrote down that it began, and nothing more."""
    first = await stage.start(PlannedModel(), **SEND)
    await say(first, "approve", await opened(first, "tool"))
    await ended(first)
    effects = stage.lab.home / "store" / "effects"
    for file in effects.iterdir():
        file.write_text('{"text": null}', "utf-8")
    again = await reset(stage.lab.client, first, (await completed_tasks(first))[0])
    await say(again, "approve", await opened(again, "tool"))
    result = await ended(again)
    assert result["steps"][0]["status"] == "FAILED"
    assert "whether it took effect is not known" in result["report"]
    assert OUT.sent == [BRIDGE["args"]]


async def test_other_branches_go_on_while_one_waits(stage: Stage) -> None:
    steps = [
        BRIDGE,
        step("s2", "Find how KSM is enabled", topics=[]),
        step("s3", "Find what zram is", topics=[]),
    ]
    for each in steps[1:]:
        each.pop("tool_hint")
    handle = await stage.start(PlannedModel(), **{**SEND, "plan": {"steps": steps}})
    request = await opened(handle, "tool")

    async def both_done() -> bool:
        plan = await handle.query("plan")
        return [s["status"] for s in plan["steps"]] == ["RUNNING", "DONE", "DONE"]

    for _ in range(200):
        if await both_done():
            break
        await asyncio.sleep(0.05)
    assert await both_done()
    assert (await handle.query("status"))["awaiting"] == ["tool"]
    await say(handle, "approve", request)
    result = await ended(handle)
    assert [s["status"] for s in result["steps"]] == ["DONE"] * 3


async def test_several_requests_are_open_at_once_and_each_is_its_own(stage: Stage) -> None:
    steps = [{**BRIDGE, "id": f"s{n}", "args": {"to": f"p{n}", "text": "x"}} for n in (1, 2, 3)]
    handle = await stage.start(PlannedModel(), **{**SEND, "plan": {"steps": steps}})
    told: list[dict[str, Any]] = []
    for _ in range(400):
        told = (await handle.query("requests"))["open"]
        if len(told) == 3:
            break
        await asyncio.sleep(0.05)
    assert sorted(r["step"] for r in told) == ["s1", "s2", "s3"]
    by_step = {r["step"]: r for r in told}
    await say(handle, "approve", by_step["s2"])
    await say(handle, "approve", by_step["s3"])
    await asyncio.sleep(0.5)
    assert sorted(sent["to"] for sent in OUT.sent) == ["p2", "p3"]
    await say(handle, "reject", by_step["s1"])
    result = await ended(handle)
    assert result["status"] == "rejected"
    assert sorted(sent["to"] for sent in OUT.sent) == ["p2", "p3"]


async def test_all_means_every_call_of_a_reading_tool_too(stage: Stage) -> None:
    handle = await stage.start(
        PlannedModel(), approvals={"tools": "all"}, required_topics=[], limits={"max_steps": 2},
        plan={"steps": [{**BRIDGE, "tool": "search", "args": {"query": "KSM"},
                         "goal": "Find KSM", "accept": "a quote on KSM"}]},
    )  # fmt: skip
    request = await opened(handle, "tool")
    assert request["shown"]["args"] == {"query": "KSM"}
    assert "search" not in await activities(handle)
    await say(handle, "approve", request, edits={"query": "zswap"})
    result = await ended(handle)
    assert [e["source_id"] for e in result["evidence"]] == ["notes:zswap.md"]


async def test_arguments_that_the_tool_refuses_are_shown_to_nobody(stage: Stage) -> None:
    plan = {"steps": [{**BRIDGE, "args": {"to": "ann"}}]}
    handle = await stage.start(PlannedModel(), **{**SEND, "plan": plan})
    result = await ended(handle)
    assert result["steps"][0]["status"] == "FAILED"
    assert "text" in result["failures"][0]["reason"]
    assert await outcomes(handle) == []
    assert not OUT.sent


# --- questions


def asks_first(user: dict[str, Any]) -> dict[str, Any]:
    if "ask" in user["allowed_actions"] and not user.get("answers"):
        return action("ask", question="Which kernel version do you run?")
    return act(user)


async def test_a_question_is_answered_and_the_step_goes_on(stage: Stage) -> None:
    model = PlannedModel(step_action=asks_first)
    task = {"required_topics": [], "approvals": {"questions": True}}
    handle = await stage.start(
        model, **task, plan={"steps": [{"id": "s1", "goal": "Find KSM", "accept": "a quote"}]}
    )
    request = await opened(handle, "question")
    assert request["shown"]["question"] == "Which kernel version do you run?"
    await say(handle, "approve", request)
    await say(handle, "answer", request, text="6.1")
    result = await ended(handle)
    assert result["steps"][0]["status"] == "DONE"
    assert await fates(handle) == ["malformed", "accepted"]
    assert "6.1" in model.users("step_action")[1]["answers"][0]
    assert "6.1" in result["report"]
    assert model.count("plan") == 0  # it goes on where it was (REQUIREMENTS 150)


async def test_an_unanswered_question_ends_as_an_input_failure(stage: Stage) -> None:
    handle = await stage.start(
        PlannedModel(step_action=asks_first),
        required_topics=[],
        approvals={"questions": True, "expires_after_seconds": 1.0},
        plan={"steps": [{"id": "s1", "goal": "Find KSM", "accept": "a quote"}]},
    )
    result = await ended(handle)
    assert result["stop_reason"] == "unanswered"
    assert "FAILED_INPUT" in [f["code"] for f in result["failures"]]
    assert await outcomes(handle) == ["expired"]


async def test_nobody_is_asked_unless_the_caller_says_so(stage: Stage) -> None:
    model = PlannedModel(step_action=asks_first)
    result = await stage.run(model, limits={"max_tool_calls": 3})
    assert all("ask" not in u["allowed_actions"] for u in model.users("step_action"))
    assert not result["trajectory"]["human_approval_required"]
