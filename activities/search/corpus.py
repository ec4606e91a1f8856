"""Search in collections: BM25 times cover, at most five passages (DESIGN, "Search" and "Models").

The query is literal. Each candidate passage is weighed by the share of the query's rarity that it
holds with its path and headings; lists of links count little, since they name things and say
nothing. Equal scores are ordered by source and place.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

from activities.ingest.database import collection_names
from activities.ingest.stems import stem
from activities.search.backend import Found, FoundPassage, SearchBackend, SourceChangedError
from activities.search.choice import Choice, Rules, Scored
from activities.search.collection import Candidate, Collections, Snapshot
from activities.search.excerpt import excerpt
from activities.search.meaning import Meaning
from workflows.contracts.evidence import EXCERPT_CHARACTERS
from workflows.contracts.task import ResolvedTask, ResolvedTopic
from workflows.logic.cover import Weighed, weighed
from workflows.logic.terms import names_of, query_key
from workflows.logic.tokens import query_tokens

_CANDIDATES = 24
# Measured by bench/retrieval: meaning counts as much as words; more of either is no better.
_SEMANTIC = 1.0
_MOST_TOKENS = 400
_QUERY_CHARACTERS = 10_000
_LOOKED_WORDS = 12
_SOME_LINKS = 0.5
_ALL_LINKS = 0.8
_LINK_WEIGHT = 0.2

_NOTES: Final = {
    "en": {
        "blank": "the query holds no word that can be searched",
        "names": "not found anywhere in {where}: {what}",
        "nothing": "no passage in {where} holds a word of the query",
        "weak": "no passage in {where} holds enough of the query (best {best:.0%}, needed "
        "{needed:.0%})",
        "holds": "{where} holds {passages} passages",
        "found": "passages with a word of the query: {what}",
        "and": ", ",
    },
    "zh": {
        "blank": "查询中没有可检索的词",
        "names": "在 {where} 中没有出现：{what}",
        "nothing": "{where} 中没有任何段落包含查询中的词",
        "weak": "{where} 中没有段落包含足够的查询内容（最高 {best:.0%}，需要 {needed:.0%}）",
        "holds": "{where} 共有 {passages} 个段落",
        "found": "含查询词的段落数：{what}",
        "and": "、",
    },
}


class CorpusBackend(SearchBackend):
    """Search in the collections of one state directory."""

    def __init__(
        self, home: Path, rules: Rules | None = None, meaning: Meaning | None = None
    ) -> None:
        """`rules` are all rules if not given; with `meaning` passages are ordered by it too."""
        self._home = home
        self._rules = rules or Rules()
        self._meaning = meaning
        self._collections = Collections(home)

    async def search(self, query: str, task: ResolvedTask) -> Found:
        """See `SearchBackend.search`; the note is in the language of the run."""
        return await asyncio.to_thread(self._search, query, task)

    async def text(self, passage: FoundPassage) -> str:
        """The exact version a passage names; an older one is gone after a new index (OSError)."""
        return await asyncio.to_thread(self._text, passage)

    async def answerable(self, task: ResolvedTask) -> list[bool]:
        """See `SearchBackend.answerable`: a look at the index, without passages."""
        return await asyncio.to_thread(
            lambda: [bool(self._search(topic.query, task).passages) for topic in task.topics]
        )

    async def look(self, query: str, task: ResolvedTask) -> str:
        """See `SearchBackend.look`."""
        return await asyncio.to_thread(self._look, query, task)

    async def unknown_names(self, task: ResolvedTask) -> list[str]:
        """See `SearchBackend.unknown_names`."""
        known = await asyncio.to_thread(collection_names, self._home)
        existing = ", ".join(known) or "none"
        return [
            f"corpora: there is no collection {name!r}; existing: {existing}"
            for name in dict.fromkeys(task.corpora)
            if name not in known
        ]

    def _search(self, query: str, task: ResolvedTask) -> Found:
        words = query_tokens(query[:_QUERY_CHARACTERS])[:_MOST_TOKENS]
        if not words:
            return Found(note=_note(task, "blank"))
        with ExitStack() as stack:
            names = dict.fromkeys(task.corpora)
            snapshots = [stack.enter_context(self._collections.snapshot(name)) for name in names]
            if task.extractive:
                absent = _absent(_names_asked(query, task), snapshots)
                if absent:
                    what = _words(task, "and").join(absent)
                    return Found(note=_note(task, "names", what=what))
            return self._ranked(query, words, task, snapshots)

    def _look(self, query: str, task: ResolvedTask) -> str:
        words = query_tokens(query[:_QUERY_CHARACTERS])[:_LOOKED_WORDS]
        with ExitStack() as stack:
            names = dict.fromkeys(task.corpora)
            snapshots = [stack.enter_context(self._collections.snapshot(name)) for name in names]
            passages = sum(snapshot.chunks for snapshot in snapshots)
            counts = {word: sum(s.frequency(word) for s in snapshots) for word in words}
        found = [f"{word} ({count})" for word, count in counts.items() if count]
        none = [word for word, count in counts.items() if not count]
        parts = [_note(task, "holds", passages=passages)]
        comma = _words(task, "and")
        parts += [_note(task, "found", what=comma.join(found))] if found else []
        parts += [_note(task, "names", what=comma.join(none))] if none else []
        return "; ".join(parts)

    def _ranked(
        self, text: str, words: list[str], task: ResolvedTask, snapshots: list[Snapshot]
    ) -> Found:
        query = self._weighed(words, snapshots)
        topics = self._weighed_topics(task.topics, snapshots)
        scored = [
            _score(candidate, query)
            for snapshot in snapshots
            for candidate in snapshot.candidates(query, _CANDIDATES, heads=self._rules.heads)
        ]
        if not scored:
            return Found(note=_note(task, "nothing"))
        needed = task.settings.min_cover
        found = sorted((s for s in scored if s.cover >= needed), key=lambda s: s.order)
        if not found:
            best = max(s.cover for s in scored)
            return Found(note=_note(task, "weak", best=best, needed=needed))
        if self._meaning is not None:
            found = _by_meaning(self._meaning, text, found)
        chosen = Choice(self._rules).of(found)
        wanted = frozenset[str]().union(*(topic.searched() for topic in topics.values() if topic))
        return Found(
            tuple(
                _passage(
                    scored,
                    excerpt(said, query, EXCERPT_CHARACTERS),
                    topics,
                    scored.candidate.tokens.held_of(wanted),
                )
                for scored, said in chosen
            )
        )

    def _weighed(self, words: Iterable[str], snapshots: list[Snapshot]) -> Weighed:
        return weighed(
            words,
            lambda token: sum(snapshot.frequency(token) for snapshot in snapshots),
            sum(snapshot.chunks for snapshot in snapshots),
            _stem_of if self._rules.stems else _no_other,
        )

    def _weighed_topics(
        self, topics: list[ResolvedTopic], snapshots: list[Snapshot]
    ) -> dict[int, Weighed | None]:
        """The words of each topic; None for a topic with a name that is nowhere."""
        return {
            index: None
            if _absent(topic.names, snapshots)
            else self._weighed(
                query_tokens(topic.query or topic.question)[:_MOST_TOKENS], snapshots
            )
            for index, topic in enumerate(topics)
        }

    def _text(self, passage: FoundPassage) -> str:
        name = passage.source_id.partition(":")[0]
        with self._collections.snapshot(name) as snapshot:
            text = snapshot.text(passage.sha256)
        if text is None:
            raise SourceChangedError(
                f"the text of {passage.source_id!r} changed since it was found: "
                f"collection {name!r} was indexed again"
            )
        return text


def _names_asked(query: str, task: ResolvedTask) -> list[str]:
    """Names in the query, and those of the topic whose query it is."""
    key = query_key(query)
    of_topics = [n for t in task.topics if query_key(t.query) == key for n in t.names]
    return list(dict.fromkeys([*names_of(query), *of_topics]))


def _absent(names: Iterable[str], snapshots: list[Snapshot]) -> list[str]:
    return [n for n in names if not any(snapshot.holds(n) for snapshot in snapshots)]


def _stem_of(word: str) -> list[str]:
    return [found] if (found := stem(word)) else []


def _no_other(word: str) -> list[str]:
    del word
    return []


def _score(candidate: Candidate, query: Weighed) -> Scored:
    share = query.cover(candidate.held) * _worth(candidate)
    return Scored(candidate, share, candidate.rank * share, candidate.chunk)


def _by_meaning(meaning: Meaning, query: str, found: list[Scored]) -> list[Scored]:
    """Candidates ordered anew: the words count as before, the meaning beside them."""
    near = meaning.likeness(query, [_said(scored) for scored in found])
    top = max((scored.score for scored in found), default=0.0) or 1.0
    ordered = [
        replace(scored, score=scored.score + top * _SEMANTIC * max(0.0, likeness))
        for scored, likeness in zip(found, near, strict=True)
    ]
    return sorted(ordered, key=lambda scored: scored.order)


def _said(scored: Scored) -> str:
    """A passage as its meaning is taken: where it stands, then its beginning."""
    candidate = scored.candidate
    path = [candidate.title, *json.loads(candidate.headings)]
    return "\n".join([*dict.fromkeys(path), candidate.passage])


def _worth(candidate: Candidate) -> float:
    """1 for prose, down to 0.2 for a list of links."""
    excess = (candidate.links - _SOME_LINKS) / (_ALL_LINKS - _SOME_LINKS)
    return 1 - (1 - _LINK_WEIGHT) * min(1.0, max(0.0, excess))


def _passage(
    scored: Scored, shown: str, topics: Mapping[int, Weighed | None], held: frozenset[str]
) -> FoundPassage:
    """A passage as it is handed on; `held` are the words of topics that it holds."""
    candidate = scored.candidate
    worth = _worth(candidate)
    return FoundPassage(
        source_id=candidate.source_id,
        title=candidate.title,
        sha256=candidate.sha256,
        start=candidate.start,
        end=candidate.end,
        excerpt=shown,
        headings=tuple(json.loads(candidate.headings)),
        topics=tuple(json.loads(candidate.topics)),
        covers={
            index: round(topic.cover(held) * worth, 4) if topic is not None else 0.0
            for index, topic in topics.items()
        },
        score=round(scored.score, 9),
        origin=candidate.path,
        date=candidate.date,
        kin=candidate.kin,
    )


def _words(task: ResolvedTask, key: str) -> str:
    return _NOTES["zh" if task.language.startswith("zh") else "en"][key]


def _note(task: ResolvedTask, key: str, **values: str | float) -> str:
    where = _words(task, "and").join(dict.fromkeys(task.corpora))
    return _words(task, key).format(where=where, **values)
