"""Requests to people as rules: identity, fates, deadlines (REQUIREMENTS 148-157; failures D).

How it can go wrong: silence or a late word that grants; a decision that fits other content; two
winners; a state that grows with every question.
"""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logic.asking_material import NOW, PLAN, RUN, state
from workflows.contracts.requests import REQUESTS_KEPT, Request
from workflows.contracts.state import RunState
from workflows.logic import requests as rules
from workflows.logic.requests import Decision

ARGS = {"to": "ann", "text": "x"}


def ask(run: RunState, kind: Any = "plan", now: float = NOW, **shown: Any) -> Request:
    content = shown or (rules.plan_shown(run) if kind == "plan" else {"args": ARGS})
    return rules.open_request(run, kind, content, run_id=RUN, now=now)


def approve(request_id: str, by: str = "ann", **more: Any) -> Decision:
    return Decision("approve", request_id, by, **more)


def test_an_id_names_kind_number_and_content() -> None:
    run = state()
    first, second = ask(run), ask(run, "tool")
    assert first.id.startswith("plan-1-")
    assert second.id.startswith("tool-2-")
    assert first.digest == rules.digest_of(RUN, rules.plan_shown(run))
    assert len(first.id.rsplit("-", 1)[1]) == 8


@pytest.mark.parametrize(
    ("run_id", "shown"),
    [
        ("run-2", {"args": ARGS}),
        (RUN, {"args": {**ARGS, "text": "y"}}),
        (RUN, {"args": {**ARGS, "text": "x "}}),
        (RUN, {"args": ARGS, "tool": "send"}),
    ],
)
def test_a_digest_changes_with_the_run_and_with_anything_shown(run_id: str, shown: Any) -> None:
    assert rules.digest_of(run_id, shown) != rules.digest_of(RUN, {"args": ARGS})


def test_a_digest_does_not_depend_on_the_order_of_keys() -> None:
    turned = {"args": dict(reversed(list(ARGS.items())))}
    assert rules.digest_of(RUN, turned) == rules.digest_of(RUN, {"args": ARGS})


def test_a_plan_is_shown_whole_and_kept_once() -> None:
    run = state()
    request = ask(run)
    assert request.shown == {}
    shown = rules.shown_of(run, request)
    assert [s["goal"] for s in shown["steps"]] == [s["goal"] for s in PLAN["steps"]]
    assert [s["accept"] for s in shown["steps"]] == [s["accept"] for s in PLAN["steps"]]


FATES: list[tuple[str, Decision, float, str]] = [
    ("open", approve("{id}"), 0, "accepted"),
    ("open", approve("{id}", by="eva"), 0, "not_allowed"),
    ("open", approve("{id}"), 99.9, "accepted"),
    ("open", approve("{id}"), 100.0, "accepted"),
    ("open", approve("{id}"), 100.1, "late"),
    ("open", approve("plan-1-00000000"), 0, "stale"),
    ("open", approve("plan-2-00000000"), 0, "unknown_request"),
    ("open", approve("plan-1"), 0, "unknown_request"),
    ("open", approve(""), 0, "unknown_request"),
    ("open", Decision("answer", "{id}", "ann", text="yes"), 0, "malformed"),
    ("open", Decision("reject", "{id}", "ann", edits={"steps": []}), 0, "malformed"),
    ("open", approve("{id}", edits={}), 0, "malformed"),
    ("approved", approve("{id}"), 0, "duplicate"),
    ("approved", approve("{id}", by="bo"), 0, "late"),
    ("approved", Decision("reject", "{id}", "ann"), 0, "late"),
    ("rejected", approve("{id}"), 0, "late"),
    ("rejected", Decision("reject", "{id}", "ann"), 0, "duplicate"),
    ("expired", approve("{id}"), 0, "late"),
    ("withdrawn", approve("{id}"), 0, "stale"),
    ("cancelled", approve("{id}"), 0, "stale"),
]


@pytest.mark.parametrize(("before", "decision", "after", "fate"), FATES)
def test_fates(before: Any, decision: Decision, after: float, fate: str) -> None:
    run = state(approvers=["ann", "bo"], expires_after_seconds=100.0)
    request = ask(run)
    request.outcome, request.by = before, "ann" if before in ("approved", "rejected") else ""
    known = replace(decision, request_id=decision.request_id.format(id=request.id))
    untouched = run.model_dump()
    looked = rules.judged(run, known, NOW + after)
    assert run.model_dump() == untouched  # a validator only looks
    assert looked.fate == fate
    assert rules.decide(run, known, NOW + after).fate == fate
    if fate == "accepted":
        assert (request.outcome, request.by) == ("approved", "ann")
        assert request.decided_at == rules.iso(NOW + after)
    else:
        assert run.model_dump() == untouched
        assert looked.reason
        assert looked.request is None


