"""The evidence as a model sees it: sources in order of their numbers, bounded in size.

What stands in a source is data without instruction rights (REQUIREMENTS 77, 225, 229): passages
stand between marks that cannot occur in them, and characters that only hide or reorder text are
left out (C16). Empty results are not shown: they count for nothing (REQUIREMENTS 68).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from workflows.contracts.base import JsonObject
from workflows.contracts.evidence import EXCERPT_CHARACTERS, Entry
from workflows.contracts.task import ResolvedTask
from workflows.logic.topics import covers_topic, declares

PASSAGE_CHARACTERS: Final = 24_000  # all passages of one request
HEAD_CHARACTERS: Final = 8_000  # ids and titles of sources that have no passage in it
_TITLE: Final = 120
_SOURCE_ID: Final = 300
_OTHER_TOPICS: Final = 5
_TOPIC: Final = 80
_KEYS: Final = 110  # characters of the names of a source's fields
_MARK = re.compile(r"[<＜](?=\s*[/／]?\s*data\b)", re.IGNORECASE)
_HIDDEN = re.compile("[\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


def fenced(text: str) -> str:
    """A passage between its marks; a mark inside it is broken."""
    return f"<data>{_MARK.sub('‹', _HIDDEN.sub('', text))}</data>"


def evidence_view(
    task: ResolvedTask, missing: Sequence[int], entries: Sequence[Entry]
) -> list[JsonObject]:
    """Sources with their passages: `{id, source_id, title, topics, passages}`.

    Where there is more than fits, passages of the newest search, then the best of each topic, then
    those near a missing topic, then newer ones come first; the cut is stated: `passages_left_out`
    on the source, and a last element `{"sources_left_out": n}`.
    """
    passages = [entry for entry in entries if entry.kind == "passage"]
    shown = _fitting(_by_use(task, missing, passages))
    sources: dict[int, list[Entry]] = {}
    for entry in passages:
        sources.setdefault(entry.number, []).append(entry)
    named = _named(task, sources, {entry.number for entry in shown})
    kept = {id(entry) for entry in shown}
    view = [
        _source(task, number, sources[number], [e for e in sources[number] if id(e) in kept])
        for number in sorted(named)
    ]
    if len(named) < len(sources):
        view.append({"sources_left_out": len(sources) - len(named)})
    return view


def topics_of(task: ResolvedTask, entries: Sequence[Entry]) -> list[str]:
    """Topics of one source: ids of required ones it serves, then a few others it declares."""
    threshold = task.settings.topic_cover
    required = [
        topic.id
        for index, topic in enumerate(task.topics)
        if any(covers_topic(entry, topic, index, threshold) for entry in entries)
    ]
    others = [
        name[:_TOPIC]
        for name in dict.fromkeys(name for entry in entries for name in entry.topics)
        if not any(declares([name], topic) for topic in task.topics)
    ]
    return required + others[:_OTHER_TOPICS]


def _by_use(
    task: ResolvedTask, missing: Sequence[int], passages: Sequence[Entry]
) -> Iterator[Entry]:
    """Every passage, the most useful first; some more than once."""
    newest = list(reversed(passages))
    if not newest:
        return
    yield from (entry for entry in newest if entry.query == newest[0].query)
    for index in range(len(task.topics)):
        yield max(newest, key=lambda entry, i=str(index): (entry.covers.get(i, 0.0), entry.score))
    yield from (
        entry for entry in newest if any(entry.covers.get(str(index), 0.0) for index in missing)
    )
    yield from newest


def _fitting(passages: Iterator[Entry]) -> list[Entry]:
    room = PASSAGE_CHARACTERS
    seen: set[int] = set()
    shown: list[Entry] = []
    for entry in passages:
        if id(entry) in seen:
            continue
        seen.add(id(entry))
        size = min(len(entry.excerpt), EXCERPT_CHARACTERS)
        if size > room:
            break
        room -= size
        shown.append(entry)
    return shown


def _named(task: ResolvedTask, sources: dict[int, list[Entry]], shown: set[int]) -> set[int]:
    room = HEAD_CHARACTERS
    named = set(shown)
    for number in sorted(sources, reverse=True):
        if number in named:
            continue
        head = sources[number][0]
        topics = sum(len(topic) for topic in topics_of(task, sources[number]))
        room -= _KEYS + len(head.source_id[:_SOURCE_ID]) + len(head.title[:_TITLE]) + topics
        if room < 0:
            break
        named.add(number)
    return named


def _source(
    task: ResolvedTask, number: int, entries: Sequence[Entry], shown: Sequence[Entry]
) -> JsonObject:
    head = entries[0]
    source: JsonObject = {
        "id": f"E{number}",
        "source_id": head.source_id[:_SOURCE_ID],
        "title": _HIDDEN.sub("", head.title)[:_TITLE],
        "topics": topics_of(task, entries),
        "passages": [fenced(entry.excerpt[:EXCERPT_CHARACTERS]) for entry in shown],
    }
    if len(shown) < len(entries):
        source["passages_left_out"] = len(entries) - len(shown)
    return source
