"""Tasks for searches: topics as `prepare` resolves them."""

from collections.abc import Sequence

from workflows.contracts.task import ResolvedLimits, ResolvedTask, ResolvedTopic, Settings
from workflows.logic.terms import content_query, language_of, names_of


def topic(question: str) -> ResolvedTopic:
    """A topic with its query and names."""
    return ResolvedTopic(
        id=question[:80],
        question=question,
        query=content_query(question),
        names=names_of(question),
    )


def task(
    questions: Sequence[str],
    corpora: Sequence[str],
    *,
    extractive: bool = True,
    min_cover: float = 0.0,
) -> ResolvedTask:
    """A task on these topics; its language is that of the first."""
    return ResolvedTask(
        goal=questions[0],
        topics=[topic(question) for question in questions],
        strategy="react",
        corpora=list(corpora),
        tools=["search"],
        language=language_of(questions[0]),
        limits=ResolvedLimits(
            max_model_calls=6, max_tool_calls=4, max_no_progress=2, max_active_seconds=60
        ),
        planner="extractive",
        model="extractive (built in)",
        extractive=extractive,
        settings=Settings(min_cover=min_cover),
    )
