"""`support`, `goal`, `topic` and `conflict` with a real store and a scripted judge over HTTP.

How it can go wrong: nonsense counts as a pass; a missing verdict is an error that ends the run, or
its cost is lost; a judge names findings that it was not shown; without a judge everything passes.
"""

import json
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from temporalio.exceptions import ApplicationError

from activities.model.judge_activities import JudgeActivities
from activities.store.records import Records
from tests.model import plan_material as made
from tests.model.plan_material import MERGES, RUN, SCANS, claim, fields_of, kept
from tests.model.wire import PATH, completion
from workflows.contracts.acts import TokenUsage
from workflows.contracts.names import EVIDENCE_LOST, MODEL_ERROR, WRONG_STORE
from workflows.contracts.plan_acts import (
    GoalInput,
    GoalResult,
    SupportInput,
)
from workflows.contracts.step_record import CheckedClaim

USED = TokenUsage(prompt_tokens=11, completion_tokens=7)


# --- support


async def support_input(
    records: Records, *claims: CheckedClaim, which: int = 0, profile: str = "default"
) -> SupportInput:
    return SupportInput(
        **await fields_of(records, profile),
        record_ref=await kept(records, *claims),
        claims=[which],
        page_ref=await made.stored_page(records),
    )


def support(verdict: str, **more: Any) -> dict[str, Any]:
    return {
        "verdict": verdict,
        "limitation": "",
        "counter_evidence_id": "",
        "counter_quote": "",
        "problem": "",
        **more,
    }


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (support("supported"), ["supported", "", ""]),
        (support("qualified", limitation="only if on"), ["qualified", "only if on", ""]),
        (support("insufficient", problem="another unit"), ["insufficient", "", "another unit"]),
        (
            support("contradicted", counter_evidence_id="E1", counter_quote=SCANS),
            ["contradicted", "", "a source states the opposite"],
        ),
        (f"```json\n{json.dumps(support('supported'))}\n```", ["supported", "", ""]),
    ],
)
async def test_support_of_one_claim(
    judge: JudgeActivities, records: Records, httpserver: HTTPServer, reply: Any, said: list[str]
) -> None:
    httpserver.expect_request(PATH).respond_with_json(completion(reply))
    inp = await support_input(records, claim("Another."), claim(), which=1)
    result = await made.environment().run(judge.support, inp)
    assert [*result.outcomes, *result.limitations, *result.reasons] == said
    assert (result.malformed, result.usage) == ("", USED)
    assert made.user_of(httpserver)["claim"] == "KSM merges pages."
    assert made.sent(httpserver)["response_format"]["json_schema"]["name"] == "support"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"limitation": "", "problem": ""}, "verdict: Field required"),
        (support("true"), "verdict"),
        (support("supported") | {"verdict": True}, "verdict"),
        (support("supported", note="x"), "note: Extra inputs"),
        ("the claim is supported", "valid"),
        ("[]", "valid"),
    ],
)
async def test_support_without_a_verdict_is_malformed_and_paid(
    judge: JudgeActivities, records: Records, httpserver: HTTPServer, reply: Any, said: str
) -> None:
    httpserver.expect_request(PATH).respond_with_json(completion(reply))
    result = await made.environment(attempt=2).run(
        judge.support, await support_input(records, claim())
    )
    assert result.outcomes == []
    assert said in result.malformed
    assert len(result.malformed) <= 200
    assert result.usage == USED.model_copy(update={"attempt": 2})


@pytest.mark.parametrize("reason", ["length", "content_filter"])
async def test_a_reply_that_breaks_the_protocol_is_malformed_and_paid(
    judge: JudgeActivities, records: Records, httpserver: HTTPServer, reason: str
) -> None:
    body = completion(support("supported"), finish_reason=reason)
    httpserver.expect_request(PATH).respond_with_json(body)
    result = await made.environment().run(judge.support, await support_input(records, claim()))
    assert result.malformed
    assert (result.outcomes, result.usage) == ([], USED)


async def test_a_server_that_fails_is_an_error(
    judge: JudgeActivities, records: Records, httpserver: HTTPServer
) -> None:
    httpserver.expect_request(PATH).respond_with_data("busy", 503)
    with pytest.raises(ApplicationError) as caught:
        await made.environment().run(judge.support, await support_input(records, claim()))
    assert (caught.value.type, caught.value.non_retryable) == (MODEL_ERROR, False)


@pytest.mark.parametrize(("text", "outcome"), [(MERGES, "supported"), ("Other.", "insufficient")])
async def test_support_without_a_judge(
    nobody: JudgeActivities, records: Records, text: str, outcome: str
) -> None:
    inp = await support_input(records, claim(text), profile="extractive")
    result = await made.environment(attempt=3).run(nobody.support, inp)
    assert (result.outcomes, result.usage) == ([outcome], TokenUsage(attempt=3))


# --- goal

SUPPORTED = claim("KSM merges pages.", outcome="supported")
REMOVED = claim("KSM splits pages.", outcome="insufficient", note="another verb")


async def scored(
    judge: JudgeActivities, records: Records, server: HTTPServer, reply: Any
) -> GoalResult:
    server.expect_request(PATH).respond_with_json(completion(reply))
    inp = GoalInput(
        **await fields_of(records),
        record_ref=await kept(records, SUPPORTED, REMOVED),
        goal="Find KSM",
        accept="a quote that names it",
    )
    return await made.environment().run(judge.goal, inp)


