"""Every default of a task resolved once (INTERFACE, "Limits"; DESIGN, "State and history")."""

from decimal import Decimal

from workflows.contracts.task import (
    Limits,
    ResolvedApprovals,
    ResolvedLimits,
    ResolvedTask,
    ResolvedTopic,
    Settings,
    Strategy,
    Task,
)
from workflows.logic.cost import money_text
from workflows.logic.terms import content_query, language_of, names_of

GOAL_TOPIC = "goal"  # the id of the one topic of a task that requires none (C40)


DEFAULT_STRATEGY: Strategy = "plan"
RULES = 3  # of new runs; those before keep to theirs, so that their histories replay
_STEPS = 6


def resolve(
    task: Task, planner: str, model: str, settings: Settings, *, extractive: bool
) -> ResolvedTask:
    """The record a run works from; nothing in it depends on the worker afterwards.

    Args:
        task: as the caller gave it.
        planner: name of the planner's model profile.
        model: its display name.
        settings: the worker's settings for this run.
        extractive: whether that profile is the built-in extractive model.
    """
    strategy = task.strategy or DEFAULT_STRATEGY
    topics = [
        _topic(t if isinstance(t, str) else t.id, t if isinstance(t, str) else t.question)
        for t in task.required_topics
    ]
    return ResolvedTask(
        goal=task.goal,
        topics=topics or [_topic(GOAL_TOPIC, task.goal)],
        own_topics=bool(topics),
        strategy=strategy,
        corpora=list(dict.fromkeys(task.corpora)),
        tools=list(dict.fromkeys(task.tools)) if task.tools is not None else ["search"],
        language=task.language or language_of(task.goal),
        limits=limits_for(strategy, task.limits, max(1, len(topics)), _steps_of(task)),
        planner=planner,
        model=model,
        extractive=extractive,
        plan=task.plan,
        rules=RULES,
        approvals=ResolvedApprovals(**task.approvals.model_dump()),
        settings=settings,
        tenant=task.tenant,
    )


def with_goal(task: ResolvedTask, goal: str) -> ResolvedTask:
    """The task for a goal that a person changed, to be planned anew (REQUIREMENTS 155)."""
    topics = task.topics if task.own_topics else [_topic(GOAL_TOPIC, goal)]
    return task.model_copy(
        update={"goal": goal, "topics": topics, "plan": None, "search_order": []}
    )


def limits_for(strategy: Strategy, given: Limits, topics: int, steps: int = 0) -> ResolvedLimits:
    """The table of INTERFACE, "Limits"; 0 means none allowed, never unlimited.

    Args:
        strategy: of the run.
        given: what the caller gave.
        topics: how many topics are required, at least 1.
        steps: of the caller's own plan, 0 without one.
    """
    if strategy == "plan":
        return _plan_limits(given, topics, steps)
    react = strategy == "react"
    tool_calls = _or(given.max_tool_calls, max(4, topics + 1) if react else 4)
    per_step = _or(given.max_tool_calls_per_step, tool_calls if react else 1)
    return ResolvedLimits(
        max_model_calls=_or(given.max_model_calls, max(6, topics + 3) if react else 6),
        # One step is all there is in react and direct, so the tighter of both limits binds.
        max_tool_calls=min(tool_calls, per_step),
        max_no_progress=_or(given.max_no_progress, 2),
        max_tokens=given.max_tokens,
        max_cost=_money(given.max_cost),
        max_active_seconds=float(given.max_active_seconds or (600 if react else 120)),
    )


def _plan_limits(given: Limits, topics: int, steps: int) -> ResolvedLimits:
    """A caller's own plan raises what it needs: its steps, and rounds for them."""
    most = _or(given.max_steps, max(_STEPS, topics, steps))
    return ResolvedLimits(
        max_model_calls=_or(given.max_model_calls, 80),
        max_tool_calls=_or(given.max_tool_calls, 40),
        max_tool_calls_per_step=_or(given.max_tool_calls_per_step, 5),
        max_no_progress=_or(given.max_no_progress, 2),
        max_steps=most,
        max_rounds=_or(given.max_rounds, max(12, 3 * max(most, steps))),
        max_replans=_or(given.max_replans, 3),
        max_local_retries=_or(given.max_local_retries, 2),
        max_concurrency=max(1, _or(given.max_concurrency, 4)),
        max_tokens=_or(given.max_tokens, 600_000),
        max_cost=_money(given.max_cost),
        max_active_seconds=float(given.max_active_seconds or 1800),
    )


def _steps_of(task: Task) -> int:
    return len(task.plan.steps) if task.plan else 0


def _or(given: int | None, default: int) -> int:
    return default if given is None else given


def _money(given: float | None) -> str | None:
    """The number as it was written."""
    return None if given is None else money_text(Decimal(repr(given)))


def _topic(topic_id: str, question: str) -> ResolvedTopic:
    return ResolvedTopic(
        id=topic_id, question=question, query=content_query(question), names=names_of(question)
    )
