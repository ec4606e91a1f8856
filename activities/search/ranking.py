"""Which chunks of a collection are looked at: those that hold most of a query, ranked among them.

First the chunks of each word are added up by the word's weight, from the rarest word on, some
thousand of them; more frequent words only count for chunks that hold a rarer one. Only the best
are read and ranked, by BM25. Asking SQLite to rank every chunk that holds any of the words takes
longer, and finds less (bench/retrieval).
"""

import heapq
from collections.abc import Callable, Iterable
from typing import Final

from activities.ingest.stems import MARK
from workflows.logic.cover import Weighed

# Of BM25: passages are of about one length, so that their length tells nothing, and a word that is
# said again and again tells more than usual. Measured by bench/retrieval: with 1.2 and a penalty
# for length a tenth of the answers was lost.
_K1: Final = 6.0
# Headings, title and path weigh more than the body: they say what a passage is about. A stem in
# common tells less than the word itself.
_HEAD: Final = 1.5
_STEM: Final = 0.2
# The same weights for SQLite, where that many chunks have to be ranked.
SQL_RANK: Final = f"bm25(ft, 1.0, {_HEAD}, {_STEM})"
# Where fewer chunks than this stand out, holding the words does not tell enough.
_TELLING: Final = 5
_ENOUGH: Final = 2_000
_COMMON: Final = 5_000

Rows = frozenset[int]


def fullest(
    query: Weighed, frequency: Callable[[str], int], rows: Callable[[str], Rows], limit: int
) -> list[int] | None:
    """The chunks that hold most of a query by weight, at most `limit`; None if that does not tell.

    Args:
        query: the query; of a word's forms the most frequent one counts, which for an English
            word is its stem and stands beside every other.
        frequency: how many chunks hold a form.
        rows: the chunks that hold a form.
        limit: how many chunks.
    """
    held: dict[int, float] = {}
    added = 0
    for weight, form in _asked(query, frequency):
        if len(held) >= limit and frequency(form) > _COMMON:
            continue
        found = rows(form)
        if not added:
            added = len(found)
            held = dict.fromkeys(found, weight)
        elif added + len(found) > _ENOUGH:
            for row in held.keys() & found:
                held[row] += weight
        else:
            added += len(found)
            known = held.keys() & found
            for row in known:
                held[row] += weight
            held.update(dict.fromkeys(found - known, weight))
    if len(held) <= limit:
        return sorted(held, key=lambda row: (-held[row], row))
    most = heapq.nlargest(limit, held.values())
    if most[_TELLING - 1] == most[-1]:
        return None
    best = [row for row, weight in held.items() if weight >= most[-1]]
    return sorted(best, key=lambda row: (-held[row], row))[:limit]


def _asked(query: Weighed, frequency: Callable[[str], int]) -> list[tuple[float, str]]:
    """For each word its weight and most frequent form, the weightiest first."""
    found: list[tuple[float, str]] = []
    for word, forms in query.forms.items():
        form = max(forms, key=frequency)
        if frequency(form):
            found.append((query.weights[word], form))
    return sorted(found, key=lambda pair: (-pair[0], pair[1]))


class Tokens:
    """The tokens of one chunk: of its text, of its headings, and the stems of both."""

    def __init__(self, body: str, head: str, stems: str) -> None:
        self._body = f" {body} "
        self._head = f" {head} "
        self._stems = f" {stems} "

    def ranked(self, query: Weighed) -> tuple[float, frozenset[str]]:
        """BM25 of the chunk, and the forms of the query that it holds."""
        rank = 0.0
        held: list[str] = []
        for word, forms in query.forms.items():
            count = 0.0
            for form in forms:
                if times := self._times(form):
                    held.append(form)
                    count += times
            if count:
                rank += query.weights[word] * count * (_K1 + 1) / (count + _K1)
        return rank, frozenset(held)

    def _times(self, form: str) -> float:
        if form[0] == MARK:
            return _STEM * self._stems.count(f" {form} ")
        return self._body.count(f" {form} ") + _HEAD * self._head.count(f" {form} ")

    def held_of(self, wanted: frozenset[str]) -> frozenset[str]:
        """Which of some tokens it holds."""
        return wanted.intersection(f"{self._body}{self._head}{self._stems}".split(" "))

    def joined(self, other: "Tokens") -> "Tokens":
        """The tokens of two chunks together."""
        mine, others = self._parts(), other._parts()
        return Tokens(*(f"{a} {b}" for a, b in zip(mine, others, strict=True)))

    def _parts(self) -> Iterable[str]:
        return (self._body.strip(), self._head.strip(), self._stems.strip())
