"""What code makes of a written result before any judge sees it.

How it can go wrong: a quote counts that stands elsewhere, or nowhere; a mark without a quote stays
on a claim; a source nobody has is cited; a model's own "nothing is said of it" becomes a finding.
"""

from typing import Any

import pytest

from activities.model.written import Checked, check_written, context_of, widened
from activities.store.records import Records
from tests.model import plan_material as made
from tests.model.plan_material import BEFORE, ENABLED, ENTRIES, KSM, LOAD, MERGES, SCANS
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


async def one(records: Records, text: str, *quotes: tuple[str, str], **fields: Any) -> CheckedClaim:
    return (await checked(records, claim(text, *quotes, **fields))).record.claims[0]


# --- marks


@pytest.mark.parametrize(
    ("text", "ids", "numbers", "bare"),
    [
        ("KSM merges pages [E1].", ["E1"], [1], "KSM merges pages."),
        ("KSM merges pages ［E1］.", ["E1"], [1], "KSM merges pages."),
        ("KSM 合并页面【E1】。", ["E1"], [1], "KSM 合并页面。"),
        ("KSM merges pages [Ｅ１].", ["Ｅ１"], [1], "KSM merges pages."),
        ("KSM merges pages.", ["E1"], [1], "KSM merges pages."),  # the quote's own id is enough
        ("Both [E2][E1].", ["E1", "E2"], [2, 1], "Both."),
        ("Both [E1, E2].", ["E1", "E2"], [1, 2], "Both."),
        # a mark without a quote behind it carries nothing
        ("Both [E1][E2].", ["E1"], [1], "Both."),
    ],
)
async def test_marks_are_read_and_taken_off(
    records: Records, text: str, ids: list[str], numbers: list[int], bare: str
) -> None:
    verbatim = {1: MERGES, 2: LOAD}
    quotes = [(id_, verbatim[2 if id_ == "E2" else 1]) for id_ in ids]
    found = await one(records, text, *quotes)
    assert (found.numbers, found.text, found.outcome) == (numbers, bare, "unverified")


@pytest.mark.parametrize(
    ("text", "quotes", "note"),
    [
        ("It is so [E9].", [("E1", MERGES)], "unknown:E9"),
        ("It is so [E7][E9].", [("E1", MERGES)], "unknown:E7,E9"),
        ("It is so.", [("E8", MERGES)], "unknown:E8"),
        ("It is so [E3].", [("E3", MERGES)], "unknown:E3"),  # an empty result is no source
        ("It is so [E1].", [], "no quote"),
        ("It is so [E1].", [("the first", MERGES)], "no quote stands in its source: the first"),
        ("It is so [E1].", [("E1, E2", MERGES)], "no quote stands in its source: E1, E2"),
    ],
)
async def test_a_claim_without_a_source_is_insufficient(
    records: Records, text: str, quotes: list[tuple[str, str]], note: str
) -> None:
    found = await one(records, text, *quotes)
    assert (found.outcome, found.quotes) == ("insufficient", [])
    assert found.note.startswith(note)


# --- quotes


async def test_a_quote_is_found_in_the_whole_stored_text(records: Records) -> None:
    # Not in any passage that was seen: the text is what counts, never a chunk.
    assert all(ENABLED not in e.excerpt for e in ENTRIES)
    found = await one(records, "KSM is enabled by writing 1 [E1].", ("E1", ENABLED))
    quote = found.quotes[0]
    assert (quote.evidence, quote.text) == (1, ENABLED)
    assert KSM[quote.start : quote.end] == ENABLED
    assert quote.headings == ["KSM"]


async def test_a_part_is_widened_to_its_sentence(records: Records) -> None:
    found = await one(records, "It merges [E1].", ("E1", "merges identical memory"))
    assert found.quotes[0].text == MERGES


async def test_the_raw_text_is_shown_not_what_the_model_wrote(records: Records) -> None:
    found = await one(records, "It scans [E1].", ("E1", "ksm  SCANS 100 pages in each pass"))
    assert found.quotes[0].text == SCANS
    assert found.quotes[0].headings == ["KSM", "Limits"]


