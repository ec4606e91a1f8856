"""The built-in extractive model within a plan: topics as steps, verbatim quotes as claims.

It judges nothing: a claim is what a source says, word for word (DESIGN, "Models").
"""

from collections.abc import Mapping, Sequence
from typing import Final

from activities.model.extractive import query_of
from workflows.contracts.claim import Quote
from workflows.contracts.evidence import Entry
from workflows.contracts.plan import Plan, Step
from workflows.contracts.plan_acts import StepInput
from workflows.contracts.step_decision import StepAction
from workflows.contracts.step_record import CheckedClaim, StepRecord
from workflows.contracts.task import ResolvedTask
from workflows.logic.quotes import pick_quotes
from workflows.logic.terms import query_key

_QUOTES: Final = 3
_ROWS: Final = 6
_TOOL: Final = "tool:"
_WORDS: Final = {
    "en": {
        "goal": "Find what the collections say about: {topics}",
        "accept": "A verbatim quote for each of: {topics}",
        "expected": "Verbatim quotes with their sources",
        "nothing": "no passage covers: {topics}",
        "and": "; ",
    },
    "zh": {
        "goal": "查找资料中关于以下内容的原文：{topics}",
        "accept": "以下每一项至少有一段逐字引文：{topics}",
        "expected": "带来源的逐字引文",
        "nothing": "没有段落覆盖：{topics}",
        "and": "；",
    },
}
_GOAL_CHARACTERS: Final = 900


def plan(task: ResolvedTask) -> Plan:
    """One step a topic, or groups of topics where the limit of steps is smaller."""
    count = max(1, min(task.limits.max_steps, len(task.topics)))
    size = -(-len(task.topics) // count)
    groups = [task.topics[i : i + size] for i in range(0, len(task.topics), size)]
    words = _words(task)
    steps: list[Step] = []
    for number, group in enumerate(groups, 1):
        named = words["and"].join(topic.question for topic in group)[:_GOAL_CHARACTERS]
        steps.append(
            Step(
                id=f"s{number}",
                goal=words["goal"].format(topics=named),
                accept=words["accept"].format(topics=named),
                expected_output=words["expected"],
                topics=[topic.id for topic in group],
                tool_hint="search",
            )
        )
    return Plan(steps=steps)


def step_action(task: ResolvedTask, inp: StepInput) -> StepAction:
    """Search a topic of the step that was not searched yet, else write."""
    tried = set(map(query_key, inp.queries))
    queries = [query_of(task.topics[index]) for index in inp.topics] or [inp.step.goal[:80]]
    left = [query for query in queries if query_key(query) not in tried]
    search = bool(left) and "search" in inp.allow
    return StepAction(
        answer_quote="",
        enough="no" if search else "partly",
        action="search" if search else "write",
        queries=left[:1] if search else [],
        evidence_id="",
        locator="",
        tool="",
        arguments_json="",
        question="",
    )


def write(
    task: ResolvedTask, inp: StepInput, entries: Sequence[Entry], texts: Mapping[str, str]
) -> StepRecord:
    """Up to three verbatim quotes a topic, each a claim; rows of a tool where there is no topic."""
    claims: dict[tuple[int, int, int], CheckedClaim] = {}
    missing: list[str] = []
    for index in inp.topics:
        topic = task.topics[index]
        picked = pick_quotes(topic, index, entries, texts, _QUOTES, task.settings.topic_cover)
        if not picked:
            missing.append(topic.id)
        for quote in picked:
            _add(claims, quote, topic.id)
    for quote in _rows(entries, texts) if inp.step.tool not in (None, "search") else []:
        _add(claims, quote, "")
    made = StepRecord(
        step=inp.step.id, goal=inp.step.goal, accept=inp.step.accept, attempt=inp.attempt
    )
    if claims:
        return made.model_copy(update={"claims": list(claims.values())})
    named = _words(task)["and"].join(missing or [inp.step.goal])
    why = _words(task)["nothing"].format(topics=named)[:400]
    if inp.looked not in ("", "-"):
        why = f"{why} ({inp.looked})"[:500]
    return made.model_copy(update={"insufficient": why})


def sources_to_quote(task: ResolvedTask, inp: StepInput, entries: Sequence[Entry]) -> list[str]:
    """Hashes of the texts that quotes may come from."""
    wanted = [
        entry.sha256
        for entry in sorted(entries, key=lambda e: (-max(e.covers.values(), default=0.0), -e.score))
        if entry.kind == "passage"
    ]
    del task, inp
    return list(dict.fromkeys(wanted))[:48]


def _add(claims: dict[tuple[int, int, int], CheckedClaim], quote: Quote, topic: str) -> None:
    key = (quote.evidence, quote.start, quote.end)
    known = claims.get(key)
    proposed = [*(known.proposed if known else []), *([topic] if topic else [])]
    claims[key] = CheckedClaim(
        text=quote.text,
        numbers=[quote.evidence],
        quotes=[quote],
        context=[quote.text],
        proposed=list(dict.fromkeys(proposed)),
        outcome="supported",
    )


def _rows(entries: Sequence[Entry], texts: Mapping[str, str]) -> list[Quote]:
    """The first lines of what a tool gave."""
    found: list[Quote] = []
    for entry in entries:
        text = texts.get(entry.sha256, "")
        if not entry.source_id.startswith(_TOOL) or entry.start or not text:
            continue
        place = 0
        for line in text.splitlines(keepends=True)[:_ROWS]:
            bare = line.strip()
            if bare:
                start = place + line.index(bare)
                found.append(
                    Quote(evidence=entry.number, text=bare, start=start, end=start + len(bare))
                )
            place += len(line)
    return found[:_ROWS]


def _words(task: ResolvedTask) -> dict[str, str]:
    return _WORDS["zh" if task.language.split("-", 1)[0] == "zh" else "en"]
