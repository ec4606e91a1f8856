"""Edits of people: validated like the original. What an edited report becomes: test_edited_report.

How it can go wrong: a plan that no planner may write; arguments that are not those shown.
"""

from typing import Any

import pytest

from tests.logic.asking_material import PLAN, state
from workflows.contracts.task import ResolvedApprovals, ToolSpec
from workflows.logic import edits
from workflows.logic.effects import call_shown, effect_key, must_ask

STEPS = PLAN["steps"]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"steps": STEPS}, ""),
        ({"plan": {"steps": STEPS}}, ""),
        ({"goal": "What does it cost, and since when?", "steps": STEPS}, ""),
        ({"goal": "Another goal"}, ""),
        ({"goal": "Another goal", "steps": STEPS}, "not both"),
        ({"goal": " "}, "expected"),
        ({"goal": 5}, "expected"),
        ({"goal": "x" * 2001}, "at most 2000"),
        ({}, "steps"),
        ({"steps": []}, "steps"),
        ({"steps": "all"}, "steps"),
        ({"steps": [{**STEPS[0], "topics": ["price", "date"], "id": "a"}]}, ""),
        ({"plan": {"goal": "Another goal", "steps": STEPS}}, "not both"),
        ({"plan": {"steps": STEPS}, "colour": "red"}, "colour"),
        ({"plan": {"steps": STEPS}, "goal": "Another goal"}, "not both"),
        ({"plan": {"steps": STEPS}, "steps": STEPS}, "plan.plan: is not a known field"),
        ({"plan": {"goal": "Another goal"}}, "not both"),
        ({"steps": [{**STEPS[0], "args": {"x": [1e15] * 2_000}}, STEPS[1]]}, "16384 bytes"),
        ({"steps": [{**STEPS[0], "depends_on": [0] * 90}, STEPS[1]]}, "found the number 0"),
        ({"steps": [{**STEPS[0], "depends_on": ["x"] * 101}, STEPS[1]]}, "at most 100 items"),
        ({"steps": [STEPS[0]]}, "date"),
        ({"steps": [{**STEPS[0], "depends_on": ["s1"]}, STEPS[1]]}, "itself"),
        ({"steps": [{**STEPS[0], "accept": "looks reasonable"}, STEPS[1]]}, "nobody can check"),
        ({"steps": [{**STEPS[0], "tool": "fly"}, STEPS[1]]}, "no tool 'fly'"),
        ({"steps": [{**STEPS[0], "colour": "red"}, STEPS[1]]}, "colour"),
        ({"steps": [{**STEPS[0], "id": f"s{n}", "topics": []} for n in range(9)]}, "6 steps"),
    ],
)
def test_edits_of_a_plan(given: dict[str, Any], problem: str) -> None:
    found = edits.edit_problem(state(), "plan", {}, given)
    assert (problem in found) if problem else found == ""


@pytest.mark.parametrize(
    ("given", "args"),
    [
        ({"to": "bo"}, {"to": "bo"}),
        ({"args": {"to": "bo"}}, {"to": "bo"}),
        ({"args": 5}, 5),
        ({}, {}),
        ({"text": "x" * 16_373}, {"text": "x" * 16_373}),
    ],
)
def test_edits_of_arguments(given: dict[str, Any], args: Any) -> None:
    shown = {"args": {"to": "ann"}}
    assert edits.edited_args(shown, given) == args
    assert bool(edits.edit_problem(state(), "tool", shown, given)) is not isinstance(args, dict)


@pytest.mark.parametrize(
    "value", ["x" * 16_374, "长" * 5_458, [1e15] * 950], ids=["latin", "chinese", "numbers"]
)
def test_arguments_that_nobody_can_be_shown(value: Any) -> None:
    found = edits.edit_problem(state(), "tool", {"args": {}}, {"text": value})
    assert found.startswith("edits: at most 16384 bytes of arguments, found 1")


def test_a_tool_whose_argument_is_called_args_keeps_it() -> None:
    shown = {"args": {"args": [1]}}
    assert edits.edited_args(shown, {"args": [2]}) == {"args": [2]}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"report": "# Mine"}, ""),
        ({"text": "# Mine"}, ""),
        ({"report": "  "}, "expected"),
        ({"report": 5}, "expected"),
        ({"report": "x", "more": 1}, "expected"),
        ({"report": "长" * 30_000}, "65536 bytes"),
    ],
)
def test_edits_of_a_report(given: dict[str, Any], problem: str) -> None:
    found = edits.edit_problem(state(), "report", {}, given)
    assert (problem in found) if problem else found == ""


@pytest.mark.parametrize(
    ("effect", "tools", "asked"),
    [
        ("read", "effects", False),
        ("read", "all", True),
        ("write", "effects", True),
        ("irreversible", "effects", True),
        ("irreversible", "all", True),
    ],
)
def test_who_is_asked_for_which_call(effect: Any, tools: Any, asked: bool) -> None:
    spec = ToolSpec(name="send", effect=effect)
    assert must_ask(spec, ResolvedApprovals(tools=tools)) is asked


def test_what_is_shown_of_a_call_is_all_that_runs() -> None:
    shown = call_shown(ToolSpec(name="send", effect="write"), {"to": "x"}, "s1", "tell x")
    assert shown["args"] == {"to": "x"}
    assert (shown["tool"], shown["effect"], shown["step"]) == ("send", "write", "s1")


def test_effect_keys_tell_calls_apart() -> None:
    keys = {
        effect_key("r", "send", {"to": "x"}, 1),
        effect_key("r", "send", {"to": "x"}, 2),
        effect_key("r", "send", {"to": "y"}, 1),
        effect_key("q", "send", {"to": "x"}, 1),
    }
    assert len(keys) == 4
    assert effect_key("r", "send", {"a": 1, "b": 2}, 1) == effect_key(
        "r", "send", {"b": 2, "a": 1}, 1
    )
