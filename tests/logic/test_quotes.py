"""Quotes: found where they stand and nowhere else; picked verbatim, from prose, spread out.

How it can go wrong: a quote that says the opposite is found inside a longer word; a number is cut;
a heading, a table of contents or a bare code line is shown as a finding.
"""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from workflows.contracts.claim import Quote
from workflows.contracts.evidence import Entry
from workflows.contracts.task import ResolvedTopic
from workflows.logic.fold import fold
from workflows.logic.quotes import find_quote, pick_quotes
from workflows.logic.sentences import sentences

TEXT = (
    "The scheduler is un-\nable to continue after 1,250 failures. It costs 10⁶ units.\n\n"
    "工具契约规定了输入的\n格式，以及在出错时返回“什么”。单独的一句。\n\n"
    "A well-\nknown rule — the “first” version stays… and nothing replaces it.\n"
    + "filler words here. " * 80
    + "\nThe very end of it all."
)


@pytest.mark.parametrize(
    ("quote", "raw"),
    [
        ("scheduler is unable to continue", "scheduler is un-\nable to continue"),
        ("ＴＨＥ　ｓｃｈｅｄｕｌｅｒ is unable", "The scheduler is un-\nable"),
        ("工具契约规定了输入的格式", "工具契约规定了输入的\n格式"),
        ('在出错时返回"什么"', "在出错时返回“什么”"),
        ('rule - the "first" version stays...', "rule — the “first” version stays…"),
        ("a well-known rule", "A well-\nknown rule"),
        ("“first” version … nothing replaces it.", None),
        ("A well-known … nothing replaces it", None),
        ("工具契约规定……返回“什么”", None),
    ],
)
def test_found(quote: str, raw: str | None) -> None:
    span = find_quote(TEXT, quote)
    assert span is not None
    if raw is not None:
        assert fold(TEXT[slice(*span)]).text.strip('"') == fold(raw).text.strip('"')
        assert TEXT[slice(*span)].strip("“”") == raw.strip("“”")


@pytest.mark.parametrize(
    "quote",
    [
        "able to continue after",  # in "unable", over a line end
        "cheduler is unable to",
        "scheduler is unable to contin",
        "continue after 1",
        "250 failures. It costs",
        "It costs 106 units",
        "It costs 10 units",
        "unable to",  # too short
        "单独的一",
        "the end … The scheduler",  # wrong order
        "The scheduler is … The very end of it all",  # too far apart
        "… … …",
        "",
        "never written anywhere",
        "从未写过的一句话",
    ],
)
def test_not_found(quote: str) -> None:
    assert find_quote(TEXT, quote) is None


WORDS = st.lists(
    st.sampled_from(
        ["alpha", "Beta", "１２", "工具契约", "straße", "x-ray", "“q”", "10⁶", "…", "\n"]
    ),
    min_size=6,
    max_size=40,
)


