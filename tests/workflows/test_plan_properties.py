"""Whatever planner, executor and judge do, a run with a plan keeps its promises.

Random plans, verdicts and failures through the real workflow: it ends within its budgets; no step
runs before those it depends on, nor again after it has passed; no evidence number is given twice;
the state round-trips as plain JSON.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.workflows.plan_stage import KSM, ZSWAP, Stage, staged, told
from tests.workflows.planned import PlannedModel, act, action, goal, step, support, write
from workflows.contracts.state import RunState

_CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
LIMITS = {"max_model_calls": 40, "max_tool_calls": 12, "max_rounds": 8, "max_replans": 2}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with staged(tmp_path_factory.mktemp("properties")) as ready:
        yield ready


BROKEN = {"kind": "raw", "content": "{", "finish_reason": "stop", "refusal": None}
EDGES = st.lists(st.sets(st.integers(0, 4), max_size=2), min_size=2, max_size=5)
SCORES = st.lists(st.sampled_from([0.95, 0.9, 0.6, 0.3, None]), min_size=1, max_size=6)
ACTS = st.lists(st.sampled_from(["honest", "search", "insufficient", "broken"]), max_size=4)
VERDICTS = st.lists(
    st.sampled_from(["supported", "supported", "qualified", "insufficient", "contradicted", "?"]),
    min_size=1,
    max_size=4,
)
WORDS = ("river", "delta", "bridge", "canyon", "desert", "forest")


def plan_of(edges: list[set[int]], version: int) -> dict[str, Any]:
    """A graph without cycles; each version has goals of its own."""
    return {
        "steps": [
            step(
                f"s{n}",
                f"{WORDS[version % 6]} {WORDS[(version + n) % 6]} part {n}",
                topics=["ksm", "zswap"] if n == 0 else ["ksm"],
                depends_on=[f"s{d}" for d in sorted(before) if d < n],
            )
            for n, before in enumerate(edges)
        ]
    }


def cycled(values: list[Any]) -> Any:
    """The values again and again."""
    while True:
        yield from values


@settings(max_examples=12, deadline=None, suppress_health_check=_CHECKS, derandomize=True)
@given(edges=EDGES, scores=SCORES, acts=ACTS, verdicts=VERDICTS)
async def test_a_run_keeps_its_promises(
    stage: Stage,
    edges: list[set[int]],
    scores: list[float | None],
    acts: list[str],
    verdicts: list[str],
) -> None:
    said, does, judged = cycled(scores), cycled([*acts, "honest"]), cycled(verdicts)

    def decide(user: dict[str, Any]) -> dict[str, Any]:
        kind = next(does)
        if kind == "broken":
            return BROKEN
        if kind in user["allowed_actions"]:
            return action(kind, "KSM pages", "zswap pages")
        return act(user)

    def verdict(_: dict[str, Any]) -> dict[str, Any]:
        word = next(judged)
        return BROKEN if word == "?" else support(word, limitation="only on Linux")

    def scored(_: dict[str, Any]) -> dict[str, Any]:
        score = next(said)
        return {"passed": True} if score is None else goal(score)

    model = PlannedModel(
        plan=lambda user: plan_of(edges, len(user["failed_plans"])),
        step_action=decide,
        written_result=write,
        support=verdict,
        goal=scored,
    )
    handle = await stage.start(model, required_topics=[KSM, ZSWAP], limits=LIMITS)
    result = await asyncio.wait_for(handle.result(), 60)
    usage = result["usage"]
    assert usage["model_calls"] <= LIMITS["max_model_calls"], told(result)
    assert usage["tool_calls"] <= LIMITS["max_tool_calls"]
    assert usage["rounds"] <= LIMITS["max_rounds"]
    assert usage["replans"] <= LIMITS["max_replans"]
    assert len(stage.lab.model.requests) <= usage["model_attempts"]
    ids = [item["id"] for item in result["evidence"]]
    assert ids == [f"E{n}" for n in range(1, len(ids) + 1)]
    check_order(await stage.trajectory(handle), edges)
    state = await handle.query("state")
    assert RunState.model_validate(state).model_dump(mode="json") == state
    assert json.loads(json.dumps(state)) == state


def check_order(records: list[dict[str, Any]], edges: list[set[int]]) -> None:
    """No step acts before those it depends on have passed, nor after it has passed itself."""
    passed: set[str] = set()
    for record in records:
        if record["event"] == "think" and record.get("action") == "plan":
            passed = set()
        name = record.get("step")
        if not name:
            continue
        if record["event"] in ("think", "tool", "answer"):
            number = int(name[1:])
            assert name not in passed, record
            assert {f"s{d}" for d in edges[number] if d < number} <= passed, record
        if record["event"] == "verdict" and record.get("passed"):
            passed.add(name)