@pytest.mark.parametrize(
    ("number", "quote"),
    [
        ("E1", "KSM merges identical memory pages into two."),
        ("E2", MERGES),  # it stands in another source than the one it names
        ("E1", LOAD),
        ("E1", "KSM is off"),  # too short
        ("E1", "SM merges identical memory pages"),  # begins inside a word
        ("E1", "By default KSM is off. ... KSM merges identical memory pages"),  # wrong order
    ],
)
async def test_a_quote_that_is_not_there_is_insufficient(
    records: Records, number: str, quote: str
) -> None:
    found = await one(records, f"It is so [{number}].", (number, quote))
    assert (found.outcome, found.quotes, found.context) == ("insufficient", [], [])
    assert found.note.startswith(f"no quote stands in its source: {number} ")


async def test_one_lost_quote_of_two_is_noted(records: Records) -> None:
    found = await one(
        records, "It merges [E1].", ("E1", "It splits all the pages."), ("E1", MERGES)
    )
    assert (found.outcome, [q.text for q in found.quotes]) == ("unverified", [MERGES])
    assert found.note == "left out, not in the source: E1 'It splits all the pages.'"


async def test_a_quote_counts_once(records: Records) -> None:
    found = await one(records, "It merges [E1].", ("E1", MERGES), ("E1", MERGES.upper()))
    assert len(found.quotes) == len(found.context) == 1


async def test_quotes_of_two_sources_keep_their_places(records: Records) -> None:
    found = await one(records, "Both.", ("E2", LOAD), ("E1", SCANS))
    assert [(q.evidence, q.text) for q in found.quotes] == [(2, LOAD), (1, SCANS)]
    assert found.context[0] == f"Note 2 (2026-01-02)\n{LOAD}"
    assert found.context[1] == f"Note 1 › KSM › Limits (2026-01-02)\n{SCANS} {BEFORE}"


def test_a_context_is_bounded() -> None:
    text = "x" * 5000 + " A sentence that is quoted. " + "y" * 5000
    start = text.index("A sentence")
    shown = context_of(text, start, start + 26, ["H"], [])
    assert shown == f"H\n{'x' * 249} A sentence that is quoted. {'y' * 249}"
    assert context_of(text, start, start + 26, [], []).startswith("\nx")
    assert len(context_of(text, 0, 5000, ["H" * 900], [])) == 600 + 5000


def test_a_wide_sentence_is_not_taken_whole() -> None:
    long = "word " * 200 + "the quoted part of it " + "word " * 200
    start = long.index("the quoted")
    assert widened(long, start, start + 21) == (start, start + 21)
    short = "One. The quoted part of it. Three."
    assert short[slice(*widened(short, 9, 20))] == "The quoted part of it."


# --- kinds


async def test_an_inference_is_no_finding(records: Records) -> None:
    found = await one(records, "So it is good [E1].", ("E1", MERGES), kind="inference")
    assert (found.outcome, found.note) == ("insufficient", "an inference is no finding")
    assert found.quotes


async def test_absence_is_never_a_models_word(records: Records) -> None:
    found = await one(records, "Nothing is said of it [E1].", ("E1", MERGES), kind="absence")
    assert (found.outcome, found.note) == ("insufficient", "absence is written by code only")
    assert found.quotes == []


@pytest.mark.parametrize(
    ("text", "expression", "outcome", "said"),
    [
        ("Scans rose by 25% [E1].", "(100-80)/80", "unverified", "(100-80)/80 = 0.25"),
        ("Scans rose by 30% [E1].", "(100-80)/80", "insufficient", "does not state 0.25"),
        ("Scans rose by 25% [E1].", "(100-75)/100", "insufficient", "75 stands in no quote"),
        ("Scans rose by 25% [E1].", "", "insufficient", "expression"),
    ],
)
async def test_a_derived_value_is_computed_by_code(
    records: Records, text: str, expression: str, outcome: str, said: str
) -> None:
    quotes = [("E1", SCANS), ("E1", BEFORE)]
    found = await one(records, text, *quotes, kind="derived", expression=expression)
    assert found.outcome == outcome
    assert said in (found.method or found.note)


async def test_topics_are_proposals_kept_once(records: Records) -> None:
    found = await one(records, "It merges [E1].", ("E1", MERGES), topics=["ksm", "b", "ksm"])
    assert found.proposed == ["ksm", "b"]
