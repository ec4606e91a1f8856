"""Quotes: finding one in a stored text, and picking the ones a report shows.

`find_quote` is the check of DESIGN, "Verification", item 4. `pick_quotes` chooses verbatim
sentences for a topic; what it returns is exactly a slice of the stored text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from workflows.contracts.claim import Quote
from workflows.contracts.evidence import Entry
from workflows.contracts.task import ResolvedTopic
from workflows.logic.cover import Weighed, weighed
from workflows.logic.fold import Folded, fold, is_cjk, weight
from workflows.logic.sentences import LONGEST, Kind, Sentence, sentences_within, width
from workflows.logic.tokens import query_tokens, tokens
from workflows.logic.topics import covers_topic, declares

SHORTEST_QUOTE: Final = 12  # letters; a CJK character counts as two
_SHORTEST_PART: Final = 4  # of a quote with an ellipsis, counted the same way
_REACH: Final = 1000  # raw characters from the first part to the end of the last
_ELLIPSIS = re.compile(r"[\[(（]?(?:\.{3,}|…+|⋯+)[\])）]?")
_OUTER: Final = " \t\r\n\"'“”‘’「」『』«»"
_BROKEN = r"[-\u2010][ \t\r]*\n\s*"  # a hyphen at a line's end
_WORD_BEFORE = re.compile(rf"[^\W_](?:_*|{_BROKEN})$")
_WORD_AFTER = re.compile(rf"(?:_*|{_BROKEN})[^\W_]")
_NUMBER_BEFORE = re.compile(r"\d[.,]$")
_NUMBER_AFTER = re.compile(r"[.,]\d")

_PASSAGES_LOOKED_AT: Final = 40  # best ones of a topic: enough for three quotes, bounded work
_KINDS: Final[dict[Kind, float]] = {"prose": 1.0, "item": 0.5, "row": 0.5, "code": 0.4}
_LAST_RESORT: Final = ("row", "code")
_BASE: Final = 0.05  # a sentence of a covering passage that names none of the terms
_SAME_DOCUMENT: Final = 0.6  # a second quote of one document must be that much better
_DANGLING: Final = 0.85  # a sentence that leans on the one before it says less on its own
_HALF: Final = 0.6  # the rest of a sentence that code or a list broke in two
_BRIEF: Final = 40  # columns, below which a sentence seldom explains anything
_HISTORY = re.compile(r"(?:New|Changed|Deprecated|Added|Removed) (?:in|since) (?:version )?\d")
_BROKEN_OFF = re.compile(r"[a-z]+[,;:]?\s")
_LEANS = re.compile(
    r"(?:this|that|these|those|it|they|he|she|however|but|and|so|thus|also|then)\b"
    r"|(?:这|那|其|它|他|但|因此|所以|然而|此外|并且|而且|同时|例如)",
    re.IGNORECASE,
)


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Where a quote stands in a whole stored text: raw half-open range, None if nowhere.

    Compared folded (see `fold`). The quote must hold at least 12 letters or 6 CJK characters and
    may not begin or end inside a word or a number of the text. Parts around an ellipsis must
    follow each other within 1,000 characters.
    """
    parts = [part.strip(_OUTER) for part in _ELLIPSIS.split(quote)]
    parts = [part for part in parts if part]
    if weight("".join(parts)) < SHORTEST_QUOTE:
        return None
    for hyphens in (True, False):
        folded = fold(text, hyphens)
        needles = [fold(part, hyphens).text for part in parts]
        found = next(_occurrences(text, folded, fold(quote.strip(_OUTER), hyphens).text), None)
        if found is None and len(parts) > 1 and all(weight(p) >= _SHORTEST_PART for p in parts):
            found = _in_order(text, folded, needles)
        if found is None and len(parts) == 1:
            found = next(_occurrences(text, folded, needles[0]), None)
        if found is not None:
            return found
    return None