def test_a_question_takes_an_answer_only() -> None:
    run = state()
    request = ask(run, "question", question="Which?")
    assert rules.decide(run, approve(request.id), NOW).fate == "malformed"
    assert rules.decide(run, Decision("reject", request.id, "ann"), NOW).fate == "malformed"
    assert rules.decide(run, Decision("answer", request.id, "bo", text="6.1"), NOW).request
    assert (request.outcome, request.text, request.by) == ("answered", "6.1", "bo")


@pytest.mark.parametrize(
    ("late", "reopened", "over", "outcome"),
    [
        (-1.0, False, False, "open"),
        (0.0, False, True, "expired"),
        (30.0, False, True, "expired"),
        (30.1, False, False, "open"),
        (30.1, True, True, "expired"),
        (9e6, False, False, "open"),
        (9e6, True, True, "expired"),
    ],
)
def test_deadlines(late: float, reopened: bool, over: bool, outcome: str) -> None:
    run = state(expires_after_seconds=100.0)
    request = ask(run)
    request.reopened = reopened
    assert rules.expire(request, NOW + 100.0 + late) is over
    assert request.outcome == outcome
    assert request.by == ""  # only people have names here (D04)
    if late > 30 and not reopened:
        assert request.deadline == NOW + 100.0 + late + 100.0
        assert request.reopened


def test_without_a_deadline_nothing_expires() -> None:
    run = state()
    request = ask(run)
    assert request.deadline is None
    assert not rules.expire(request, NOW + 1e9)
    assert rules.decide(run, approve(request.id), NOW + 1e9).fate == "accepted"


def test_withdrawing_ends_the_open_ones_only() -> None:
    run = state()
    first, second = ask(run), ask(run, "tool")
    rules.decide(run, approve(first.id), NOW)
    assert rules.withdraw(run, "withdrawn", NOW) == [second]
    assert [r.outcome for r in run.requests] == ["approved", "withdrawn"]
    assert rules.waiting_for(run) == []


def test_many_requests_keep_the_state_small_and_the_open_ones() -> None:
    run = state()
    kept = ask(run, "question", question="still open")
    for number in range(300):
        request = ask(run, "tool", args={"text": "y" * 5000, "n": number})
        rules.decide(run, approve(request.id), NOW)
        request.used = True
    assert len(run.requests) <= REQUESTS_KEPT + 2
    assert kept in run.requests
    assert len(json.dumps(run.model_dump(mode="json"))) < 100_000
    assert run.request_count == 301


def test_what_is_granted_but_not_yet_used_is_never_cut() -> None:
    run = state()
    request = ask(run, "tool", args={"text": "y" * 5000})
    rules.decide(run, approve(request.id), NOW)
    ask(run, "tool", args={"n": 1})
    assert request.shown == {"args": {"text": "y" * 5000}}


def test_a_release_counts_only_for_what_was_shown() -> None:
    run = state()
    request = ask(run, "report", report_ref="sha256:1", report="text")
    assert rules.release_of(run, RUN) is None
    rules.decide(run, approve(request.id), NOW)
    assert rules.release_of(run, RUN) is request
    request.shown = {**request.shown, "report_ref": "sha256:2"}
    assert rules.release_of(run, RUN) is None


_words = st.sampled_from(["approve", "reject", "answer"])


@given(
    st.lists(
        st.tuples(_words, st.integers(0, 3), st.sampled_from(["ann", "bo", "eva"]),
                  st.floats(0, 300, allow_nan=False)),
        max_size=30,
    ),
    st.sampled_from([None, 50.0, 200.0]),
)  # fmt: skip
def test_whatever_comes_each_request_ends_once_by_somebody_allowed(
    messages: list[tuple[Any, int, str, float]], seconds: float | None
) -> None:
    wishes: dict[str, Any] = {"approvers": ["ann", "bo"]}
    if seconds is not None:
        wishes["expires_after_seconds"] = seconds
    run = state(**wishes)
    opened = [ask(run), ask(run, "tool"), ask(run, "question", question="q"), ask(run, "report")]
    ended: dict[str, str] = {}
    for kind, index, by, after in sorted(messages, key=lambda m: m[3]):
        request = opened[index]
        found = rules.decide(run, Decision(kind, request.id, by, text="t"), NOW + after)
        if found.fate == "accepted":
            assert request.id not in ended
            assert by in ("ann", "bo")
            assert request.deadline is None or NOW + after <= request.deadline
            ended[request.id] = request.outcome
        for known in opened:
            assert known.outcome == ended.get(known.id, "open")
    assert RunState.model_validate_json(run.model_dump_json()) == run
