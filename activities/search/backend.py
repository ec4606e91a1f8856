"""The interface of a search backend: collections on disk, the teaching notes, later the web."""

from dataclasses import dataclass, field
from typing import Protocol

from workflows.contracts.task import ResolvedTask


class ToolFailedError(Exception):
    """The tool itself reports a failure; its own words become the observation's error."""


class SourceChangedError(OSError):
    """A source is no longer what it was when it was found: search again."""


class InvalidToolResultError(Exception):
    """What came back breaks the tool's contract (REQUIREMENTS 167)."""


@dataclass(frozen=True)
class FoundPassage:
    """A passage of a source, best first in its search.

    Attributes:
        source_id: `<corpus>:<path>`, or the tool's own id.
        sha256: 64 hex digits of the SHA-256 of the source's whole text (UTF-8).
        start, end: half-open character range in the whole text.
        headings: path of headings to the passage, outermost first.
        topics: topics that the source declares.
        covers: topic index to the share (0..1) of the topic's IDF that the passage with its path
            and headings holds; 0 where a name of the topic is nowhere in the searched collections.
        score: larger is better (BM25 x cover).
        origin: where a person finds the source; date: ISO date of it, or "".
        kin: the same for near-identical documents, "" where unknown.
    """

    source_id: str
    title: str
    sha256: str
    start: int
    end: int
    excerpt: str
    headings: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    covers: dict[int, float] = field(default_factory=dict[int, float])
    score: float = 0.0
    origin: str = ""
    date: str = ""
    kin: str = ""


@dataclass(frozen=True)
class Found:
    """Passages, best first, at most five; `note` says why there are none, where known."""

    passages: tuple[FoundPassage, ...] = ()
    note: str = ""


class SearchBackend(Protocol):
    """Anything that can be searched."""

    async def search(self, query: str, task: ResolvedTask) -> Found:
        """Search the run's collections. The query is literal text.

        `task.settings.min_cover` is the share of the query's IDF below which a passage counts as
        not found. Blocking work runs in a thread (REQUIREMENTS 169).

        Raises:
            ToolFailedError: the tool reports a failure.
            InvalidToolResultError: the tool's answer breaks its contract.
            OSError: the world failed; worth a retry.
        """
        ...

    async def text(self, passage: FoundPassage) -> str:
        """The whole text the passage was found in, exactly the version `sha256` names."""
        ...

    async def answerable(self, task: ResolvedTask) -> list[bool]:
        """For each topic, whether its own query would find anything; True where that costs.

        Only the order of searches comes from it: two fruitless searches in a row end a run, so
        topics that have a chance go first. It is no evidence and covers nothing.
        """
        ...

    async def look(self, query: str, task: ResolvedTask) -> str:
        """In the language of the run: how much there is, and which words of a query occur."""
        ...

    async def unknown_names(self, task: ResolvedTask) -> list[str]:
        """For each collection of the task that does not exist, a sentence with those that do."""
        ...
