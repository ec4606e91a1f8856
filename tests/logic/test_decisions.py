"""The react loop's rules, the clock, status and stop reasons, messages, defaults: as tables."""

from typing import Any

import pytest

from tests.case_files import load
from workflows.contracts.decision import NextAction
from workflows.contracts.evidence import LedgerEntry
from workflows.contracts.messages import RecordedMessage, Stop
from workflows.contracts.result import StopReason
from workflows.contracts.state import RunState, UsageState
from workflows.contracts.task import Limits, Prepared, ResolvedTask, Settings
from workflows.logic import inbox, outcome, react
from workflows.logic.clock import active_delta, execution_deadline
from workflows.logic.parse import parse_task
from workflows.logic.resolve import limits_for, resolve

REF = "sha256:" + "0" * 64


def task(**limits: Any) -> ResolvedTask:
    given: dict[str, Any] = {
        "goal": "Neutral goal",
        "required_topics": ["a", "b"],
        "strategy": "react",
        "limits": limits,
    }
    return resolve(parse_task([given]), "default", "m", Settings(), extractive=False)


def decision(action: str, query: str = "") -> NextAction:
    return NextAction.model_validate(
        {"plan": ["p"], "action": action, "query": query, "sufficient": False, "draft": ""}
    )


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({}, react.Decide(allow_search=True, remaining_tool_calls=4)),
        # both at once reports no_progress (REQUIREMENTS 136)
        ({"no_progress": 2, "usage": UsageState(model_calls=6)}, react.Finish("no_progress")),
        ({"usage": UsageState(model_calls=6)}, react.Finish("model_budget")),
        (
            {"usage": UsageState(prompt_tokens=60, completion_tokens=40)},
            react.Finish("token_budget"),
        ),
        (
            {"usage": UsageState(tool_calls=4)},
            react.Decide(allow_search=False, remaining_tool_calls=0),
        ),
    ],
)
def test_before_a_decision(state: dict[str, Any], expected: Any) -> None:
    assert react.before_decision(RunState(**state), task(max_tokens=100)) == expected


def test_after_a_decision() -> None:
    state = RunState()
    state.query_keys.append(react.key_digest("agent_loop"))
    rules = task()
    assert react.after_decision(state, rules, decision("finish")) == react.Finish("model_finished")
    assert react.after_decision(state, rules, decision("search", "x")) == react.Search("x")
    repeat = react.after_decision(state, rules, decision("search", " ＡＧＥＮＴ＿ＬＯＯＰ "))
    assert isinstance(repeat, react.Repeat)
    state.usage.tool_calls = 4
    assert react.after_decision(state, rules, decision("search", "x")) == react.Finish(
        "tool_budget"
    )


def test_a_run_without_the_search_tool_never_searches() -> None:
    given = {"goal": "x", "tools": []}
    rules = resolve(parse_task([given]), "default", "m", Settings(), extractive=False)
    assert react.before_decision(RunState(), rules) == react.Decide(False, 0)
    after = react.after_decision(RunState(), rules, decision("search", "x"))
    assert after == react.Finish("tool_budget")


@pytest.mark.parametrize(
    ("strategy", "topics", "expected"),
    [("react", 1, (6, 4, 600)), ("react", 10, (13, 11, 600)), ("direct", 3, (6, 1, 120))],
)
def test_default_limits(strategy: Any, topics: int, expected: tuple[int, int, float]) -> None:
    limits = limits_for(strategy, Limits(), topics)
    assert (limits.max_model_calls, limits.max_tool_calls, limits.max_active_seconds) == expected


def test_zero_means_none_allowed_and_the_tighter_limit_binds() -> None:
    assert limits_for("react", Limits(max_tool_calls=0), 1).max_tool_calls == 0
    given = Limits(max_tool_calls=9, max_tool_calls_per_step=3)
    assert limits_for("react", given, 1).max_tool_calls == 3


def test_without_topics_the_goal_is_the_one_topic() -> None:  # C40
    rules = resolve(parse_task([{"goal": "内核 特性"}]), "p", "m", Settings(), extractive=True)
    assert [t.id for t in rules.topics] == ["goal"]
    assert (rules.language, rules.own_topics, rules.strategy) == ("zh", False, "plan")


@pytest.mark.parametrize(
    ("now", "last", "longest", "expected"),
    [
        (10, 8, 60, 2),  # something in flight: wall time
        (3600, 0, 60, 60),  # an outage costs at most the timeout of the act it interrupted
        (3600, 0, 0, 0),  # nothing in flight: waiting for people is free
        (5, 8, 60, 0),  # a clock that ran backwards
    ],
)
def test_active_time(now: float, last: float, longest: float, expected: float) -> None:
    assert active_delta(now, last, longest) == expected


