"""The built-in extractive model: no language model, no key, no network (DESIGN, "Models").

It searches each missing topic by the topic's own words, the one searched least often first, and
finishes with verbatim quotes that code picks. It judges nothing, and says so in what it writes.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from workflows.contracts.acts import DecideInput
from workflows.contracts.claim import Quote
from workflows.contracts.decision import Answer, NextAction
from workflows.contracts.evidence import Entry
from workflows.contracts.task import ResolvedTask, ResolvedTopic
from workflows.logic.quotes import pick_quotes
from workflows.logic.terms import query_key
from workflows.logic.topics import covers_topic

DRAFT_CHARACTERS: Final = 2000
ANSWER_CHARACTERS: Final = 8000
QUERY_CHARACTERS: Final = 80
_PLAN_ENTRIES: Final = 4
_QUOTES: Final = 3
_TEXTS_PER_TOPIC: Final = 24

_WORDS: Final = {
    "en": {
        "search": "Search: {query}",
        "write": "Put together the passages found",
        "judged": "Matching passages; whether they answer was not judged.",
        "quote": "“{text}” [E{number}]",
    },
    "zh": {
        "search": "搜索：{query}",
        "write": "整理找到的段落",
        "judged": "以下是匹配的段落；是否真正回答了问题未作判断。",
        "quote": "“{text}” [E{number}]",
    },
}


def finishes(inp: DecideInput) -> bool:
    """Whether the decision is to finish, which needs the texts of `sources_to_quote`."""
    return not inp.missing or not inp.allow_search


def decide(
    task: ResolvedTask, inp: DecideInput, entries: Sequence[Entry], texts: Mapping[str, str]
) -> NextAction:
    """Search the missing topic searched least often, or finish with quotes.

    Args:
        task: the resolved task; a topic's query is what it is searched by.
        inp: what is missing, whether a search is possible, the plan of the decision before.
        entries: everything found so far; an entry tells which query brought it.
        texts: whole texts by the 64 hex digits of their hash, for a finish.
    """
    if finishes(inp):
        return NextAction(
            plan=[_words(task)["write"]],
            action="finish",
            query="",
            sufficient=not inp.missing,
            draft=_draft(task, entries, texts, DRAFT_CHARACTERS),
        )
    order = _search_order(task, inp, entries)
    plan = [_search_entry(task, task.topics[index]) for index in order[: _PLAN_ENTRIES - 1]]
    return NextAction(
        plan=[*plan, _words(task)["write"]],
        action="search",
        query=query_of(task.topics[order[0]]),
        sufficient=False,
        draft="",
    )


def answer(
    task: ResolvedTask, inp: DecideInput, entries: Sequence[Entry], texts: Mapping[str, str]
) -> Answer:
    """The answer of `direct`: quotes for every covered topic."""
    draft = _draft(task, entries, texts, ANSWER_CHARACTERS)
    return Answer(sufficient=not inp.missing, draft=draft)


def sources_to_quote(task: ResolvedTask, entries: Sequence[Entry]) -> list[str]:
    """Hashes of the texts that quotes may come from: the best sources of each topic."""
    found: dict[str, None] = {}
    for index, topic in enumerate(task.topics):
        threshold = task.settings.topic_cover
        serving = sorted(
            (entry for entry in entries if covers_topic(entry, topic, index, threshold)),
            key=lambda entry, i=str(index): (-entry.covers.get(i, 0.0), -entry.score, entry.number),
        )
        hashes = dict.fromkeys(entry.sha256 for entry in serving)
        found |= dict.fromkeys(list(hashes)[:_TEXTS_PER_TOPIC])
    return list(found)


def query_of(topic: ResolvedTopic) -> str:
    """What a topic is searched by: its words without stop words, never the goal."""
    return (topic.query.strip() or topic.question.strip() or topic.id)[:QUERY_CHARACTERS]


def _search_order(task: ResolvedTask, inp: DecideInput, entries: Sequence[Entry]) -> list[int]:
    """Missing topics, the one searched least often first.

    A search leaves its query on its entries; one that failed leaves nothing, but the plan of the
    decision before names it. So going round behind the topic tried last, those without a trace
    first, is the order by number of searches, ties in the order of the task.
    """
    searched = {query_key(entry.query) for entry in entries}
    count = len(task.topics)
    places = {index: place for place, index in enumerate(task.search_order or range(count))}
    behind = places.get(_tried_last(task, inp), -1) + 1
    return sorted(
        inp.missing,
        key=lambda index: (
            query_key(query_of(task.topics[index])) in searched,
            (places[index] - behind) % count,
        ),
    )


def _tried_last(task: ResolvedTask, inp: DecideInput) -> int:
    if inp.previous_plan:
        for index, topic in enumerate(task.topics):
            if _search_entry(task, topic) == inp.previous_plan[0]:
                return index
    return -1


def _draft(
    task: ResolvedTask, entries: Sequence[Entry], texts: Mapping[str, str], limit: int
) -> str:
    """Quotes under the sentence that nothing was judged; "" without any quote.

    Where not all fit, each topic keeps its first quotes; a quote is never cut.
    """
    threshold = task.settings.topic_cover
    by_topic = [
        pick_quotes(topic, index, entries, texts, _QUOTES, threshold)
        for index, topic in enumerate(task.topics)
    ]
    words = _words(task)
    room = limit - len(words["judged"])
    kept: dict[tuple[int, int], str] = {}
    seen: set[tuple[int, int, int]] = set()
    for rank in range(_QUOTES):
        for index, quotes in enumerate(by_topic):
            if rank >= len(quotes) or _place(quotes[rank]) in seen:
                continue
            line = words["quote"].format(text=quotes[rank].text, number=quotes[rank].evidence)
            if len(line) + 1 <= room:
                room -= len(line) + 1
                seen.add(_place(quotes[rank]))
                kept[index, rank] = line
    return "\n".join([words["judged"], *(kept[key] for key in sorted(kept))]) if kept else ""


def _place(quote: Quote) -> tuple[int, int, int]:
    return (quote.evidence, quote.start, quote.end)


def _search_entry(task: ResolvedTask, topic: ResolvedTopic) -> str:
    return _words(task)["search"].format(query=query_of(topic))


def _words(task: ResolvedTask) -> dict[str, str]:
    return _WORDS["zh" if task.language.split("-", 1)[0] == "zh" else "en"]
