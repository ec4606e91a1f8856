"""The teaching tool: search results as raw data, checked against their contract.

The contract (REQUIREMENTS 64, 167; C45): exactly `ok`, `items` and `error`; at most two items of
known sources, each with its source as topic; a failure has words and no items.
"""

import asyncio
import hashlib
import inspect
from collections.abc import Callable, Collection
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints, ValidationError, model_validator

from activities.search.backend import (
    Found,
    FoundPassage,
    InvalidToolResultError,
    SearchBackend,
    ToolFailedError,
)
from workflows.contracts.base import Strict, not_blank
from workflows.contracts.evidence import EXCERPT_CHARACTERS
from workflows.contracts.task import ResolvedTask

MOST_ITEMS = 2


class _Item(Strict):
    source_id: str
    topic: str
    title: Annotated[str, StringConstraints(min_length=1, max_length=120)]
    content: Annotated[
        str, StringConstraints(min_length=1, max_length=2000), AfterValidator(not_blank)
    ]
    source_url: Annotated[str, StringConstraints(min_length=1, max_length=300)]

    @model_validator(mode="after")
    def _own_topic(self) -> "_Item":
        if self.topic != self.source_id:
            raise ValueError(f"topic: expected the source {self.source_id!r}, found {self.topic!r}")
        return self


class _ToolResult(Strict):
    ok: bool
    items: Annotated[list[_Item], Field(max_length=MOST_ITEMS)]
    error: str

    @model_validator(mode="after")
    def _failure_has_words(self) -> "_ToolResult":
        if self.ok and self.error:
            raise ValueError("error: must be empty when ok is true")
        if not self.ok and (self.items or not self.error.strip()):
            raise ValueError("error: a failure needs an error text and no items")
        return self


class TeachingBackend(SearchBackend):
    """Asks a function for raw search results and hands on only what keeps the contract.

    Args:
        call: the tool: a query to the raw result, plain or awaitable.
        known: ids of the sources that may be returned.
    """

    def __init__(self, call: Callable[[str], Any], known: Collection[str]) -> None:
        self._call = call
        self._known = frozenset(known)
        self._texts: dict[str, str] = {}

    async def search(self, query: str, task: ResolvedTask) -> Found:
        """One call of the tool.

        Raises:
            ToolFailedError: with the tool's own words.
            InvalidToolResultError: what came back breaks the contract.
            OSError: as the tool raised it.
        """
        # A plain function may block; an async one only makes its coroutine in the thread.
        raw = await asyncio.to_thread(self._call, query)
        if inspect.isawaitable(raw):
            raw = await raw
        result = self._checked(raw)
        if not result.ok:
            raise ToolFailedError(result.error)
        return Found(
            tuple(self._passage(item, rank, task) for rank, item in enumerate(result.items))
        )

    async def text(self, passage: FoundPassage) -> str:
        """The content that was returned with this hash."""
        try:
            return self._texts[passage.sha256]
        except KeyError:
            raise OSError(f"the tool never returned this text of {passage.source_id!r}") from None

    async def answerable(self, task: ResolvedTask) -> list[bool]:
        """Asking the tool is an attempt, so nothing is known beforehand."""
        return [True] * len(task.topics)

    async def look(self, query: str, task: ResolvedTask) -> str:
        """The tool tells nothing of what it holds but its sources."""
        del query, task
        return f"{len(self._known)} sources: {', '.join(sorted(self._known))}"

    async def unknown_names(self, task: ResolvedTask) -> list[str]:
        """The tool has no collections, so every name of one is taken as its own."""
        del task
        return []

    def _checked(self, raw: object) -> _ToolResult:
        try:
            result = _ToolResult.model_validate(raw)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "result"
            raise InvalidToolResultError(f"{where}: {first['msg']}") from None
        unknown = [i.source_id for i in result.items if i.source_id not in self._known]
        if unknown:
            raise InvalidToolResultError(f"source_id: unknown source {unknown[0][:80]!r}")
        return result

    def _passage(self, item: _Item, rank: int, task: ResolvedTask) -> FoundPassage:
        sha256 = hashlib.sha256(item.content.encode()).hexdigest()
        self._texts[sha256] = item.content
        return FoundPassage(
            source_id=item.source_id,
            title=item.title,
            sha256=sha256,
            start=0,
            end=len(item.content),
            excerpt=item.content[:EXCERPT_CHARACTERS],
            topics=(item.topic,),
            covers={i: float(t.id == item.topic) for i, t in enumerate(task.topics)},
            score=float(MOST_ITEMS - rank),
            origin=item.source_url,
        )
