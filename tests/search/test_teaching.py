"""The teaching tool: only results that keep the contract come through (REQUIREMENTS 64, 167)."""

from typing import Any

import pytest

from activities.search.backend import InvalidToolResultError, ToolFailedError
from activities.search.teaching import TeachingBackend
from tests.case_files import load
from tests.search.asked import task

CASES = "control_flow_cases.json"
KNOWN = ["agent_loop", "tool_contract"]
TASK = task(["agent_loop", "tool_contract"], ["default"])
ITEM: dict[str, Any] = {
    "source_id": "agent_loop",
    "topic": "agent_loop",
    "title": "Note A",
    "content": "Alpha note body. 正文。",
    "source_url": "https://example.test/a",
}


def result(**changes: Any) -> dict[str, Any]:
    return {"ok": True, "items": [ITEM], "error": "", **changes}


def backend(answer: Any) -> TeachingBackend:
    return TeachingBackend(lambda _: answer, KNOWN)


async def test_an_item_is_one_passage_of_its_whole_content() -> None:
    tool = backend(result())
    (passage,) = (await tool.search("agent_loop", TASK)).passages
    assert (passage.source_id, passage.title) == ("agent_loop", "Note A")
    assert (passage.start, passage.end) == (0, len(ITEM["content"]))
    assert passage.topics == ("agent_loop",)
    assert passage.covers == {0: 1.0, 1: 0.0}
    assert passage.origin == "https://example.test/a"
    assert await tool.text(passage) == ITEM["content"]
    with pytest.raises(OSError, match="never returned"):
        await backend(result()).text(passage)
    assert await tool.unknown_names(TASK) == []


async def test_nothing_found() -> None:
    assert (await backend(result(items=[])).search("x", TASK)).passages == ()


async def test_async_tools() -> None:
    async def call(query: str) -> dict[str, Any]:
        assert query == "agent_loop"
        return result()

    assert len((await TeachingBackend(call, KNOWN).search("agent_loop", TASK)).passages) == 1


async def test_the_tool_s_own_words() -> None:
    with pytest.raises(ToolFailedError, match="upstream_down"):
        await backend(result(ok=False, items=[], error="upstream_down")).search("x", TASK)


async def test_errors_of_the_world_pass() -> None:
    def call(_: str) -> Any:
        raise ConnectionError("reset")

    with pytest.raises(ConnectionError):
        await TeachingBackend(call, KNOWN).search("x", TASK)


@pytest.mark.parametrize(
    "raw",
    [
        None,
        [],
        "text",
        {},
        result(ok=1),
        result(ok="true"),
        result(cost=1),
        result(error="boom"),
        result(error=None),
        result(items=None),
        result(items=[ITEM, ITEM, ITEM]),
        result(ok=False, error="with items"),
        result(ok=False, items=[], error=""),
        result(ok=False, items=[], error="  "),
        *(
            result(items=[{**ITEM, **change}])
            for change in (
                {"source_id": "other", "topic": "other"},
                {"topic": "tool_contract"},
                {"title": ""},
                {"title": "x" * 121},
                {"content": ""},
                {"content": " \u3000\n"},
                {"content": "x" * 2001},
                {"content": 5},
                {"content": "\ud800"},
                {"source_url": ""},
                {"source_url": "x" * 301},
                {"score": 1},
            )
        ),
        result(items=[{k: v for k, v in ITEM.items() if k != "title"}]),
    ],
)
async def test_refused(raw: Any) -> None:
    with pytest.raises(InvalidToolResultError):
        await backend(raw).search("x", TASK)


@pytest.mark.parametrize("change", [{"title": "x" * 120}, {"content": "x" * 2000}])
async def test_limits_are_inclusive(change: dict[str, str]) -> None:
    found = await backend(result(items=[{**ITEM, **change}])).search("x", TASK)
    assert len(found.passages) == 1


def raw_results() -> list[tuple[Any, str | None]]:
    """Every raw result of the cases with the observation's error that the case ends with."""
    found: list[tuple[Any, str | None]] = []
    for case in load(CASES)["cases"]:
        answers = case["input"]["tool_results"]
        events = [e for e in case["expected"]["events"] if e["event"] == "observation_recorded"]
        if case["group"] == "invalid_tool_result" and isinstance(answers, list):
            pairs = zip(answers, events, strict=False)
            found += [(a["returns"], e["error"]) for a, e in pairs if "returns" in a]
    return found


@pytest.mark.cases(CASES)
@pytest.mark.parametrize(("raw", "error"), raw_results())
async def test_results_of_the_cases(raw: Any, error: str) -> None:
    if not error:
        assert (await backend(raw).search("x", TASK)).passages
    elif error == "invalid_tool_result":
        with pytest.raises(InvalidToolResultError):
            await backend(raw).search("x", TASK)
    else:
        with pytest.raises(ToolFailedError, match=error):
            await backend(raw).search("x", TASK)
