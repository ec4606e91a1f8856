"""A run's store, a search backend that answers from a list, and a state that takes results in."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from temporalio.testing import ActivityEnvironment

from activities.search.activities import SearchActivities
from activities.search.backend import Found, FoundPassage, SourceChangedError
from activities.store.files import FileStore
from activities.store.records import Records
from workflows.contracts.acts import SearchInput, SearchResult
from workflows.contracts.evidence import Entry
from workflows.contracts.state import RunState
from workflows.contracts.task import ResolvedLimits, ResolvedTask, ResolvedTopic, Settings
from workflows.logic import ledger

RUN = "run-of-tests"
TOPICS = [
    ResolvedTopic(id="agent_loop", question="How does an agent loop end?"),
    ResolvedTopic(id="工具契约", question="工具契约规定什么？"),
]
TASK = ResolvedTask(
    goal="goal",
    topics=TOPICS,
    strategy="react",
    corpora=["notes"],
    tools=["search"],
    language="en",
    limits=ResolvedLimits(
        max_model_calls=6, max_tool_calls=4, max_no_progress=2, max_active_seconds=60
    ),
    planner="default",
    model="a-model",
    extractive=False,
    settings=Settings(attempts=3),
)

Answer = Found | Exception


class Backend:
    """Answers from a list; keeps the texts of the passages it was given."""

    def __init__(self) -> None:
        self.answers: Sequence[Answer] = []
        self.texts: dict[str, str] = {}
        self.changed: set[str] = set()  # texts that a new index has replaced meanwhile
        self.wait: asyncio.Event | None = None

    async def search(self, query: str, task: ResolvedTask) -> Found:
        """The next answer."""
        assert query
        assert task == TASK
        if self.wait is not None:
            await self.wait.wait()
        answer, *self.answers = self.answers
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def text(self, passage: FoundPassage) -> str:
        """The text a passage was made from."""
        if passage.sha256 in self.changed:
            raise SourceChangedError(f"the text of {passage.source_id!r} changed")
        return self.texts[passage.sha256]

    async def answerable(self, task: ResolvedTask) -> list[bool]:
        """Nothing is known beforehand."""
        return [True] * len(task.topics)

    async def look(self, query: str, task: ResolvedTask) -> str:
        """Nothing to tell."""
        del query, task
        return ""

    async def unknown_names(self, task: ResolvedTask) -> list[str]:
        """Every collection is known."""
        assert task == TASK
        return []

    def passage(self, source: str, text: str, start: int = 0, **fields: Any) -> FoundPassage:
        """A passage of a source whose text is known from now on."""
        digest = hashlib.sha256(text.encode()).hexdigest()
        self.texts[digest] = text
        end = min(len(text), start + 20)
        made = FoundPassage(source, "A title", digest, start, end, text[start:end], score=2.0)
        return replace(made, **fields)


class Stage:
    """A store, a backend and a run's state that takes in what searches bring."""

    def __init__(self, root: Path) -> None:
        self.records = Records(FileStore(root))
        self.backend = Backend()
        self.activities = SearchActivities(self.records, self.backend)
        self.state = RunState()
        self.task_ref = ""

    async def search(self, query: str, attempt: int = 1, **changes: Any) -> SearchResult:
        """One attempt of the activity, its result not taken in."""
        self.task_ref = self.task_ref or await self.records.put(RUN, TASK)
        inp = SearchInput(
            run_id=RUN,
            store_id=self.records.store.store_id,
            task_ref=self.task_ref,
            query=query,
            page_ref=self.state.page_ref,
            page_first=self.state.page_first,
        ).model_copy(update=changes)
        environment = ActivityEnvironment()
        environment.info = replace(
            ActivityEnvironment.default_info(),
            attempt=attempt,
            scheduled_time=datetime(2026, 12, 1, 8, 30, tzinfo=UTC),
            current_attempt_scheduled_time=datetime(2026, 12, 1, tzinfo=UTC)
            + timedelta(seconds=attempt),
        )
        return await environment.run(self.activities.search, inp)

    async def take(self, query: str, **changes: Any) -> SearchResult:
        """One search whose result goes into the state, as the workflow does it."""
        result = await self.search(query, **changes)
        ledger.accept(self.state, query, result)
        return result

    async def entries(self) -> list[Entry]:
        """Every entry so far."""
        return await self.records.entries(RUN, self.state.page_ref, self.state.page_first)
