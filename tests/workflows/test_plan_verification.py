"""What a judge is shown, and what of its words counts: the support call through the workflow.

How it can go wrong: a contradiction in the ledger that nobody looks at; a judge that sees how the
text came about; several claims in one call; a quote that stands only in another spelling is lost.
"""

from typing import Any

from tests.workflows.plan_stage import KSM, Stage, told
from tests.workflows.planned import PlannedModel, action, claim, id_of, step, support, write

ONE = {"steps": [step("s1", "Find KSM", topics=["ksm"])]}
MERGES = "KSM merges identical memory pages into one."
SWAPS = "zswap compresses pages on their way to swap."


def both(user: dict[str, Any]) -> dict[str, Any]:
    """Searches so that two notes are in sight."""
    if user["evidence"]:
        return action("write", enough="yes")
    return action("search", "KSM merges pages", "zswap compresses pages")


def cites_ksm(*topics: str, quote: str = MERGES) -> Any:
    def written(user: dict[str, Any]) -> dict[str, Any]:
        made = claim(MERGES, (id_of(user, "KSM merges"), quote), topics=list(topics))
        return {"insufficient": "", "claims": [made]}

    return written


async def test_passages_that_were_not_cited_are_shown_and_can_contradict(stage: Stage) -> None:
    """For a claim that covers a topic code adds the best passages that it does not cite."""

    def judged(user: dict[str, Any]) -> dict[str, Any]:
        other = next(o for o in user["other_passages"] if "zswap compresses" in o["passage"])
        return support(
            "contradicted", counter_evidence_id=other["evidence_id"], counter_quote=SWAPS
        )

    model = PlannedModel(step_action=both, written_result=cites_ksm("ksm"), support=judged)
    limits = {"max_local_retries": 0}
    result = await stage.run(model, required_topics=[KSM], plan=ONE, limits=limits)
    (seen,) = model.users("support")
    assert 1 <= len(seen["other_passages"]) <= 2
    cited = {passage["evidence_id"] for passage in seen["passages"]}
    assert not cited & {other["evidence_id"] for other in seen["other_passages"]}
    assert (result["claims"]["contradicted"], result["claims"]["supported"]) == (1, 0), told(result)
    assert MERGES not in result["report"]


async def test_a_claim_without_a_topic_gets_no_other_passages(stage: Stage) -> None:
    model = PlannedModel(step_action=both, written_result=cites_ksm())
    await stage.run(model, required_topics=[KSM], plan=ONE)
    assert "other_passages" not in model.users("support")[0]


async def test_each_claim_is_a_call_of_its_own_with_its_passages_only(stage: Stage) -> None:
    model = PlannedModel(step_action=both, written_result=write)
    result = await stage.run(model, required_topics=[KSM], plan=ONE)
    seen = model.users("support")
    assert len(seen) == result["claims"]["supported"] >= 2, told(result)
    assert all(isinstance(user["claim"], str) and len(user["passages"]) == 1 for user in seen)
    asked = [r["response_format"]["json_schema"] for r in stage.lab.model.requests]
    schema = next(s for s in asked if s["name"] == "support")
    assert next(iter(schema["schema"]["properties"])) == "verdict"  # before the quotes


async def test_a_quote_is_found_in_another_width_case_and_spacing(stage: Stage) -> None:
    """Folded to be found; raw text is what is shown (DESIGN, quotes)."""
    loose = "ksm  MERGES\nidentical ｍｅｍｏｒｙ pages into one."
    model = PlannedModel(step_action=both, written_result=cites_ksm("ksm", quote=loose))
    result = await stage.run(model, required_topics=[KSM], plan=ONE)
    assert result["status"] == "succeeded", told(result)
    assert f"> {MERGES}" in result["report"]
    assert loose not in result["report"]
