"""Which of the passages found are shown: at most five, merged, from several documents, no copies.

Rules of retrieval (each can be switched off, for the benchmark that says what it brings):
headings, title and path of a passage count; neighbouring passages of one document become one; at
most two passages of a document while others have something; of near-identical passages one is
enough; English words are also found by their stems.
"""

import json
from dataclasses import dataclass, replace
from typing import Final

from activities.ingest.document import PAGE, is_page
from activities.ingest.sketch import folded, same_words
from activities.search.collection import Candidate

PASSAGES: Final = 5
_LONGEST_MERGED: Final = 2400
# A neighbour that is worth much less than the passage says something else.
_WORTH_MERGING: Final = 0.3


@dataclass(frozen=True)
class Rules:
    """The rules of retrieval that hold; all of them but in the benchmark."""

    heads: bool = True
    merge: bool = True
    of_a_document: int = 2
    copies: bool = True
    stems: bool = True


@dataclass(frozen=True)
class Scored:
    """A candidate with the share of the query it holds, and its score.

    `last` is the number of its last chunk: more than its own where neighbours are merged into it.
    """

    candidate: Candidate
    cover: float
    score: float
    last: int

    @property
    def order(self) -> tuple[float, str, int]:
        """Best first; equal ones by source and place."""
        return (-self.score, self.candidate.source_id, self.candidate.start)


@dataclass
class _Shown:
    scored: Scored
    text: str
    folded: str


class Choice:
    """Chooses from candidates that come best first."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._chosen: list[_Shown] = []
        self._of_document: dict[str, int] = {}

    def of(self, found: list[Scored]) -> list[tuple[Scored, str]]:
        """At most five passages with their texts, best first."""
        spare: list[Scored] = []
        for scored in found:
            if self._merged(scored) or len(self._chosen) >= PASSAGES:
                continue
            document = self._document(scored.candidate)
            if self._of_document.get(document, 0) >= self._rules.of_a_document:
                spare.append(scored)
            elif self._took(scored):
                self._of_document[document] = self._of_document.get(document, 0) + 1
        for scored in spare:  # nothing else fits
            if len(self._chosen) >= PASSAGES:
                break
            self._took(scored)
        best = ((shown.scored, shown.text) for shown in self._chosen)
        return sorted(best, key=lambda pair: pair[0].order)

    def _document(self, candidate: Candidate) -> str:
        """What counts as one document: near-identical ones together."""
        return candidate.kin if self._rules.copies else candidate.source_id

    def _took(self, scored: Scored) -> bool:
        text = scored.candidate.passage
        shown = _Shown(scored, text, folded(text))
        if self._is_said(shown):
            return False
        self._chosen.append(shown)
        return True

    def _merged(self, scored: Scored) -> bool:
        """Take a neighbour of a chosen passage into it; it takes no place of its own."""
        if not self._rules.merge:
            return False
        for shown in self._chosen:
            if _touch(shown.scored, scored):
                joined = _joined(shown.scored, scored)
                shown.scored = joined
                shown.text = joined.candidate.passage
                shown.folded = folded(shown.text)
                return True
        return False

    def _is_said(self, shown: _Shown) -> bool:
        if not self._rules.copies:
            return any(shown.text == other.text for other in self._chosen)
        return any(same_words(shown.folded, other.folded) for other in self._chosen)


def _touch(one: Scored, other: Scored) -> bool:
    a, b = one.candidate, other.candidate
    return (
        a.source_id == b.source_id
        and (b.chunk == one.last + 1 or other.last == a.chunk - 1)
        and max(a.end, b.end) - min(a.start, b.start) <= _LONGEST_MERGED
        and other.score >= _WORTH_MERGING * one.score
    )


def _joined(one: Scored, other: Scored) -> Scored:
    first, second = sorted((one, other), key=lambda s: s.candidate.start)
    a, b = first.candidate, second.candidate
    paths: tuple[list[str], list[str]] = json.loads(a.headings), json.loads(b.headings)
    common = [x for x, y in zip(*paths, strict=False) if x == y]
    pages = [path[-1] for path in paths if path and is_page(path[-1])]
    if len(set(pages)) == len(paths):
        common.append(f"{pages[0]}-{pages[1].removeprefix(PAGE)}")
    candidate = replace(
        a,
        end=b.end,
        text=a.text + b.text,
        headings=json.dumps(common, ensure_ascii=False) if common else a.headings,
        held=a.held | b.held,
        tokens=a.tokens.joined(b.tokens),
        links=max(a.links, b.links),
    )
    cover, score = max(one.cover, other.cover), max(one.score, other.score)
    return Scored(candidate, cover, score, second.last)
