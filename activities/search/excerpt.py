"""The part of a passage that is shown to a model: where most of the query stands."""

import re

from workflows.logic.cover import Weighed
from workflows.logic.tokens import tokens

_STARTS = re.compile(r"(?:\n|[.!?]\s|[。！？])\s*(?=\S)")


def excerpt(text: str, query: Weighed, limit: int) -> str:
    """At most `limit` characters of a passage, verbatim, from the start of a sentence or line."""
    if len(text) <= limit:
        return text
    starts = [0, *(match.end() for match in _STARTS.finditer(text))]
    last = len(text) - limit
    windows = [start for start in starts if start <= last] + [
        start for start in starts if start > last
    ][:1]
    best = max(windows, key=lambda start: (_held(text[start : start + limit], query), -start))
    return text[best : best + limit].rstrip()


def _held(window: str, query: Weighed) -> float:
    return query.cover(frozenset(tokens(window)))
