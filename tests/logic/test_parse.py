"""From whatever a run was started with to a Task, or a sentence for each wrong field."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.case_files import departs, load
from workflows.contracts.acts import PrepareInput
from workflows.logic.parse import InvalidTaskError, parse_task

CASES = load("control_flow_cases.json")
# Fields of the case files under their names in INTERFACE (C47).
RENAMED = {"total_timeout_seconds": "max_active_seconds"}
SPECIAL = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def problems(*args: Any) -> str:
    with pytest.raises(InvalidTaskError) as caught:
        parse_task(args)
    return str(caught.value)


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ((), "no input"),
        (({"goal": "x"}, {"goal": "y"}), "2 inputs"),
        ((None,), "null"),
        (([],), "a list"),
        ((5,), "the number 5"),
        (("plain",), "the text 'plain'"),
        ((True,), "the boolean true"),
        (({"$undecodable": "unknown encoding 'x'"},), "cannot be decoded (unknown encoding 'x')"),
    ],
)
def test_anything_but_one_object_is_named(args: tuple[Any, ...], found: str) -> None:
    assert found in problems(*args)


STEP = {"id": "a", "goal": "g", "accept": "x"}


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ({"gaol": 1}, "goal: is required; gaol: is not a known field"),
        ({"goal": 5}, "goal: Input should be a valid string, found the number 5"),
        ({"goal": "\u3000 "}, "goal: must not be blank"),
        ({"goal": "a\ud800"}, "goal: Input should be a valid string"),
        ({"goal": "x", "limits": {"max_tool_calls": None}}, "null is refused for max_tool_calls"),
        ({"goal": "x", "tenant": None}, "null is refused for tenant"),
        ({"goal": "x", "strategy": "react", "limits": {"max_steps": 2}}, "limits.max_steps"),
        ({"goal": "x", "required_topics": [5]}, "required_topics.0"),
        ({"goal": "x", "required_topics": ["a", "a"]}, "found twice: a"),
        ({"goal": "x", "strategy": "guess"}, "strategy"),
        ({"goal": "x", "strategy": "react", "plan": {"steps": [STEP]}}, "plan: belongs to"),
        ({"goal": "x", "plan": {"steps": []}}, "plan.steps"),
        (
            {"goal": "x", "plan": {"steps": [{**STEP, "args": {"x": "y" * 16_400}}]}},
            "plan.steps.0.args: expected at most 16384 bytes of JSON, found 16408",
        ),
        (
            {
                "goal": "x",
                "plan": {
                    "steps": [
                        {**STEP, "id": f"s{n}", "args": {"x": "y" * 16_000}} for n in range(9)
                    ]
                },
            },
            "plan: expected at most 131072 bytes of JSON, found 144",
        ),
        (
            {"goal": "x", "approvals": {"approvers": ["𠮷" * 200] * 6}},
            "approvals.approvers: expected at most 4000 bytes in all, found 4800",
        ),
        ({"goal": "x", "strategy": "react", "approvals": {"plan": True}}, "approvals.plan"),
        ({"goal": "x", "approvals": {"tools": "none"}}, "approvals.tools"),
        ({"goal": "x", "approvals": {"expires_after_seconds": 0}}, "approvals.expires_after"),
        ({"goal": "x", "strategy": "direct", "limits": {"max_rounds": 3}}, "max_rounds"),
        ({"goal": "x", "limits": {"max_cost": -0.5}}, "limits.max_cost"),
        ({"goal": "x", "limits": {"max_cost": True}}, "limits.max_cost"),
        ({"goal": "x", "corpora": ["../etc"]}, "corpora.0"),
    ],
)
def test_each_wrong_field_is_named(task: dict[str, Any], expected: str) -> None:
    assert expected in problems(task)


@pytest.mark.parametrize("name", ["api_key", "OPENAI_API_KEY", "token", "access_token", "password"])
def test_credentials_are_refused_and_not_repeated(name: str) -> None:
    text = problems({"goal": "x", "models": {name: "sk-very-secret"}})
    assert "looks like a credential" in text
    assert "sk-very-secret" not in text


def test_max_tokens_is_no_credential() -> None:
    assert parse_task([{"goal": "x", "limits": {"max_tokens": 5}}]).limits.max_tokens == 5


def test_a_task_crosses_boundaries_unchanged() -> None:
    task = parse_task([{"goal": "目标", "required_topics": ["甲", {"id": "b", "question": "乙?"}]}])
    inp = PrepareInput(run_id="r", workflow_id="w", task=task)
    assert PrepareInput.model_validate_json(inp.model_dump_json()) == inp


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_nothing_but_a_task_or_a_named_problem_comes_out(value: Any) -> None:
    try:
        parse_task([value])
    except InvalidTaskError as error:
        text = json.dumps(error.problems or None, ensure_ascii=False)
    else:
        text = "a task"
    assert text.encode() != b"null"


@pytest.mark.cases("control_flow_cases.json: limits_validation")
@pytest.mark.parametrize("case", CASES["limits_validation"], ids=lambda c: json.dumps(c["change"]))
def test_limits_validation(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    change = {RENAMED.get(k, k): v for k, v in case["change"].items()}
    if "max_active_seconds" in change:
        value = change["max_active_seconds"]
        change["max_active_seconds"] = (
            SPECIAL.get(value, value) if isinstance(value, str) else value
        )
    accepted = case["accepted"]
    if any(isinstance(v, bool) for k, v in change.items() if k == "max_active_seconds"):
        departs(request, "C58")  # a boolean time is refused
        accepted = False
    task = {"goal": "Neutral goal", "limits": change}
    if accepted:
        parse_task([task])
    else:
        assert "limits" in problems(task)


@pytest.mark.cases("control_flow_cases.json: task_validation")
@pytest.mark.parametrize("case", CASES["task_validation"], ids=lambda c: c["id"])
def test_task_validation(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    task, accepted = case["task"], case["accepted"]
    topics: list[Any] | Any = task.get("required_topics")
    wellformed = type(topics) is list and all(isinstance(t, str) and t.strip() for t in topics)
    goal = task.get("goal")
    fine_goal = isinstance(goal, str) and bool(goal.strip()) and len(goal) <= 2000
    unique = wellformed and len(set(topics)) == len(topics) <= 20
    known = {"goal", "required_topics"}
    # Any topics may be required, and none at all: the goal is the one topic (C40).
    ours = fine_goal and (topics is None or unique) and set(task) <= known
    if ours and not accepted:
        departs(request, "C40")
        accepted = True
    if accepted:
        parse_task([task])
    else:
        assert problems(task)


@pytest.mark.parametrize("name", ["Goal", "requiredTopics", "max-calls", "$x", "目标"])
def test_an_unknown_field_is_named_as_it_was_written(name: str) -> None:
    assert f"{name}: is not a known field" in problems({"goal": "x", name: 1})


def test_a_language_is_short() -> None:
    assert "language" in problems({"goal": "x", "language": "en" + "-aaaaaaaa" * 9})
