"""From what a search found to hits for history and entries for the next index page. Pure.

`known` comes from the entries on the run's pages; the first version of a source stays
(REQUIREMENTS 63). The same input always gives the same output, so that a retried search writes
the same page (DESIGN, "State and history").
"""

from dataclasses import dataclass, field

from activities.search.backend import Found, FoundPassage
from workflows.contracts.base import cut_bytes
from workflows.contracts.evidence import EXCERPT_CHARACTERS, SHORT_HASH, TITLE_BYTES, Entry, Hit
from workflows.contracts.task import ResolvedTask
from workflows.logic.ledger import add_range
from workflows.logic.terms import query_key
from workflows.logic.topics import declares

_NOTE_CHARACTERS = 500
_EN = (
    "passages left out because their source changed since it was first seen: {}",
    "passages left out because the ledger of this run is full: {}",
)
_ZH = ("因来源在首次读取后已更改而略去的段落：{}", "因本次运行的证据账本已满而略去的段落：{}")


@dataclass
class _Known:
    """The version of a source that is in the ledger, or is about to be."""

    number: int
    fresh: int
    sha256: str
    ranges: list[list[int]] = field(default_factory=list[list[int]])


@dataclass(frozen=True)
class Laid:
    """Hits, new entries, the passages whose texts must be kept, and what was left out."""

    hits: list[Hit]
    entries: list[Entry]
    fresh: list[FoundPassage]
    note: str


class Layout:
    """Lays one search's passages out over a run's ledger."""

    def __init__(self, task: ResolvedTask, known: list[Entry], query: str, at: str) -> None:
        self._task = task
        self._query = query
        self._at = at
        self._sources: dict[str, _Known] = {}
        for entry in known:
            if entry.kind == "passage":
                source = self._sources.setdefault(
                    entry.source_id, _Known(entry.number, 0, entry.sha256)
                )
                add_range(source.ranges, entry.start, entry.end)

    def lay(self, found: Found, room: int) -> Laid:
        """Hits and entries of a search; at most `room` sources are new."""
        hits: list[Hit] = []
        entries: list[Entry] = []
        fresh: list[FoundPassage] = []
        changed = full = 0
        for passage in found.passages:
            source = self._sources.get(passage.source_id)
            if source is None:
                if len(fresh) >= room:
                    full += 1
                    continue
                source = _Known(0, len(fresh), passage.sha256)
                self._sources[passage.source_id] = source
                fresh.append(passage)
            if source.sha256 != passage.sha256:
                changed += 1
                continue
            hits.append(self._hit(passage, source))
            if add_range(source.ranges, passage.start, passage.end):
                entries.append(self._entry(passage, source))
        if hits and not entries:  # every search that found something leaves its query on the pages
            entries.append(self._entry(found.passages[self._first(found)], None))
        if not hits and room > 0:
            entries.append(Entry(kind="empty", query=self._query, retrieved_at=self._at))
        return Laid(hits, entries, fresh, self._note(found.note, changed, full))

    def _note(self, note: str, changed: int, full: int) -> str:
        words = _ZH if self._task.language.startswith("zh") else _EN
        counted = zip(words, (changed, full), strict=True)
        parts = [note] if note else []
        parts += [text.format(count) for text, count in counted if count]
        return "; ".join(parts)[:_NOTE_CHARACTERS]

    def _first(self, found: Found) -> int:
        """Index of the best passage that is in the ledger in its first version."""
        return next(
            i
            for i, passage in enumerate(found.passages)
            if (source := self._sources.get(passage.source_id)) is not None
            and source.sha256 == passage.sha256
        )

    def _hit(self, passage: FoundPassage, source: _Known) -> Hit:
        topics = enumerate(self._task.topics)
        declared = [index for index, topic in topics if declares(passage.topics, topic)]
        return Hit(
            source_id=passage.source_id,
            title=_title(passage),
            sha=passage.sha256[:SHORT_HASH],
            start=passage.start,
            end=passage.end,
            known=source.number,
            declared=declared,
            covers=[index for index in self._covered(passage) if index not in declared],
        )

    def _covered(self, passage: FoundPassage) -> list[int]:
        """Topics the passage covers by the cover rule.

        The extractive model searches one topic at a time: what it finds beside that topic is kept,
        but the other topic is covered by its own search only, which finds better passages for it.
        """
        task = self._task
        own_search = task.extractive and task.strategy == "react"
        return sorted(
            index
            for index, share in passage.covers.items()
            if share >= task.settings.topic_cover
            and 0 <= index < len(task.topics)
            and (not own_search or query_key(task.topics[index].query) == query_key(self._query))
        )

    def _entry(self, passage: FoundPassage, source: _Known | None) -> Entry:
        source = source or self._sources[passage.source_id]
        return Entry(
            number=source.number,
            fresh=source.fresh,
            query=self._query,
            source_id=passage.source_id,
            title=_title(passage),
            sha256=passage.sha256,
            start=passage.start,
            end=passage.end,
            headings=list(passage.headings),
            topics=list(passage.topics),
            covers={str(index): share for index, share in sorted(passage.covers.items())},
            score=passage.score,
            excerpt=passage.excerpt[:EXCERPT_CHARACTERS],
            origin=passage.origin,
            date=passage.date,
            kin=passage.kin,
            retrieved_at=self._at,
        )


def _title(passage: FoundPassage) -> str:
    title = " ".join(passage.title.split()) or passage.source_id
    return cut_bytes(title, TITLE_BYTES)
