"""`step_action` and `write` with a real store and a scripted model over HTTP.

How it can go wrong: a model takes an action that was not offered; a quote nobody wrote counts as
found; what a reply cost is lost with it; a result is kept unchecked.
"""

import json
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from temporalio.exceptions import ApplicationError

from activities.model.gateway import Gateway
from activities.model.plan_activities import PlanActivities
from activities.model.profiles import profiles_from
from activities.store.records import Records
from tests.model import plan_material as made
from tests.model.wire import PATH, completion
from workflows.contracts.acts import TokenUsage
from workflows.contracts.names import EVIDENCE_LOST, PROTOCOL_ERROR, WRONG_STORE
from workflows.contracts.plan_acts import PlanInput, Upstream
from workflows.contracts.step_record import CheckedClaim, StepRecord
from workflows.contracts.task import ResolvedTask, ToolSpec

USED = TokenUsage(prompt_tokens=11, completion_tokens=7)
SPECS = [ToolSpec(name="search"), ToolSpec(name="fetch_sales", description="Sales.")]


def task(*topics: Any, **fields: Any) -> ResolvedTask:
    return made.planned(*topics, **fields).model_copy(update={"specs": SPECS})


# --- a decision inside of a step


def action(kind: str, **more: Any) -> dict[str, Any]:
    return {
        "answer_quote": "",
        "enough": "no",
        "action": kind,
        "queries": ["ksm"] if kind == "search" else [],
        "evidence_id": "",
        "locator": "",
        "tool": "",
        "arguments_json": "",
        "question": "",
        **more,
    }


@pytest.mark.parametrize(
    ("quote", "stands"),
    [
        (made.MERGES, True),
        ("ksm MERGES identical  memory pages", True),
        (made.LOAD, True),
        ("KSM merges all memory pages into one.", False),
        ("KSM", False),  # too short to say anything
        ("", False),
    ],
)
async def test_code_says_whether_the_quote_stands(
    acts: PlanActivities, records: Records, httpserver: HTTPServer, quote: str, stands: bool
) -> None:
    reply = action("write", answer_quote=quote, enough="yes")
    httpserver.expect_request(PATH).respond_with_json(completion(reply))
    result = await made.environment().run(
        acts.step_action, await made.step_input(records, task("ksm"))
    )
    assert result.quote_found is stands
    assert result.action.model_dump() == reply
    assert result.usage == USED


async def test_a_snapshot_holds_the_step_and_its_sources(
    acts: PlanActivities, records: Records, httpserver: HTTPServer
) -> None:
    httpserver.expect_request(PATH).respond_with_json(completion(action("write")))
    before = StepRecord(
        step="s0", goal="g", accept="a",
        claims=[CheckedClaim(text="Known already.", numbers=[2], outcome="supported")],
    )  # fmt: skip
    inp = await made.step_input(
        records,
        task("ksm"),
        reason="too_short",
        queries=["pages"],
        upstream=[Upstream(step="s0", ref=await records.put(made.RUN, before))],
    )
    await made.environment().run(acts.step_action, inp)
    snapshot = made.user_of(httpserver)
    assert next(iter(snapshot)) == "fix_first"
    assert snapshot["fix_first"] == "too_short"
    assert [source["id"] for source in snapshot["evidence"]] == ["E1", "E2"]
    assert snapshot["upstream"] == [{"step": "s0", "claims": ["Known already. [E2]"]}]
    assert snapshot["queries_tried"] == ["pages"]
    assert snapshot["allowed_actions"] == ["search", "write"]
    assert [tool["name"] for tool in snapshot["tools"]] == ["fetch_sales"]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (action("tool", tool="fetch_sales"), "expected one of search, write, found tool"),
        (action("insufficient"), "found insufficient"),
        (action("search", queries=["x"] * 4), "queries"),
        (action("search", queries=["x" * 81]), "queries.0"),
        (action("dance"), "action"),
        ("not json", "Invalid JSON"),
    ],
)
async def test_an_action_that_was_not_offered_is_no_action(
    acts: PlanActivities, records: Records, httpserver: HTTPServer, reply: Any, said: str
) -> None:
    httpserver.expect_request(PATH).respond_with_json(completion(reply))
    with pytest.raises(ApplicationError) as caught:
        await made.environment(attempt=3).run(
            acts.step_action, await made.step_input(records, task("ksm"))
        )
    assert (caught.value.type, caught.value.non_retryable) == (PROTOCOL_ERROR, True)
    assert said in caught.value.message
    assert caught.value.details[0].usage == USED.model_copy(update={"attempt": 3})