@given(WORDS, st.data())
def test_what_is_copied_is_found_and_verbatim(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    low = data.draw(st.integers(0, len(words) - 1))
    high = data.draw(st.integers(low + 1, len(words)))
    quote = " ".join(words[low:high])
    assume(not quote.strip("… \n“”").startswith("q”"))
    span = find_quote(text, quote)
    if span is None:
        assume("…" not in quote and not quote.startswith(("x-ray", "“")))
        assert sum(2 if c > "\u2e80" else 1 for c in quote if c.isalpha()) < 12
    elif "…" not in quote:
        assert fold(text[slice(*span)]).text.strip('"') == fold(quote).text.strip('"')


DOCUMENT = """---
title: Agent loops
---
# How an agent loop ends

[Home](index.html) | [Next](next.html)

1 Introduction ........ 3
2 Agent loop termination ........ 17

An agent loop ends when the model finishes or when a budget is used up. It never runs for ever.

- [Agent loop](loop.html)
- Agent loop

```python
agent_loop = loop(end="agent loop ends here")
```

| agent loop | ends |
| --- | --- |
| agent loop budget | ends the agent loop |

The budget of an agent loop is checked before each act, e.g. before a model call.
智能体循环在预算用尽时结束。
"""


def entry(place: int, text: str, **fields: object) -> Entry:
    base = Entry(
        number=place,
        source_id=f"notes:{place}.md",
        title=f"Note {place}",
        sha256=f"{place:064x}",
        start=0,
        end=len(text),
        covers={"0": 0.9},
        score=5.0,
    )
    return base.model_copy(update=fields)


def pick(texts: dict[int, str], topic: ResolvedTopic, entries: list[Entry]) -> list[Quote]:
    quotes = pick_quotes(topic, 0, entries, {f"{n:064x}": text for n, text in texts.items()})
    for quote in quotes:
        assert texts[quote.evidence][quote.start : quote.end] == quote.text
        assert len(quote.text) <= 400
    return quotes


LOOP = ResolvedTopic(
    id="agent_loop", question="How does an agent loop end?", query="agent loop end"
)


def test_sentences_are_prose_first() -> None:
    shown = {DOCUMENT[s.start : s.end]: s.kind for s in sentences(DOCUMENT)}
    prose = [text for text, kind in shown.items() if kind == "prose"]
    assert prose == [
        "An agent loop ends when the model finishes or when a budget is used up.",
        "It never runs for ever.",
        "The budget of an agent loop is checked before each act, e.g. before a model call.",
        "智能体循环在预算用尽时结束。",
    ]
    assert not any("....." in text or "Home" in text or "title" in text for text in shown)
    assert "How an agent loop ends" not in " ".join(shown)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("In 2023, 45% of 1,200 users (3.4 GB each) paid 12.50.", "prose"),
        ("2024年收入为1,234.5万元，同比增长12.3%。", "prose"),
        ("Version 3.11 came out, e.g. on Debian, see Fig. 3.", "prose"),
        ("a list item without an end to it", "item"),
        ("- an item that ends like a sentence.", "item"),
        ("x = foo(a, b)[0] + {1: 2}", "code"),
        ("def first(items): return items", "code"),
        ("connect(database, timeout=5.0, uri=False)", "code"),
        ("$ apt-get install -y foo", "code"),
        ("| a cell of | a table |", "row"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    assert [sentence.kind for sentence in sentences(text)] == [kind]


def test_one_quote_a_passage_best_first() -> None:
    half = DOCUMENT.index("The budget")
    entries = [entry(1, DOCUMENT[:half]), entry(1, DOCUMENT, start=half)]
    quotes = pick({1: DOCUMENT}, LOOP, entries)
    assert [quote.text for quote in quotes] == [
        "An agent loop ends when the model finishes or when a budget is used up.",
        "The budget of an agent loop is checked before each act, e.g. before a model call.",
    ]


def test_chinese_sentences() -> None:
    text = "# 备份\n\n备份策略取决于三个因素。首先要知道哪些数据值得备份！其他内容与此无关。\n"
    topic = ResolvedTopic(id="备份", question="备份策略取决于什么？", query="备份策略")
    assert [quote.text for quote in pick({1: text}, topic, [entry(1, text)])] == [
        "备份策略取决于三个因素。"
    ]


def test_code_only_where_there_is_no_prose() -> None:
    code = "```\nagent_loop.run(end=True)\n```\n"
    assert [q.text for q in pick({1: code}, LOOP, [entry(1, code)])] == ["agent_loop.run(end=True)"]
    both = {1: code, 2: "Some words about the agent loop and its end."}
    quotes = pick(both, LOOP, [entry(1, code), entry(2, both[2])])
    assert [quote.evidence for quote in quotes] == [2]


def test_other_documents_where_values_are_close() -> None:
    one, two = "An agent loop must end at its budget at last.", "An agent loop may end before."
    first = f"{one}\n\n{two}\n"
    second = "Each agent loop comes to its end one day.\n"
    half = first.index(two)
    entries = [entry(1, first, end=half), entry(1, first, start=half), entry(2, second)]
    quotes = pick({1: first, 2: second}, LOOP, entries)
    assert [quote.evidence for quote in quotes] == [1, 2, 1]


def test_the_same_sentence_is_quoted_once() -> None:
    text = "The agent loop ends at a budget, always.\n"
    assert len(pick({1: text, 2: text}, LOOP, [entry(1, text), entry(2, text)])) == 1


@pytest.mark.parametrize(
    ("fields", "counts"),
    [
        ({"topics": ["AGENT_LOOP"], "covers": {}}, True),
        ({"topics": ["other"], "covers": {"0": 1.0}}, True),
        ({"topics": ["other"], "covers": {"0": 0.2}}, False),
        ({"covers": {"0": 0.34}}, False),
        ({"covers": {"1": 1.0}}, False),
        ({"number": 0}, False),
        ({"kind": "empty"}, False),
    ],
)
def test_which_passages_count(fields: dict[str, object], counts: bool) -> None:
    text = "The agent loop ends at a budget, always.\n"
    assert bool(pick({1: text}, LOOP, [entry(1, text, **fields)])) is counts


def test_a_passage_without_a_sentence_is_quoted_by_its_opening() -> None:
    text = "# agent-loop budget end\n\n" + "agent_loop/budget/end " * 60
    (quote,) = pick({1: text}, LOOP, [entry(1, text)])
    assert quote.text == text[quote.start : quote.end]
    assert 0 < len(quote.text) <= 400


LONG = {
    "chinese": "飞艇发动机的功率是九百千瓦，需要每年检修一次。" * 20_000,
    "letters": "a" * 500_000,
    "brackets": "[" * 500_000,
    "tabs": "x" + "\t" * 500_000,
    "quotes": "." + '"' * 500_000,
    "code": "def f(" + ")" * 500_000,
    "bars": "a|" * 250_000,
}


@pytest.mark.parametrize("line", LONG.values(), ids=LONG)
@pytest.mark.timeout(20)
def test_a_long_line_is_read_in_linear_time(line: str) -> None:
    for sentence in sentences(line):
        assert 0 <= sentence.start < sentence.end <= len(line)


def test_a_lost_text_is_left_out() -> None:
    text = "The agent loop ends at a budget, always.\n"
    assert len(pick({2: text}, LOOP, [entry(1, text), entry(2, text)])) == 1


@given(st.text(max_size=300), st.integers(0, 300), st.integers(0, 300))
def test_any_text_gives_verbatim_quotes(text: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    for quote in pick({1: text}, LOOP, [entry(1, text, start=start, end=end)]):
        assert start <= quote.start < quote.end <= end
