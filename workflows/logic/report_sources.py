"""What a report is composed from: the run's state, its evidence, and each source in one record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workflows.contracts.claim import ClaimCounts, Quote
from workflows.contracts.evidence import Entry
from workflows.contracts.result import Status
from workflows.contracts.state import RunState
from workflows.contracts.step_record import Finding
from workflows.contracts.task import ResolvedTask


@dataclass(frozen=True)
class Closing:
    """Everything a report is composed from.

    Attributes:
        entries: entries of the run's index pages, each with its number; [] when they are lost.
        texts: whole texts by `Entry.sha256`; what is missing here is not quoted.
        problems: what could not be read, keys of `headings` with their values.
        findings: verified findings of a plan, in plan order.
    """

    state: RunState
    status: Status
    closed_at: str = ""
    entries: Sequence[Entry] = ()
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    problems: Sequence[tuple[str, dict[str, object]]] = ()
    findings: Sequence[Finding] = ()

    @property
    def task(self) -> ResolvedTask | None:
        """The resolved task; None when the run ended before there was one."""
        return self.state.prepared.task if self.state.prepared else None

    @property
    def language(self) -> str:
        """Language of the report."""
        return self.task.language if self.task else "en"


@dataclass(frozen=True)
class Source:
    """One evidence id with what is known of it."""

    number: int
    source_id: str
    title: str
    topics: tuple[int, ...] = ()
    empty: bool = False
    sha256: str = ""
    origin: str = ""
    date: str = ""
    retrieved_at: str = ""
    query: str = ""
    kin: str = ""  # the same for near-identical documents
    primary: bool = False  # it declares its topics itself


@dataclass(frozen=True)
class Composed:
    """A report with what the result needs of it.

    Attributes:
        report: Markdown.
        claims: how the claims of the report ended.
        quotes: the quotes it cites, each once.
        sources: every evidence id, in order.
        notes: what a reader of the result should know, in the run's language.
    """

    report: str
    claims: ClaimCounts
    quotes: Sequence[Quote]
    sources: Sequence[Source]
    notes: Sequence[str]


def sources_of(closing: Closing) -> list[Source]:
    """Every evidence id of the ledger, completed from the index pages; the first entry counts."""
    first: dict[int, Entry] = {}
    for entry in closing.entries:
        first.setdefault(entry.number, entry)
    found: list[Source] = []
    for number, record in enumerate(closing.state.ledger, 1):
        entry = first.get(number, Entry())
        found.append(
            Source(
                number=number,
                source_id=record.source_id,
                title=record.title or record.source_id,
                topics=tuple(record.topics),
                empty=record.empty,
                sha256=entry.sha256,
                origin=entry.origin,
                date=entry.date,
                retrieved_at=entry.retrieved_at,
                query=entry.query,
                kin=entry.kin,
                primary=bool(entry.topics),
            )
        )
    return found