def test_the_servers_execution_timeout_is_seen_before_it_comes() -> None:
    assert execution_deadline(100, None) is None
    assert execution_deadline(100, 300) == 370
    assert execution_deadline(100, 20) == 110


COMPLETE = {
    "ledger": [LedgerEntry(source_id="s")],
    "covered": {"0": "declared", "1": "declared"},
    "sufficient": True,
    "draft": "text",
    "stop_reason": "model_finished",
}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, "succeeded"),
        ({"covered": {"0": "declared"}}, "partially_succeeded"),
        ({"sufficient": False}, "partially_succeeded"),
        ({"draft": " \u3000"}, "partially_succeeded"),
        ({"stop_reason": "tool_budget"}, "partially_succeeded"),
        ({"stop_reason": "timeout", "ledger": []}, "failed"),
        ({"ledger": [LedgerEntry(source_id="", empty=True)]}, "failed"),
        ({"stop_reason": "stopped"}, "stopped"),
        ({"stop_reason": "cancelled", "ledger": []}, "cancelled"),
        ({"stop_reason": "invalid_input"}, "failed"),
    ],
)
def test_status(change: dict[str, Any], expected: str) -> None:
    prepared = Prepared(task=task(), task_ref=REF, store_id="s")
    state = RunState.model_validate({**COMPLETE, "prepared": prepared, **change})
    assert outcome.status_of(state) == expected


@pytest.mark.parametrize(
    ("error_type", "expected"),
    [
        ("ProtocolError", "protocol_error"),
        ("ModelError", "model_error"),
        ("TimeoutError", "model_error"),
        ("EvidenceLost", "internal_error"),
        ("WrongStore", "internal_error"),
    ],
)
def test_failed_model_calls(error_type: str, expected: StopReason) -> None:
    assert outcome.stop_reason_of(error_type) == expected


def test_every_stop_reason_of_the_seed_is_known() -> None:
    renamed = {"graph_error": "internal_error"}  # C47
    known = set(StopReason.__args__)
    seed = {renamed.get(r, r) for r in load("control_flow_cases.json")["stop_reasons"]}
    assert seed <= known


@pytest.mark.parametrize(
    ("args", "valid"),
    [
        ((), True),
        (({},), True),
        (({"by": "ann", "reason": "enough"},), True),
        ((None,), False),
        (("now",), False),
        (({"why": 1},), False),
        (({"by": 5},), False),
        (({}, {}, {}), False),
    ],
)
def test_stop_takes_one_object_or_nothing(args: tuple[Any, ...], valid: bool) -> None:
    read = inbox.read_message("stop", args)
    assert isinstance(read.value, Stop) == valid
    assert bool(read.reason) != valid


@pytest.mark.parametrize("args", [(), ("yes",), (True,), ({"approved": "maybe"},), ({}, {}, {})])
def test_bare_decisions_are_malformed_with_the_expected_shape(args: tuple[Any, ...]) -> None:  # C60
    read = inbox.read_message("approve", args)
    assert read.value is None
    assert inbox.EXPECTED["approve"] in read.reason


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("edits", "small"),
    [
        ({"x": [0] * 9_990}, True),
        ({"x": [0] * 10_000}, False),
        ({str(n): 1 for n in range(4_990)}, True),
        ({str(n): 1 for n in range(5_000)}, False),
        ({"x": "y" * 262_000}, True),
        ({"x": "y" * 262_145}, False),
        ({"x": nested(90)}, True),
        ({"x": nested(100)}, False),
        ({"x": nested(5_000)}, False),
    ],
)
def test_only_what_a_workflow_task_can_judge_is_judged(edits: Any, small: bool) -> None:
    read = inbox.read_message("approve", [{"request_id": "plan-1-0", "by": "ann", "edits": edits}])
    assert (read.value is not None) == small
    assert small or read.reason.startswith("malformed: too large, at most 10000 values")
    assert len(inbox.payload_text([edits])) <= 500


def test_very_many_wrong_fields_are_counted_not_told() -> None:
    fields = {f"field{n}": 1 for n in range(501)}
    read = inbox.read_message("approve", [{"request_id": "plan-1-0", "by": "ann", **fields}])
    assert read.reason.startswith("malformed: Decided: 501 fields are unknown or wrong; expected")


def test_messages_are_bounded() -> None:
    state = RunState()
    for n in range(150):
        payload = inbox.payload_text([{"n": n, "x": "字" * 5000}, "\ud800"])
        inbox.record(state, RecordedMessage(name="x", outcome="ignored", payload=payload))
    assert len(state.messages) == 100
    assert all(len(m.payload) <= 500 for m in state.messages)
    assert '"n": 149' in state.messages[-1].payload