async def test_an_action_in_a_fence_is_one(
    acts: PlanActivities, records: Records, httpserver: HTTPServer
) -> None:
    content = f"```\n{json.dumps(action('search'))}\n```"
    httpserver.expect_request(PATH).respond_with_json(completion(content))
    result = await made.environment().run(
        acts.step_action, await made.step_input(records, task("ksm"))
    )
    assert result.action.queries == ["ksm"]


async def test_the_extractive_executor_searches_then_writes(records: Records) -> None:
    acts = PlanActivities(records, Gateway(profiles_from()))
    resolved = made.planned("ksm", profile="extractive")
    inp = await made.step_input(records, resolved)
    first = await made.environment().run(acts.step_action, inp)
    assert (first.action.action, first.action.queries) == ("search", ["ksm"])
    tried = inp.model_copy(update={"queries": ["KSM"]})
    assert (await made.environment().run(acts.step_action, tried)).action.action == "write"
    closed = inp.model_copy(update={"allow": ["write"]})
    assert (await made.environment().run(acts.step_action, closed)).action.action == "write"


# --- writing


async def test_a_written_result_is_checked_and_kept(
    acts: PlanActivities, records: Records, httpserver: HTTPServer
) -> None:
    good = {"evidence_id": "E1", "quote": made.MERGES}
    bad = {"evidence_id": "E1", "quote": "KSM splits identical memory pages."}
    reply = {
        "insufficient": "",
        "claims": [
            {"text": f"{name} [E1]", "kind": "fact", "quotes": [quote], "topics": ["ksm"],
             "expression": ""}
            for name, quote in (("KSM merges pages.", good), ("KSM splits pages.", bad))
        ],
    }  # fmt: skip
    httpserver.expect_request(PATH).respond_with_json(completion(reply))
    inp = await made.step_input(records, task("ksm"), attempt=4)
    result = await made.environment().run(acts.write, inp)
    assert result.outcomes == ["unverified", "insufficient"]
    assert (result.verdict, result.insufficient, result.usage) == (None, "", USED)
    assert "KSM splits pages." in result.problems[0]
    record = await records.record(made.RUN, result.record_ref)
    assert (record.step, record.goal, record.attempt) == ("s1", "Find KSM", 4)
    assert [claim.text for claim in record.claims] == ["KSM merges pages.", "KSM splits pages."]


async def test_giving_up_is_kept_with_its_reason(
    acts: PlanActivities, records: Records, httpserver: HTTPServer
) -> None:
    reply = {"insufficient": "INSUFFICIENT: no source names it", "claims": []}
    httpserver.expect_request(PATH).respond_with_json(completion(reply))
    result = await made.environment().run(acts.write, await made.step_input(records, task("ksm")))
    assert (result.insufficient, result.outcomes) == ("no source names it", [])


async def test_the_extractive_model_writes_verbatim_quotes(records: Records) -> None:
    acts = PlanActivities(records, Gateway(profiles_from()))
    resolved = made.planned("ksm", profile="extractive")
    whole = [made.entry(1, made.KSM, topics=["ksm"])]
    inp = await made.step_input(records, resolved, page_ref=await made.stored_page(records, whole))
    result = await made.environment(attempt=2).run(acts.write, inp)
    record = await records.record(made.RUN, result.record_ref)
    assert record.claims
    assert all(claim.text in made.KSM for claim in record.claims)
    assert set(result.outcomes) == {"supported"}
    assert result.usage == TokenUsage(attempt=2)


async def test_without_its_store_or_its_sources_nothing_is_asked(
    acts: PlanActivities, records: Records, httpserver: HTTPServer
) -> None:
    inp = await made.step_input(records, task("ksm"))
    lost = {"page_ref": "sha256:" + "1" * 64}
    for act in (acts.step_action, acts.write):
        for changes, kind in (({"store_id": "another"}, WRONG_STORE), (lost, EVIDENCE_LOST)):
            with pytest.raises(ApplicationError) as caught:
                await made.environment().run(act, inp.model_copy(update=changes))
            assert caught.value.type == kind
    fields = await made.act_fields(records, task("ksm"))
    plan = PlanInput(**fields).model_copy(update={"store_id": "another"})
    with pytest.raises(ApplicationError) as caught:
        await made.environment().run(acts.plan, plan)
    assert caught.value.type == WRONG_STORE
    assert httpserver.log == []
