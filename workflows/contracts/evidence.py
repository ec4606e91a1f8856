"""Evidence: the ledger of a run, hits as they stand in history, and index pages of the store.

Full texts live in the evidence store; history and state hold references only (DESIGN, "State and
history"). An evidence id `E<n>` names the first version of a document that was seen, or an empty
result; ids are a counter in the state and never reused (REQUIREMENTS 63, 65; C48).
"""

from typing import Literal

from pydantic import Field

from workflows.contracts.base import Compact, NonNegative, Ref, Wire

TITLE_BYTES = 80
EXCERPT_CHARACTERS = 400
PAGE_ENTRIES = 64
SHORT_HASH = 16


class Hit(Compact):
    """One passage of a search's result, as it stands in history once.

    Attributes:
        source_id: `<corpus>:<path>`, or the tool's own id.
        title: at most 80 bytes.
        sha: first 16 hex digits of the SHA-256 of the source's whole text.
        start, end: half-open character range of the passage in that text.
        known: number of the evidence if the source is already in the ledger, else 0.
        declared: indexes of required topics that the source itself declares.
        covers: indexes of required topics that the passage covers by the cover rule.
    """

    source_id: str
    title: str
    sha: str
    start: NonNegative
    end: NonNegative
    known: NonNegative = 0
    declared: list[int] = []
    covers: list[int] = []


class LedgerEntry(Compact):
    """One evidence id in the state; its number is its place in the ledger, from 1.

    Attributes:
        topics: indexes of required topics it covers (declared or by the cover rule).
        empty: a search that found nothing; it counts for nothing (REQUIREMENTS 68).
    """

    source_id: str
    title: str = ""
    sha: str = ""
    topics: list[int] = []
    empty: bool = False


class Entry(Wire):
    """One passage, or one empty result, on an index page of the evidence store.

    Attributes:
        number: evidence number, 0 while the workflow has not given it yet.
        fresh: for an entry without a number, its ordinal (from 0) among the sources that are new
            in its search; the number is the first new number of that search plus this.
        sha256: 64 hex digits of the source's whole text, `sha256:` + it is its ref in the store.
        headings: path of headings to the passage.
        topics: topics that the source declares (texts, as in the front matter).
        covers: topic index (as text: JSON) to the share of the topic's IDF the passage holds.
        score: rank within its search, larger is better (BM25 x cover).
        excerpt: at most 400 characters of the passage.
        origin: where a person finds the source (a path or link).
        date: ISO date of the source, "" where unknown.
        kin: the same for near-identical documents, "" where unknown.
    """

    kind: Literal["passage", "empty"] = "passage"
    number: NonNegative = 0
    fresh: NonNegative = 0
    query: str = ""
    source_id: str = ""
    title: str = ""
    sha256: str = ""
    start: NonNegative = 0
    end: NonNegative = 0
    headings: list[str] = []
    topics: list[str] = []
    covers: dict[str, float] = {}
    score: float = 0.0
    excerpt: str = ""
    origin: str = ""
    date: str = ""
    kin: str = ""
    retrieved_at: str = ""


class Page(Wire):
    """An index page: at most 64 entries, then a link to the page before."""

    entries: list[Entry] = []
    previous: Ref | None = None
    count: int = Field(default=0, ge=0)  # entries on the pages before
