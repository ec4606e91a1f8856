"""A run that closes: its task, state, evidence and texts, in English or Chinese."""

import hashlib
from typing import Any

from workflows.contracts.acts import CloseInput
from workflows.contracts.evidence import Entry, LedgerEntry
from workflows.contracts.observation import Observation
from workflows.contracts.result import Status
from workflows.contracts.state import QueryTried, RunState, UsageState
from workflows.contracts.task import Prepared, ResolvedLimits, ResolvedTask, ResolvedTopic
from workflows.logic.report_sources import Closing

LOOP = (
    "# Agent loops\n\nAn agent loop ends when the model finishes or a budget is used up. "
    "It is checked before each act.\n"
)
CONTRACT = "# 工具契约\n\n工具契约规定输入和输出的格式。出错时工具契约要求返回原因。\n"
LINK = "https://example.test/a(1)"


def digest(text: str) -> str:
    """64 hex digits, as entries hold them."""
    return hashlib.sha256(text.encode()).hexdigest()


def task(**changes: Any) -> ResolvedTask:
    """A task with two topics and one that nothing covers."""
    base = ResolvedTask(
        goal="How do *agents* work?",
        topics=[
            ResolvedTopic(id="loop", question="How does an agent loop end?", query="agent loop"),
            ResolvedTopic(id="契约", question="工具契约规定什么？", query="工具契约"),
            ResolvedTopic(id="recovery", question="recovery"),
        ],
        strategy="react",
        corpora=["notes"],
        tools=["search"],
        language="en",
        limits=ResolvedLimits(
            max_model_calls=6, max_tool_calls=4, max_no_progress=2, max_active_seconds=600
        ),
        planner="default",
        model="a-model",
        extractive=True,
    )
    return base.model_copy(update=changes)


def state(resolved: ResolvedTask | None, **changes: Any) -> RunState:
    """A state with two sources and an empty result, two topics covered."""
    prepared = None
    if resolved is not None:
        prepared = Prepared(task=resolved, task_ref="sha256:" + "0" * 64, store_id="store")
    base = RunState(
        goal="How do *agents* work?",
        prepared=prepared,
        ledger=[
            LedgerEntry(
                source_id="notes:loop.md", title="On loops", sha=digest(LOOP)[:16], topics=[0]
            ),
            LedgerEntry(
                source_id="notes:契约.md", title="关于契约", sha=digest(CONTRACT)[:16], topics=[1]
            ),
            LedgerEntry(source_id="", empty=True),
        ],
        covered={"0": "declared", "1": "cover"},
        queries=[
            QueryTried(query="agent loop", passages=2),
            QueryTried(query="recovery", passages=0),
        ],
        observation=Observation(ok=True, note="`recovery` is nowhere in the collections"),
        usage=UsageState(
            model_calls=4, model_attempts=5, tool_calls=3, searches=3, active_seconds=1.5
        ),
        stop_reason="model_finished",
        started_at="2026-12-01T08:00:00+00:00",
    )
    return base.model_copy(update=changes)


def entries() -> list[Entry]:
    """The entries of that state's pages."""
    return [
        Entry(
            number=1,
            source_id="notes:loop.md",
            title="On loops",
            sha256=digest(LOOP),
            end=len(LOOP),
            headings=["Agent loops"],
            topics=["loop"],
            origin=LINK,
            date="2026-11-02",
            retrieved_at="2026-12-01T08:00:01+00:00",
        ),
        Entry(
            number=2,
            source_id="notes:契约.md",
            title="关于契约",
            sha256=digest(CONTRACT),
            end=len(CONTRACT),
            covers={"1": 0.9},
            origin="notes/契约.md",
        ),
        Entry(kind="empty", number=3, query="recovery"),
    ]


def closing(status: Status = "partially_succeeded", **changes: Any) -> Closing:
    """What a report is composed from; `changes` are fields of the state, `task` of the task."""
    resolved = task(**changes.pop("task", {}))
    return Closing(
        state=state(resolved, **changes),
        status=status,
        closed_at="2026-12-01T08:01:00+00:00",
        entries=entries(),
        texts={digest(text): text for text in (LOOP, CONTRACT)},
    )


def close_input(made: Closing) -> CloseInput:
    """The activity's input for it."""
    return CloseInput(
        run_id="run-of-tests",
        workflow_id="研究/1",
        status=made.status,
        state=made.state,
        closed_at=made.closed_at,
    )
