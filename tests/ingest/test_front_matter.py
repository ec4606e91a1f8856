"""The head of a Markdown file: title, date, topics; two rules in prose are none.

How it can go wrong: prose between two rules is lost; a topic is cut at a comma; a bad value is
guessed at.
"""

import pytest

from activities.ingest.front_matter import front_matter
from tests.ingest.test_readers import read


@pytest.mark.parametrize(
    ("head", "topics"),
    [
        ("topics: [agent_loop, tool_contract]", ["agent_loop", "tool_contract"]),
        ("topics: ['a, b', \"c\", 智能体]  # a comment", ["a, b", "c", "智能体"]),
        ("topics: [one,\n  two]", ["one", "two"]),
        ("topics:\n  - agent_loop\n  - 'it''s'\nother: 1", ["agent_loop", "it's"]),
        ("topics:\n- a\n- a\n- b", ["a", "b"]),
        ("topics: agent_loop", ["agent_loop"]),
        ("topics:", []),
        ("other: [x]", []),
    ],
)
def test_front_matter_topics(head: str, topics: list[str]) -> None:
    found = front_matter(f"---\ntitle: T\n{head}\n---\nbody")
    assert found.topics == topics
    assert found.problems == []


def test_front_matter_is_not_part_of_the_text() -> None:
    document = read('---\ntitle: "A: title"\ndate: 2024-02-29\n---\n# Heading\n\nBody text.\n')
    assert (document.title, document.date, document.problem) == ("A: title", "2024-02-29", "")
    assert document.text == "# Heading\n\nBody text.\n"


def test_a_bad_head_is_reported_and_the_text_kept() -> None:
    document = read("---\ntopics: [a, b\ndate: yesterday\n---\nBody text.\n")
    assert "topics: expected a list" in document.problem
    assert "date: expected YYYY-MM-DD" in document.problem
    assert document.text == "Body text.\n"


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nBody text without a head.\n",
        "---\nProse between two rules.\n---\nMore.\n",
        "---\n\nProse.\n\nAnd more: of it.\n\n---\n",
        "---\nNote: we met.\nThen we went on.\nAll was well.\n---\nMore.\n",
        "---\n\nNote: only said between rules.\n\n---\nMore.\n",
        "---\nhttp://example.org\n---\nMore.\n",
        "---\n- an item\n- another\n---\nMore.\n",
        "---\n---\nMore.\n",
        "---\n两条线之间的文字。\n---\n正文。\n",
    ],
)
def test_a_rule_is_no_front_matter(text: str) -> None:
    document = read(text)
    assert (document.text, document.problem) == (text, "")


@pytest.mark.parametrize(
    "head",
    [
        "layout: post\ntags:\n- a\n- b\n",
        "# a comment\n'quoted key': x\nlong: >\n  goes on\n",
        "\ntitle: T\n",
        "作者: 张三\n",
    ],
)
def test_keys_of_any_name_are_front_matter(head: str) -> None:
    assert read(f"---\n{head}---\nBody text.\n").text == "Body text.\n"
