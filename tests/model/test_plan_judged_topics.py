"""`topic` and `conflict` with a real store and a scripted judge over HTTP.

How it can go wrong: a judge names findings that it was not shown; what holds only with a limitation
covers a topic; a pair of one finding is a conflict; an answer that cannot be read is one.
"""

from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from temporalio.exceptions import ApplicationError

from activities.model.judge_activities import JudgeActivities
from activities.store.records import Records
from tests.model import plan_material as made
from tests.model.plan_material import RUN, claim, fields_of
from tests.model.wire import PATH, completion
from workflows.contracts.acts import TokenUsage
from workflows.contracts.names import EVIDENCE_LOST, WRONG_STORE
from workflows.contracts.plan_acts import (
    ConflictInput,
    TopicInput,
    TopicResult,
)
from workflows.contracts.plan_state import Conflict
from workflows.contracts.step_record import Finding, Findings

USED = TokenUsage(prompt_tokens=11, completion_tokens=7)
SUPPORTED = claim("KSM merges pages.", outcome="supported")


# --- topics and conflicts

FINDINGS = Findings(
    findings=[
        Finding(number=1, step="s1", claim=SUPPORTED),
        Finding(number=2, step="s1", claim=claim("Two.", outcome="qualified", limitation="so")),
        Finding(number=3, step="s2", claim=claim("Three.", outcome="supported")),
    ]
)


async def topic(
    judge: JudgeActivities, records: Records, numbers: list[int], profile: str = "default"
) -> TopicResult:
    inp = TopicInput(
        **await fields_of(records, profile),
        findings_ref=await records.put(RUN, FINDINGS),
        topic=1,
        findings=numbers,
    )
    return await made.environment().run(judge.topic, inp)


@pytest.mark.parametrize(
    ("reply", "answer", "numbers"),
    [
        ({"answer": "answered", "claims": [1, 2]}, "answered", [1, 2]),
        ({"answer": "partly", "claims": [1]}, "partly", [1]),
        ({"answer": "answered", "claims": [1, 1, 9, 3]}, "answered", [1]),
        # only with a limitation: it covers no topic
        ({"answer": "answered", "claims": [2]}, "partly", [2]),
        ({"answer": "no", "claims": [1]}, "no", []),
        ({"answer": "answered", "claims": []}, "no", []),
        # a finding that it was not shown
        ({"answer": "answered", "claims": [3]}, "no", []),
    ],
)
async def test_which_findings_answer_a_topic(
    judge: JudgeActivities,
    records: Records,
    httpserver: HTTPServer,
    reply: dict[str, Any],
    answer: str,
    numbers: list[int],
) -> None:
    httpserver.expect_request(PATH).respond_with_json(completion(reply))
    result = await topic(judge, records, [1, 2])
    assert (result.answer, result.findings, result.malformed) == (answer, numbers, "")
    assert result.usage == USED
    seen = made.user_of(httpserver)
    assert seen["question"] == "zram"
    assert [finding["number"] for finding in seen["findings"]] == [1, 2]


@pytest.mark.parametrize(
    "reply", ["yes", {"claims": [1]}, {"answer": True, "claims": [1]},
              {"answer": "answered", "claims": ["1"]}],
)  # fmt: skip
async def test_a_topic_without_an_answer_is_malformed(
    judge: JudgeActivities, records: Records, httpserver: HTTPServer, reply: Any
) -> None:
    httpserver.expect_request(PATH).respond_with_json(completion(reply))
    result = await topic(judge, records, [1])
    assert result.malformed
    assert (result.answer, result.findings, result.usage) == ("no", [], USED)


@pytest.mark.parametrize(("numbers", "answer"), [([1, 3], "answered"), ([], "no")])
async def test_without_a_judge_candidates_answer(
    nobody: JudgeActivities, records: Records, numbers: list[int], answer: str
) -> None:
    result = await topic(nobody, records, numbers, "extractive")
    assert (result.answer, result.findings) == (answer, numbers)


async def conflict_input(records: Records, profile: str = "default") -> ConflictInput:
    return ConflictInput(
        **await fields_of(records, profile),
        findings_ref=await records.put(RUN, FINDINGS),
        findings=[1, 3],
    )


def pair(one: int, other: int, about: str = "value") -> dict[str, Any]:
    return {"one": one, "other": other, "about": about}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([], []),
        ([pair(1, 3)], [(1, 3, "value")]),
        ([pair(3, 1), pair(1, 3, "date")], [(1, 3, "date")]),
        ([pair(1, 1), pair(1, 2), pair(9, 3)], []),  # itself, not shown, unknown
    ],
)
async def test_conflicts_are_pairs_of_what_was_shown(
    judge: JudgeActivities,
    records: Records,
    httpserver: HTTPServer,
    said: list[dict[str, Any]],
    expected: list[tuple[int, int, str]],
) -> None:
    httpserver.expect_request(PATH).respond_with_json(completion({"conflicts": said}))
    result = await made.environment().run(judge.conflict, await conflict_input(records))
    assert result.conflicts == [Conflict(one=a, other=b, about=c) for a, b, c in expected]
    assert (result.malformed, result.usage) == ("", USED)
    shown = made.user_of(httpserver)["findings"]
    assert [each["number"] for each in shown] == [1, 3]
    assert all(each["contexts"] for each in shown)


async def test_conflicts_that_cannot_be_read_are_malformed(
    judge: JudgeActivities, records: Records, httpserver: HTTPServer
) -> None:
    httpserver.expect_request(PATH).respond_with_json(completion({"conflict": []}))
    result = await made.environment().run(judge.conflict, await conflict_input(records))
    assert "conflicts: Field required" in result.malformed
    assert (result.conflicts, result.usage) == ([], USED)


async def test_without_a_judge_nothing_is_compared(
    nobody: JudgeActivities, records: Records
) -> None:
    result = await made.environment().run(
        nobody.conflict, await conflict_input(records, "extractive")
    )
    assert (result.conflicts, result.usage) == ([], TokenUsage())


async def test_without_its_store_or_its_findings_nothing_is_asked(
    judge: JudgeActivities, records: Records, httpserver: HTTPServer
) -> None:
    lost = {"findings_ref": "sha256:" + "1" * 64}
    inp = await conflict_input(records)
    for changes, kind in (({"store_id": "another"}, WRONG_STORE), (lost, EVIDENCE_LOST)):
        with pytest.raises(ApplicationError) as caught:
            await made.environment().run(judge.conflict, inp.model_copy(update=changes))
        assert caught.value.type == kind
    assert httpserver.log == []
