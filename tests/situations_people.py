"""Situations in which people are asked: waiting, deciding, changing, not deciding."""

import asyncio
from typing import Any

from temporalio.client import WorkflowHandle

from tests.situation import Situation
from tests.workflows.lab import Lab
from tests.workflows.people_stage import BRIDGE, Outbox, opened, say
from tests.workflows.planned import PlannedModel, act, action, plan_for, step

Handle = WorkflowHandle[Any, Any]
TOPICS = ["agent_loop", "tool_contract"]
FULL = ("--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=40")
SENDING: dict[str, Any] = {
    "required_topics": [],
    "tools": ["search", "send"],
    "plan": {"steps": [BRIDGE]},
}


def asking(**approvals: Any) -> dict[str, Any]:
    """A planned run that asks."""
    return {"strategy": "plan", "approvals": approvals}


def waits(kind: str) -> Any:
    """Wait until somebody is asked."""

    async def meddle(_: Lab, handle: Handle) -> None:
        await opened(handle, kind)

    return meddle


def decides(kind: str, name: str = "approve", **more: Any) -> Any:
    """One decision."""

    async def meddle(_: Lab, handle: Handle) -> None:
        await say(handle, name, await opened(handle, kind), **more)

    return meddle


async def sends_back(_: Lab, handle: Handle) -> None:
    """A rejection with a comment, then an approval."""
    await say(handle, "reject", await opened(handle, "plan"), comment="read the manual")
    await say(handle, "approve", await opened(handle, "plan", 2))


async def sends_the_report_back(_: Lab, handle: Handle) -> None:
    """The same for the report."""
    await say(handle, "reject", await opened(handle, "report"), comment="read the manual")
    await say(handle, "approve", await opened(handle, "report", 2))


async def cancels(_: Lab, handle: Handle) -> None:
    """A cancel while the run waits."""
    await opened(handle, "plan")
    await handle.cancel()


async def stops(_: Lab, handle: Handle) -> None:
    """A stop while the run waits."""
    await opened(handle, "plan")
    await handle.signal("stop", {"by": "ann", "reason": "enough"})


async def fills(lab: Lab, handle: Handle) -> None:
    """Signals of no meaning until the history is continued, then the decision."""
    current: Handle = lab.client.get_workflow_handle(handle.id)
    request = await opened(current, "plan")
    first = (await current.describe()).run_id
    while (await current.describe()).run_id == first:
        await current.signal("noise", {"n": 1})
        await asyncio.sleep(0.05)
    await say(current, "approve", request)


def heeds(user: dict[str, Any]) -> dict[str, Any]:
    """Another plan where one was sent back."""
    made = plan_for(user)
    if user["failure_reasons"]:
        made["steps"][0]["goal"] = "Read the manual on agent_loop"
    return made


def asks(user: dict[str, Any]) -> dict[str, Any]:
    """A question first."""
    if "ask" in user["allowed_actions"] and not user["answers"]:
        return action("ask", question="Which version?")
    return act(user)


def model(**script: Any) -> Any:
    """A fresh model for each play."""
    return lambda: PlannedModel(**script)


OTHER = step("only", "Find both", topics=TOPICS)
SEND = [Outbox().tool()]

PEOPLE: dict[str, Situation] = {
    "people_waiting_plan": Situation(
        model(), task=asking(plan=True), meddle=waits("plan"), cut=True
    ),
    "people_waiting_tool": Situation(
        model(), task=asking() | SENDING, meddle=waits("tool"), cut=True, tools=SEND
    ),
    "people_waiting_report": Situation(
        model(), task=asking(report=True), meddle=waits("report"), cut=True
    ),
    "people_approved": Situation(model(), task=asking(plan=True), meddle=decides("plan")),
    "people_edited": Situation(
        model(),
        task=asking(plan=True),
        meddle=decides("plan", edits={"steps": [{**OTHER, "tool_hint": ""}]}),
    ),
    "people_new_goal": Situation(
        model(),
        task=asking(plan=True, expires_after_seconds=3),
        meddle=decides("plan", edits={"goal": "Another neutral goal"}),
    ),
    "people_sent_back": Situation(model(plan=heeds), task=asking(plan=True), meddle=sends_back),
    "people_rejected": Situation(model(), task=asking(plan=True), meddle=decides("plan", "reject")),
    "people_expired": Situation(model(), task=asking(plan=True, expires_after_seconds=1)),
    "people_cancelled": Situation(model(), task=asking(plan=True), meddle=cancels),
    "people_stopped": Situation(model(), task=asking(plan=True), meddle=stops),
    "people_tool_granted": Situation(
        model(), task=asking() | SENDING, meddle=decides("tool"), tools=SEND
    ),
    "people_tool_edited": Situation(
        model(),
        task=asking() | SENDING,
        meddle=decides("tool", edits={"to": "bo", "text": "x"}),
        tools=SEND,
    ),
    "people_answered": Situation(
        model(step_action=asks),
        task=asking(questions=True)
        | {
            "plan": {
                "steps": [
                    {"id": "s1", "goal": "Find agent_loop", "accept": "a quote on agent_loop"}
                ]
            },
            "required_topics": [],
        },
        meddle=decides("question", "answer", text="the newest"),
    ),
    "people_released": Situation(model(), task=asking(report=True), meddle=decides("report")),
    "people_report_edited": Situation(
        model(),
        task=asking(report=True),
        meddle=decides("report", edits={"report": "# Mine\n\nShort.\n"}),
    ),
    "people_report_sent_back": Situation(
        model(plan=heeds), task=asking(report=True), meddle=sends_the_report_back
    ),
    "people_react_released": Situation(
        [],
        task={"approvals": {"report": True}, "models": {"planner": "extractive"}},
        meddle=decides("report"),
    ),
    "people_continued": Situation(model(), task=asking(plan=True), meddle=fills, flags=FULL),
}
