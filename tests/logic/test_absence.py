"""Claims that sources do not say something: recognised, whatever kind the model calls them.

How it can go wrong: an absence passes as a fact because its quote is real; a fact that only
contains "not" is taken for one; a source that says so of itself may not be quoted.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflows.logic.absence import says_absent, written_by_model


@pytest.mark.parametrize(
    "text",
    [
        "The documents do not mention NUMA.",
        "The sources don't say how large the pool is.",
        "None of the documents describes NUMA balancing.",
        "No source states the default.",
        "NUMA is not mentioned in the documentation.",
        "There is no mention of NUMA in the notes.",
        "The collection does not contain information on NUMA.",
        "The evidence never explicitly states a limit.",
        "这些文档没有提到桥墩的材料。",
        "来源中并未说明默认值。",
        "资料未提及检查的间隔。",
    ],
)
def test_an_absence_is_recognised(text: str) -> None:
    assert says_absent(text)
    assert written_by_model(text, ["KSM merges identical memory pages into one."])


@pytest.mark.parametrize(
    "text",
    [
        "zswap is not enabled by default.",
        "KSM does not merge file pages.",
        "A file descriptor is not closed by exec.",
        "The kernel does not list swapped pages in this file.",
        "The file does not contain a trailing newline.",
        "The module fails to load without a device.",
        "No page is merged before it was scanned twice.",
        "zswap 默认没有启用。",
        "内核不会合并文件页。",
    ],
)
def test_a_fact_with_a_negation_is_none(text: str) -> None:
    assert not says_absent(text)


def test_a_source_may_say_so_of_itself() -> None:
    said = "This document does not cover NUMA."
    assert not written_by_model("The document does not cover NUMA.", [said])


@given(st.text(max_size=300))
def test_any_text_is_fine(text: str) -> None:
    says_absent(text)


@pytest.mark.parametrize("part", ["the documents ", "no ", "documents do not ", "文档没有"])
def test_hostile_text_takes_no_time(part: str) -> None:
    says_absent(part * 5_000)
