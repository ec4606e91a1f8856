"""The verdict of code on a whole written result: giving up, structure, what holds; loose JSON.

How it can go wrong: a result that gives up still has claims; one without any source goes on to the
judge; a marker in the middle of a sentence ends a step; a fence around a reply makes it useless.
"""

from typing import Any

import pytest

from activities.model.calls import loose_json, unfenced
from activities.model.sources import StepSources
from activities.model.written import Checked, check_written, text_of
from activities.store.records import Records
from tests.model import plan_material as made
from tests.model.plan_material import BRIDGE, KSM, MERGES
from workflows.contracts.step_decision import WrittenResult
from workflows.contracts.step_record import CheckedClaim


def claim(text: str, *quotes: tuple[str, str], **fields: Any) -> dict[str, Any]:
    return {
        "text": text,
        "kind": "fact",
        "quotes": [{"evidence_id": number, "quote": quote} for number, quote in quotes],
        "topics": [],
        "expression": "",
        **fields,
    }


async def checked(records: Records, *claims: dict[str, Any], insufficient: str = "") -> Checked:
    written = WrittenResult.model_validate({"insufficient": insufficient, "claims": list(claims)})
    return await check_written(written, made.STEP, 2, await made.sources(records))


# --- the whole result


@pytest.mark.parametrize(
    ("insufficient", "text", "why"),
    [
        ("no source names it", None, "no source names it"),
        ("INSUFFICIENT: no source", None, "no source"),
        ("INSUFFICIENT:", None, "INSUFFICIENT:"),
        ("", "INSUFFICIENT: only a hint [E1]", "only a hint [E1]"),
        ("", "It merges [E1].\nINSUFFICIENT：没有来源", "没有来源"),
        ("", "INSUFFICIENT:", "insufficient"),
    ],
)
async def test_giving_up_leaves_no_claims(
    records: Records, insufficient: str, text: str | None, why: str
) -> None:
    claims = [claim("It merges [E1].", ("E1", MERGES))]
    claims += [claim(text, ("E1", MERGES))] if text else []
    found = await checked(records, *claims, insufficient=insufficient)
    assert (found.record.insufficient, found.record.claims, found.outcomes) == (why, [], [])
    assert found.verdict is None


@pytest.mark.parametrize("text", ["It is INSUFFICIENT: so it seems [E1].", "insufficient: x [E1]"])
async def test_a_marker_stands_at_the_beginning_of_a_line(records: Records, text: str) -> None:
    found = await checked(records, claim(text, ("E1", MERGES)))
    assert (found.record.insufficient, found.outcomes) == ("", ["unverified"])


@pytest.mark.parametrize(
    ("claims", "layer", "reason"),
    [
        ([], "structure", "too_short"),
        ([claim("Short [E1].", ("E1", MERGES))], "structure", "too_short"),
        ([claim(" ", ("E1", MERGES))], "structure", "too_short"),
        ([claim("A claim of some length.")], "structure", "no_citation"),
        ([claim("A claim of some length [E9].")], "evidence", "no claim has a source that holds"),
        (
            [claim("A claim of some length [E1].", ("E1", "It splits all the pages."))],
            "evidence",
            "no claim has a source that holds: 'A claim of some length.': no quote stands",
        ),
    ],
)
async def test_the_first_layer_that_fails_is_the_verdict(
    records: Records, claims: list[dict[str, Any]], layer: str, reason: str
) -> None:
    verdict = (await checked(records, *claims)).verdict
    assert verdict is not None
    assert (verdict.passed, verdict.layer, verdict.scope) == (False, layer, "local")
    assert verdict.score == {"structure": 0.0, "evidence": 0.2}[layer]
    assert verdict.reason.startswith(reason)


async def test_one_claim_that_holds_goes_on_to_the_judge(records: Records) -> None:
    found = await checked(
        records,
        claim("It splits the pages [E1].", ("E1", "It splits all the pages.")),
        claim("It merges the pages [E1].", ("E1", MERGES)),
    )
    assert (found.verdict, found.outcomes) == (None, ["insufficient", "unverified"])
    assert len(found.problems) == 1
    assert found.problems[0].startswith("'It splits the pages.': no quote")
    assert (found.record.step, found.record.accept, found.record.attempt) == (
        "s1",
        "a quote that names it",
        2,
    )


async def test_problems_are_few_and_short(records: Records) -> None:
    claims = [
        claim(f"{n} {'word ' * 100}[E1]", ("E1", f"{n} {'nowhere ' * 20}")) for n in range(12)
    ]
    found = await checked(records, *claims)
    assert len(found.problems) == 8
    assert max(map(len, found.problems)) <= 200
    assert max(len(each.note) for each in found.record.claims) <= 200


def test_text_of_claims_has_their_marks() -> None:
    claims = [CheckedClaim(text="One.", numbers=[1, 12]), CheckedClaim(text="Two.")]
    assert text_of(claims) == "One. [E1][E12]\nTwo."


async def test_sources_a_step_may_cite(records: Records) -> None:
    found: StepSources = await made.sources(records)
    assert found.numbers() == {1, 2}
    assert await found.text(1) == KSM
    assert await found.text(2) == BRIDGE
    assert await found.text(3) is None
    assert await found.text(9) is None


# --- loose JSON


@pytest.mark.parametrize(
    ("content", "bare"),
    [
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ('```\n{"a": 1}\n```\n', '{"a": 1}'),
        ('  ```JSON \n{"a": 1}```', '{"a": 1}'),
        ('{"a": "```"}', '{"a": "```"}'),
        ('Here: ```json\n{"a": 1}\n```', 'Here: ```json\n{"a": 1}\n```'),
    ],
)
def test_a_fence_around_a_reply_is_taken_off(content: str, bare: str) -> None:
    assert unfenced(content) == bare


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ("[1]", [1]),
        ("no json", None),
        ("", None),
        ("[" * 100_000, None),
    ],
)
def test_loose_json(content: str, value: Any) -> None:
    assert loose_json(content) == value
