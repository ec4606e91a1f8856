"""A long `react` run over a real collection, and the size of its history: for a test and a bench.

Each search brings five passages of about 1 KB from documents that are new: the hardest case for
what stands in history (DESIGN, "State and history").
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client

from activities.ingest.index import index_folder
from tests.workflows.scripted import decision
from workflows.contracts.names import DECIDE

HITS = 5
COLLECTION = "long"
_FILLER = "Text of a report on rivers, bridges and harbours with figures for each year. "


def build_folder(home: Path, searches: int) -> None:
    """A collection in which query `termN` finds five documents of its own."""
    path = home / "documents"
    path.mkdir(parents=True)
    for search in range(1, searches + 1):
        for copy in range(HITS):
            body = f"# Report {search} part {copy}\n\nThe term{search} is described. {_FILLER * 13}"
            (path / f"reports-of-the-year-{search:04}-{copy}.md").write_text(body, "utf-8")
    index_folder(home, COLLECTION, str(path), [path], lambda _: None)


def task(calls: int) -> dict[str, Any]:
    """A task that takes `calls` model calls: searches, then a finish."""
    return {
        "goal": "Neutral goal for a long run",
        "required_topics": ["a topic that no document has"],
        "corpora": [COLLECTION],
        "strategy": "react",
        "limits": {
            "max_model_calls": calls,
            "max_tool_calls": calls,
            "max_active_seconds": 3600,
        },
    }


def script(calls: int) -> Any:
    """A model that searches `term1`, `term2`, ... and finishes with its last call."""
    asked = 0

    def reply(_: dict[str, Any]) -> dict[str, Any]:
        nonlocal asked
        asked += 1
        if asked == calls:
            return decision("finish", draft="Nothing on it [E1].")
        return decision("search", f"term{asked}")

    return reply


async def chain_events(client: Client, workflow_id: str, run_id: str) -> list[list[HistoryEvent]]:
    """The events of a run and of every run it continued as."""
    runs: list[list[HistoryEvent]] = []
    following: str | None = run_id
    while following:
        handle = client.get_workflow_handle(workflow_id, run_id=following)
        events = [event async for event in handle.fetch_history_events()]
        runs.append(events)
        last = events[-1].workflow_execution_continued_as_new_event_attributes
        following = last.new_execution_run_id or None
    return runs


def bytes_per_pair(runs: Sequence[Sequence[HistoryEvent]], first: int, last: int) -> float:
    """Bytes of history for a decide-and-search pair between two model calls, all in."""
    scheduled = EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    calls = size = counted = 0
    for event in (event for run in runs for event in run):
        attributes = event.activity_task_scheduled_event_attributes
        if event.event_type == scheduled and attributes.activity_type.name == DECIDE:
            calls += 1
        if first <= calls < last:
            size += event.ByteSize()
            counted = calls
    return size / (counted - first + 1)


def user_message_size(request: dict[str, Any]) -> int:
    """Bytes of a request's user message."""
    return len(json.dumps(request["messages"][-1]["content"], ensure_ascii=False).encode())
