"""What a reader makes of a file, and why a file can not be read."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from workflows.contracts.corpus import FileStatus  # pydantic is slow to import


class UnreadableFileError(Exception):
    """A file that gives no document: its status and the reason, in words."""

    def __init__(self, status: "FileStatus", reason: str) -> None:
        super().__init__(reason)
        self.status: FileStatus = status
        self.reason = reason


def spans(numbers: Iterable[int]) -> list[str]:
    """Ascending numbers of pages or lines as a person writes them: `3`, `7-9`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return [str(first) if first == last else f"{first}-{last}" for first, last in runs]


PAGE: Final = "p. "


def is_page(heading: str) -> bool:
    """Whether a heading is the number of a page: a place, not a word of the text."""
    return heading.startswith(PAGE)


@dataclass(frozen=True)
class Heading:
    """A heading: where it starts in the text, its level from 1 (top), and its words."""

    start: int
    level: int
    title: str


@dataclass(frozen=True)
class Extracted:
    """Text as a reader extracts it.

    Attributes:
        text: the whole text; every range of headings, links and chunks is over it.
        links: half-open ranges that are the words of links, in order.
        problem: what of the file could not be read, "" if nothing.
    """

    text: str
    title: str = ""
    headings: list[Heading] = field(default_factory=list[Heading])
    links: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    topics: list[str] = field(default_factory=list[str])
    date: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Chunk:
    """A passage: half-open range over the document's text, and the headings it stands under.

    `links` is the share (0..1) of its characters that are words of links.
    """

    start: int
    end: int
    headings: tuple[str, ...]
    links: float = 0.0
