"""A run's state with a plan, for tests of requests to people."""

from typing import Any

from workflows.contracts.plan import Plan
from workflows.contracts.state import RunState
from workflows.contracts.task import (
    Prepared,
    ResolvedApprovals,
    ResolvedLimits,
    ResolvedTask,
    ResolvedTopic,
    ToolSpec,
)
from workflows.logic.plan_run import adopt

REF = "sha256:" + "0" * 64
NOW = 1_800_000_000.0
RUN = "run-1"
PLAN: dict[str, Any] = {
    "steps": [
        {"id": "s1", "goal": "Find the price", "accept": "a number in euros", "topics": ["price"]},
        {"id": "s2", "goal": "查找日期", "accept": "一个日期", "topics": ["date"]},
    ]
}


def state(language: str = "en", **approvals: Any) -> RunState:
    """A run that has a plan and may ask."""
    task = ResolvedTask(
        goal="What does it cost, and since when?",
        topics=[ResolvedTopic(id=name, question=name) for name in ("price", "date")],
        strategy="plan",
        corpora=["default"],
        tools=["search", "send"],
        specs=[ToolSpec(name="search"), ToolSpec(name="send", effect="write")],
        language=language,
        limits=ResolvedLimits(
            max_model_calls=80,
            max_tool_calls=40,
            max_no_progress=2,
            max_active_seconds=1800,
            max_steps=6,
            max_rounds=18,
        ),
        planner="default",
        model="m",
        extractive=False,
        approvals=ResolvedApprovals(**approvals),
    )
    made = RunState(goal=task.goal, prepared=Prepared(task=task, task_ref=REF, store_id="s"))
    adopt(made.dag, Plan.model_validate(PLAN))
    return made