def _occurrences(
    text: str, folded: Folded, needle: str, after: int = 0, before: int | None = None
) -> Iterator[tuple[int, int]]:
    """Raw ranges of a folded needle that begin at raw `after` or later, end by `before`."""
    position = folded.text.find(needle) if needle else -1
    while position >= 0:
        end = position + len(needle)
        span = folded.span(position, end)
        if before is not None and span[1] > before:
            return
        if span[0] >= after and folded.whole(position, end) and not _cuts(text, *span):
            yield span
        position = folded.text.find(needle, position + 1)


def _in_order(text: str, folded: Folded, needles: list[str]) -> tuple[int, int] | None:
    for start, first_end in _occurrences(text, folded, needles[0]):
        end: int | None = first_end
        for needle in needles[1:]:
            span = next(_occurrences(text, folded, needle, end or 0, start + _REACH), None)
            end = span[1] if span else None
            if end is None:
                break
        if end is not None:
            return start, end
    return None


def _cuts(text: str, start: int, end: int) -> bool:
    """Whether a range begins or ends inside a word or a number: `able` is not in `unable`."""
    before, after = text[max(0, start - 12) : start], text[end : end + 12]
    first, last = text[start], text[end - 1]
    if _latin(first) and before and not is_cjk(before[-1]) and _WORD_BEFORE.search(before):
        return True
    if _latin(last) and after and not is_cjk(after[0]) and _WORD_AFTER.match(after):
        return True
    if first.isdigit() and _NUMBER_BEFORE.search(before):
        return True
    return bool(last.isdigit() and _NUMBER_AFTER.match(after)) or _marked(after)


def _latin(character: str) -> bool:
    return character.isalnum() and not is_cjk(character)


def _marked(after: str) -> bool:
    """Whether the next character is a combining mark of the last one, or a small raised digit."""
    return bool(after) and (after[0] in "⁰¹²³⁴⁵⁶⁷⁸⁹" or "\u0300" <= after[0] <= "\u036f")


@dataclass(frozen=True)
class _Candidate:
    entry: Entry
    sentence: Sentence
    text: str
    value: float
    speaks: bool  # of the topic: by its own words, its headings, or because its source declares it


def pick_quotes(
    topic: ResolvedTopic,
    index: int,
    entries: Sequence[Entry],
    texts: Mapping[str, str],
    limit: int = 3,
    threshold: float = 0.35,
) -> list[Quote]:
    """Up to `limit` verbatim sentences for a topic, best first, each from another passage.

    Args:
        topic: the topic; its `query` (else its question) gives the terms.
        index: the topic's index among the task's topics.
        entries: entries of the run's pages; only those that declare or cover the topic count.
        texts: whole stored texts by `Entry.sha256` (64 hex digits); a missing one is left out.
        limit: how many quotes.
        threshold: share of the topic's IDF from which a passage covers it (`topic_cover`).
    """
    usable = [e for e in entries if covers_topic(e, topic, index, threshold)]
    candidates = _valued(topic, index, _best(usable, topic, index), texts)
    # A passage may name the topic in a line of code only; its sentences then speak of other things.
    candidates = [c for c in candidates if c.speaks] or candidates
    prose = [c for c in candidates if c.sentence.kind not in _LAST_RESORT]
    picked = [_quote(c) for c in _spread(prose or candidates, limit)]
    return picked or _opening(_best(usable, topic, index), texts)


def _opening(entries: Sequence[Entry], texts: Mapping[str, str]) -> list[Quote]:
    """The opening of the best passage, where it holds no sentence: a covered topic has a quote."""
    for entry in entries:
        raw = texts.get(entry.sha256, "")[entry.start : entry.end]
        start = entry.start + len(raw) - len(raw.lstrip())
        text = raw.strip()[:LONGEST]
        if len(text) == LONGEST and " " in text:
            text = text[: text.rindex(" ")]
        if text := text.rstrip():
            return [
                Quote(
                    evidence=entry.number,
                    text=text,
                    start=start,
                    end=start + len(text),
                    headings=entry.headings,
                )
            ]
    return []


def _best(usable: list[Entry], topic: ResolvedTopic, index: int) -> list[Entry]:
    """The passages worth looking at, each once."""
    once = {(e.sha256, e.start, e.end): e for e in reversed(usable)}
    ranked = sorted(once.values(), key=lambda e: (-_share(e, topic, index), -e.score, e.number))
    return ranked[:_PASSAGES_LOOKED_AT]


