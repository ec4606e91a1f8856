"""The part of a passage that is shown to a model: where most of the query stands."""

import re
from itertools import pairwise

from workflows.logic.cover import Weighed
from workflows.logic.tokens import tokens

_STARTS = re.compile(r"(?:\n|[.!?]\s|[。！？])\s*(?=\S)")


def excerpt(text: str, query: Weighed, limit: int) -> str:
    """At most `limit` characters of a passage, verbatim, from the start of a sentence or line."""
    if len(text) <= limit:
        return text
    starts = [0, *(match.end() for match in _STARTS.finditer(text))]
    sentences = [
        (start, end, frozenset(tokens(text[start:end])))
        for start, end in pairwise([*starts, len(text)])
    ]
    best = max(
        starts,
        key=lambda start: (_held(sentences, start, start + limit, query), -start),
    )
    return text[best : best + limit].rstrip()


def _held(
    sentences: list[tuple[int, int, frozenset[str]]], start: int, end: int, query: Weighed
) -> float:
    """What the sentences of a window hold; one that is cut counts only at its start."""
    inside = (
        held for first, last, held in sentences if first == start or (first > start and last <= end)
    )
    return query.cover(frozenset[str]().union(*inside))
