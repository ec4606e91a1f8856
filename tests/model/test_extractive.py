"""The built-in model: which topic it searches, and that its text is nothing but quotes."""

import re

import pytest

from activities.model import extractive
from tests.model.material import NOTES, TEXTS, decide_input, nothing_found, passage, sha, task
from workflows.contracts.decision import NextAction
from workflows.contracts.evidence import Entry
from workflows.contracts.task import ResolvedTask

QUOTE = re.compile(r"^“(.+)” \[E(\d+)\]$")


def run(topics: ResolvedTask, found: dict[str, bool], calls: int) -> list[NextAction]:
    """Play the loop: topics in `found` that are true have a note that declares them."""
    made: list[NextAction] = []
    entries: list[Entry] = []
    queries: set[str] = set()
    covered: set[str] = set()
    plan: list[str] = []
    for call in range(1, calls + 1):
        missing = [i for i, topic in enumerate(topics.topics) if topic.id not in covered]
        inp = decide_input(missing, call=call, previous_plan=plan)
        decision = extractive.decide(topics, inp, entries, TEXTS)
        made.append(decision)
        plan = decision.plan
        if decision.action == "finish":
            break
        if decision.query not in queries:
            queries.add(decision.query)
            number = len(entries) + 1
            if found[decision.query]:
                covered.add(decision.query)
                entries.append(passage(number, decision.query))
            else:
                entries.append(nothing_found(number, decision.query))
    return made


def test_two_topics_take_two_searches_and_a_finish() -> None:
    topics = task("agent_loop", "tool_contract")
    made = run(topics, {"agent_loop": True, "tool_contract": True}, 6)
    assert [(d.action, d.query) for d in made] == [
        ("search", "agent_loop"),
        ("search", "tool_contract"),
        ("finish", ""),
    ]
    assert made[-1].sufficient
    lines = made[-1].draft.split("\n")
    assert "not judged" in lines[0]
    quotes = [QUOTE.match(line) for line in lines[1:]]
    assert [(q.group(1), q.group(2)) for q in quotes if q] == [
        (NOTES["agent_loop"], "1"),
        (NOTES["tool_contract"], "2"),
    ]


def test_a_topic_without_notes_is_searched_last_and_again() -> None:
    topics = task("agent_loop", "tool_contract", "recovery")
    found = {"agent_loop": True, "tool_contract": True, "recovery": False}
    made = run(topics, found, 4)
    assert [d.query for d in made] == ["agent_loop", "tool_contract", "recovery", "recovery"]


def test_topics_that_stay_missing_take_turns() -> None:
    topics = task("a1", "b1", "c1")
    made = run(topics, {"a1": False, "b1": False, "c1": False}, 7)
    assert [d.query for d in made] == ["a1", "b1", "c1", "a1", "b1", "c1", "a1"]


def test_a_search_that_failed_gives_way_to_the_next_topic() -> None:
    topics = task("a1", "b1")
    first = extractive.decide(topics, decide_input([0, 1]), [], {})
    inp = decide_input([0, 1], previous_plan=first.plan)  # nothing on the pages: it failed
    assert extractive.decide(topics, inp, [], {}).query == "b1"


def test_plans_of_others_do_not_confuse_it() -> None:
    inp = decide_input([0, 1], previous_plan=["Search: something else"])
    assert extractive.decide(task("a1", "b1"), inp, [], {}).query == "a1"


def test_the_query_is_the_topic_without_stop_words() -> None:
    topics = task({"id": "ksm", "question": "How is the KSM feature enabled?"})
    decision = extractive.decide(topics, decide_input([0]), [], {})
    assert "KSM" in decision.query
    assert "How" not in decision.query
    assert decision.plan[0] == f"Search: {decision.query}"


def test_long_topics_stay_within_the_limits() -> None:
    topics = task(*({"id": f"t{i}", "question": f"{i} " + "很长的问题描述" * 60} for i in range(6)))
    decision = extractive.decide(topics, decide_input(list(range(6))), [], {})
    assert 0 < len(decision.query) <= 80
    assert len(decision.plan) == 4
    assert all(len(entry) <= 120 for entry in decision.plan)


def test_a_search_that_is_not_allowed_becomes_a_finish() -> None:
    topics = task("agent_loop", "recovery")
    inp = decide_input([1], allow_search=False, remaining_tool_calls=0)
    decision = extractive.decide(topics, inp, [passage(1, "agent_loop")], TEXTS)
    assert (decision.action, decision.sufficient) == ("finish", False)
    assert NOTES["agent_loop"] in decision.draft


def test_without_any_quote_the_draft_is_blank() -> None:
    inp = decide_input([0], allow_search=False)
    decision = extractive.decide(task("recovery"), inp, [nothing_found(1, "recovery")], {})
    assert (decision.sufficient, decision.draft) == (False, "")


def test_chinese_runs_are_written_in_chinese() -> None:
    topics = task("内存去重", goal="内核如何节省内存？")
    search = extractive.decide(topics, decide_input([0]), [], {})
    assert search.plan[0] == f"搜索：{search.query}"
    finish = extractive.decide(topics, decide_input([]), [passage(1, "内存去重")], TEXTS)
    first, quote = finish.draft.split("\n")
    assert "未作判断" in first
    assert quote == f"“{NOTES['内存去重']}” [E1]"


def test_a_long_draft_is_cut_between_quotes_and_keeps_every_topic() -> None:
    topics = task(*(f"topic{i}" for i in range(8)))
    entries: list[Entry] = []
    texts: dict[str, str] = {}
    for index in range(8):
        for part in range(3):
            text = f"This sentence on topic{index} is part {part} and it is {'very ' * 20}long."
            texts[sha(text)] = text
            number = len(entries) + 1
            entries.append(passage(number, f"topic{index}", text=text, source_id=f"s{number}"))
    decision = extractive.decide(topics, decide_input([]), entries, texts)
    assert len(decision.draft) <= extractive.DRAFT_CHARACTERS
    lines = decision.draft.split("\n")[1:]
    assert all(QUOTE.match(line) for line in lines)
    assert [f"topic{i}" for i in range(8) if any(f"topic{i} " in line for line in lines)] == [
        f"topic{i}" for i in range(8)
    ]
    answer = extractive.answer(topics, decide_input([]), entries, texts)
    assert len(answer.draft.split("\n")) == 25
    assert answer.sufficient


def test_a_passage_that_serves_two_topics_is_quoted_once() -> None:
    topics = task("agent_loop", "loops")
    entry = passage(1, "agent_loop", topics=["agent_loop", "loops"])
    draft = extractive.decide(topics, decide_input([]), [entry], TEXTS).draft
    assert draft.count(NOTES["agent_loop"]) == 1


@pytest.mark.parametrize("covers", [{"0": 0.34}, {}])
def test_passages_that_cover_nothing_are_not_quoted(covers: dict[str, float]) -> None:
    entry = passage(1, "agent_loop", topics=[], covers=covers)
    assert extractive.decide(task("agent_loop"), decide_input([]), [entry], TEXTS).draft == ""


def test_only_texts_that_may_be_quoted_are_asked_for() -> None:
    topics = task("agent_loop", "recovery")
    entries = [
        passage(1, "agent_loop"),
        passage(2, "tool_contract"),
        nothing_found(3, "recovery"),
        passage(4, "x", topics=[], covers={"1": 0.5}),
    ]
    assert extractive.sources_to_quote(topics, entries) == [sha(NOTES["agent_loop"]), sha("x")]