def _share(entry: Entry, topic: ResolvedTopic, index: int) -> float:
    return 1.0 if declares(entry.topics, topic) else entry.covers.get(str(index), 0.0)


def _valued(
    topic: ResolvedTopic, index: int, entries: list[Entry], texts: Mapping[str, str]
) -> list[_Candidate]:
    """Every sentence of the passages with its value: score x cover of the topic's terms."""
    found = [
        (entry, sentence, raw, set(tokens(raw)))
        for entry in entries
        if (text := texts.get(entry.sha256)) is not None
        for sentence in sentences_within(text, entry.start, entry.end)
        if not _titles(raw := text[sentence.start : sentence.end], entry)
    ]
    terms = _terms(topic, [held for *_, held in found])
    named = {id(entry): _is_headed(entry, topic, terms) for entry in entries}
    top = max((entry.score for entry in entries), default=0.0)
    return [
        _Candidate(
            entry,
            sentence,
            raw,
            (max(0.1, entry.score / top) if top > 0 else 1.0)
            * _share(entry, topic, index)
            * (_BASE + terms.cover(held))
            * _KINDS[sentence.kind]
            * _standing(raw),
            named[id(entry)] or terms.cover(held) > 0,
        )
        for entry, sentence, raw, held in found
    ]


def _is_headed(entry: Entry, topic: ResolvedTopic, terms: Weighed) -> bool:
    """Whether a source, or what stands above a passage, says that it is about the topic."""
    above = {token for text in (entry.title, *entry.headings) for token in tokens(text)}
    return declares(entry.topics, topic) or terms.cover(above) > 0


def _standing(raw: str) -> float:
    """How well a sentence stands on its own."""
    leaning = _DANGLING if _LEANS.match(raw) or width(raw) < _BRIEF else 1.0
    halved = _BROKEN_OFF.match(raw) or raw.endswith((":", "：")) or _HISTORY.match(raw)
    return leaning * (_HALF if halved else 1.0)


def _terms(topic: ResolvedTopic, held: list[set[str]]) -> Weighed:
    """The topic's words by their rarity among the sentences; names of the topic count double."""
    named = {token for name in topic.names for token in query_tokens(name)}

    def frequency(token: str) -> int:
        return sum(token in sentence for sentence in held)

    rare = weighed(query_tokens(topic.query or topic.question), frequency, len(held))
    weights = {t: (1 + w) * (2 if t in named else 1) for t, w in rare.weights.items()}
    return Weighed(weights, rare.forms)


def _titles(raw: str, entry: Entry) -> bool:
    """Whether a sentence is nothing but a heading or the title of its source."""
    folded = fold(raw).text
    return any(folded == fold(title).text for title in (*entry.headings, entry.title))


def _spread(candidates: list[_Candidate], limit: int) -> list[_Candidate]:
    """The best candidates: other passages always, other documents where values are close."""
    left = sorted(candidates, key=lambda c: (-c.value, c.entry.number, c.sentence.start))
    chosen: list[_Candidate] = []
    documents: set[str] = set()
    while left and len(chosen) < limit:
        best = _next(left, documents)
        chosen.append(best)
        documents.add(best.entry.sha256)
        left = [c for c in left if not _same(c, best)]
    return chosen


def _next(left: list[_Candidate], documents: set[str]) -> _Candidate:
    def worth(candidate: _Candidate) -> float:
        used = candidate.entry.sha256 in documents
        return candidate.value * (_SAME_DOCUMENT if used else 1.0)

    return max(left, key=worth)


def _same(one: _Candidate, other: _Candidate) -> bool:
    """Whether two sentences are of one passage, or say the same."""
    passages = ((c.entry.sha256, c.entry.start) for c in (one, other))
    return len(set(passages)) == 1 or fold(one.text).text == fold(other.text).text


def _quote(candidate: _Candidate) -> Quote:
    entry = candidate.entry
    return Quote(
        evidence=entry.number,
        text=candidate.text,
        start=candidate.sentence.start,
        end=candidate.sentence.end,
        headings=entry.headings,
    )
