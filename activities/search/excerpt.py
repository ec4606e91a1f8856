"""The part of a passage that is shown to a model: where most of the query stands."""

import math
import re
from itertools import pairwise

from activities.ingest.stems import stem
from workflows.logic.cover import Weighed
from workflows.logic.tokens import tokens

_STARTS = re.compile(r"(?:\n|[.!?]\s|[。！？])\s*(?=\S)")

_Sentence = tuple[int, int, frozenset[str]]


def excerpt(text: str, query: Weighed, limit: int) -> str:
    """At most `limit` characters of a passage, verbatim, from the start of a sentence or line."""
    if len(text) <= limit:
        return text
    words = {form: word for word, forms in query.forms.items() for form in forms}
    starts = [0, *(match.end() for match in _STARTS.finditer(text))]
    sentences = [
        (start, end, _held(text[start:end], words)) for start, end in pairwise([*starts, len(text)])
    ]
    best = max(range(len(starts)), key=lambda i: (_worth(sentences, i, limit, query), -i))
    return text[starts[best] : starts[best] + limit].rstrip()


def _held(sentence: str, words: dict[str, str]) -> frozenset[str]:
    """The words of the query that a sentence holds, in any of their forms."""
    return frozenset(
        words[form] for token in tokens(sentence) for form in (token, stem(token)) if form in words
    )


def _worth(sentences: list[_Sentence], first: int, limit: int, query: Weighed) -> float:
    """What the sentences of a window hold; one that is cut counts only at its start."""
    start, _, held = sentences[first]
    for _, end, also in sentences[first + 1 :]:
        if end > start + limit:
            break
        held |= also
    return math.fsum(query.weights[word] for word in held)
