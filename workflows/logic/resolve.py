"""Every default of a task resolved once (INTERFACE, "Limits"; DESIGN, "State and history")."""

from workflows.contracts.task import (
    Limits,
    ResolvedLimits,
    ResolvedTask,
    ResolvedTopic,
    Settings,
    Strategy,
    Task,
)
from workflows.logic.terms import content_query, language_of, names_of

GOAL_TOPIC = "goal"  # the id of the one topic of a task that requires none (C40)


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
    strategy: Strategy = task.strategy or "react"
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
        limits=limits_for(strategy, task.limits, max(1, len(topics))),
        planner=planner,
        model=model,
        extractive=extractive,
        settings=settings,
        tenant=task.tenant,
    )


def limits_for(strategy: Strategy, given: Limits, topics: int) -> ResolvedLimits:
    """The table of INTERFACE, "Limits"; 0 means none allowed, never unlimited."""
    react = strategy == "react"
    tool_calls = _or(given.max_tool_calls, max(4, topics + 1) if react else 4)
    per_step = _or(given.max_tool_calls_per_step, tool_calls if react else 1)
    return ResolvedLimits(
        max_model_calls=_or(given.max_model_calls, max(6, topics + 3) if react else 6),
        # One step is all there is in react and direct, so the tighter of both limits binds.
        max_tool_calls=min(tool_calls, per_step),
        max_no_progress=_or(given.max_no_progress, 2),
        max_tokens=given.max_tokens,
        max_active_seconds=float(given.max_active_seconds or (600 if react else 120)),
    )


def _or(given: int | None, default: int) -> int:
    return default if given is None else given


def _topic(topic_id: str, question: str) -> ResolvedTopic:
    return ResolvedTopic(
        id=topic_id, question=question, query=content_query(question), names=names_of(question)
    )
