"""The part of a passage that is shown to a model: where most of the query stands."""

import math
import re
from bisect import bisect_left
from typing import Final

from activities.ingest.stems import MARK
from workflows.logic.cover import Weighed
from workflows.logic.tokens import is_cjk

_STARTS: Final = re.compile(r"(?:\n|[.!?]\s|[。！？])\s*(?=\S)")
# Full-width forms as the half-width ones of the index; the length stays.
_WIDE: Final = re.compile("[\uff01-\uff5e]")
_WIDTH: Final = {0xFF01 + n: 0x21 + n for n in range(94)}


def excerpt(text: str, query: Weighed, limit: int) -> str:
    """At most `limit` characters of a passage, verbatim, from the start of a sentence or line."""
    if len(text) <= limit:
        return text
    found = _places(text, query)
    starts = [0, *(match.end() for match in _STARTS.finditer(text))]
    best = _best_start(starts, found, limit, query)
    return text[best : best + limit].rstrip()


def _best_start(starts: list[int], found: list[tuple[int, str]], limit: int, query: Weighed) -> int:
    """The first of the starts whose window holds most."""
    everything = _worth(found, query)
    best, most = 0, -1.0
    before = (-1, -1)
    for start in starts:
        window = bisect_left(found, (start, "")), bisect_left(found, (start + limit, ""))
        if window == before:
            continue
        before = window
        worth = _worth(found[slice(*window)], query)
        if worth > most:
            best, most = start, worth
        if most >= everything:
            break
    return best


def _places(text: str, query: Weighed) -> list[tuple[int, str]]:
    """Where words of the query stand, in any of their forms: the end of the form, the word."""
    folded = (text.translate(_WIDTH) if _WIDE.search(text) else text).lower()
    if len(folded) != len(text):  # a few letters of Turkish and German grow
        folded = text
    found: list[tuple[int, str]] = []
    for word, forms in query.forms.items():
        for form in {form.removeprefix(MARK) for form in forms}:
            inside = is_cjk(form)
            place = folded.find(form)
            while place >= 0:
                if inside or not (place and folded[place - 1].isalnum()):
                    found.append((place + len(form), word))
                place = folded.find(form, place + len(form))
    return sorted(found)


def _worth(found: list[tuple[int, str]], query: Weighed) -> float:
    """What places hold of the query."""
    return math.fsum(query.weights[word] for word in {word for _, word in found})