@pytest.mark.parametrize(
    ("score", "passed", "scope"),
    [
        ("0.8", True, "local"),
        ("1", True, "local"),
        ("0.79", False, "local"),
        ("0.5", False, "local"),
        ("0.49", False, "global"),
        ("0", False, "global"),
    ],
)
async def test_the_score_decides_and_not_the_word(
    judge: JudgeActivities,
    records: Records,
    httpserver: HTTPServer,
    score: str,
    passed: bool,
    scope: str,
) -> None:
    word = "false" if passed else "true"
    reply = f'{{"score": {score}, "passed": {word}, "reason": "scripted"}}'
    result = await scored(judge, records, httpserver, reply)
    assert result.verdict is not None
    assert result.verdict.model_dump() == {
        "passed": passed, "score": float(score), "layer": "goal", "reason": "scripted",
        "scope": scope,
    }  # fmt: skip
    assert (result.malformed, result.usage) == ("", USED)
    record = await records.record(RUN, result.record_ref)
    assert record.verdict == result.verdict


@pytest.mark.parametrize(
    "reply",
    [
        '{"score": NaN, "passed": true, "reason": ""}',
        '{"score": Infinity, "passed": true, "reason": ""}',
        '{"score": 1e400, "passed": true, "reason": ""}',
        '{"score": "0.9", "passed": true, "reason": ""}',
        '{"score": true, "passed": true, "reason": ""}',
        '{"score": null, "passed": true, "reason": ""}',
        '{"score": 1.01, "passed": true, "reason": ""}',
        '{"score": -0.1, "passed": true, "reason": ""}',
        '{"passed": true, "reason": "good"}',
        '{"score": [0.9]}',
        "[0.9]",
        "0.9",
        "passed",
    ],
)
async def test_what_is_no_score_is_no_verdict(
    judge: JudgeActivities, records: Records, httpserver: HTTPServer, reply: str
) -> None:
    result = await scored(judge, records, httpserver, reply)
    assert result.verdict is None
    assert result.malformed
    assert result.usage == USED
    # what the support calls said is kept all the same
    assert (result.counts.supported, result.counts.insufficient) == (1, 1)
    assert (await records.record(RUN, result.record_ref)).verdict is None


async def test_the_goal_call_sees_only_what_stands(
    judge: JudgeActivities, records: Records, httpserver: HTTPServer
) -> None:
    result = await scored(judge, records, httpserver, {"score": 0.9, "passed": True, "reason": ""})
    assert made.user_of(httpserver) == {
        "task": "Neutral goal",
        "goal": "Find KSM",
        "accept": "a quote that names it",
        "output": "KSM merges pages. [E1]",
    }
    assert result.problems == ["removed: 'KSM splits pages.': another verb"]
    assert (result.counts.supported, result.counts.insufficient) == (1, 1)


async def test_a_record_is_written_without_a_call(
    judge: JudgeActivities, records: Records, httpserver: HTTPServer
) -> None:
    inp = GoalInput(
        **await fields_of(records),
        record_ref=await kept(records, claim("One."), claim("Two.")),
        goal="Find KSM",
        accept="a quote",
        outcomes=["contradicted", "unverified"],
        reasons=["it splits them", ""],
        judge=False,
    )
    result = await made.environment().run(judge.goal, inp)
    assert (result.verdict, result.malformed, result.usage) == (None, "", TokenUsage())
    assert (result.counts.contradicted, result.counts.unverified) == (1, 1)
    assert result.problems == ["removed: 'One.': it splits them", "removed: 'Two.': unverified"]
    assert httpserver.log == []


@pytest.mark.parametrize(
    ("claims", "passed", "score", "scope"),
    [([SUPPORTED, REMOVED], True, 0.8, "local"), ([REMOVED], False, 0.0, "global")],
)
async def test_a_goal_without_a_judge(
    nobody: JudgeActivities,
    records: Records,
    claims: list[CheckedClaim],
    passed: bool,
    score: float,
    scope: str,
) -> None:
    inp = GoalInput(
        **await fields_of(records, "extractive"),
        record_ref=await kept(records, *claims),
        goal="Find KSM",
        accept="a quote",
    )
    verdict = (await made.environment().run(nobody.goal, inp)).verdict
    assert verdict is not None
    assert (verdict.passed, verdict.score, verdict.scope) == (passed, score, scope)


async def test_problems_are_few(nobody: JudgeActivities, records: Records) -> None:
    inp = GoalInput(
        **await fields_of(records, "extractive"),
        record_ref=await kept(records, *[REMOVED] * 12),
        goal="g",
        accept="a",
    )
    assert len((await made.environment().run(nobody.goal, inp)).problems) == 8


async def test_without_its_store_or_its_record_nothing_is_asked(
    judge: JudgeActivities, records: Records, httpserver: HTTPServer
) -> None:
    lost = {"record_ref": "sha256:" + "1" * 64}
    inp = await support_input(records, claim())
    for changes, kind in (({"store_id": "another"}, WRONG_STORE), (lost, EVIDENCE_LOST)):
        with pytest.raises(ApplicationError) as caught:
            await made.environment().run(judge.support, inp.model_copy(update=changes))
        assert caught.value.type == kind
    assert httpserver.log == []
