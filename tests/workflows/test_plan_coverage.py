"""Coverage: names in cited passages, the untagged topic call, conflicts, limitations.

How it can go wrong: a tag that covers; partly that counts as covered; a conflict that shows one
side; a limitation that is lost.
"""

from typing import Any

from tests.workflows.plan_stage import KSM, Stage, step_of, told
from tests.workflows.planned import PlannedModel, act, action, claim, id_of, support, topic, write


async def test_partly_counts_as_missing_and_is_shown(stage: Stage) -> None:
    def topic(user: dict[str, Any]) -> dict[str, Any]:
        numbers = [finding["number"] for finding in user["findings"]]
        return {"answer": "partly" if "zswap" in user["question"] else "answered",
                "claims": numbers}  # fmt: skip

    result = await stage.run(PlannedModel(topic=topic))
    assert result["status"] == "partially_succeeded", told(result)
    assert (result["partial_topics"], result["coverage"]) == (["zswap"], 0.5)
    assert "partly covered" in result["report"]


async def test_a_finished_plan_with_an_uncovered_topic_closes_and_names_the_gap(
    stage: Stage,
) -> None:
    """Passed at the last step finalizes (REQUIREMENTS 102), also with replans left."""
    none = {"answer": "no", "claims": []}
    model = PlannedModel(topic=lambda user: none if "zswap" in user["question"] else topic(user))
    result = await stage.run(model)
    assert (result["status"], result["stop_reason"]) == ("partially_succeeded", "completed")
    assert (result["missing_topics"], result["coverage"]) == (["zswap"], 0.5), told(result)
    assert (model.count("plan"), result["usage"]["replans"]) == (1, 0)
    assert [s["status"] for s in result["steps"]] == ["DONE", "DONE"]
    gaps = result["report"].partition("## Not covered")[2].partition("\n## ")[0]
    assert "How is zswap enabled?" in gaps
    assert "zswap" in gaps.partition("How is zswap enabled?")[2]  # the queries tried


async def test_findings_without_a_topics_names_never_cover_it(stage: Stage) -> None:
    def off_topic(user: dict[str, Any]) -> dict[str, Any]:
        if step_of(user) != "s2":
            return write(user)
        return {"insufficient": "", "claims": [
            claim("KSM merges identical memory pages into one.",
                  (id_of(user, "KSM"), "KSM merges identical memory pages into one."),
                  topics=["zswap"])]}  # fmt: skip

    model = PlannedModel(
        step_action=lambda user: act(user) if "s1" in step_of(user) else _search_ksm(user),
        written_result=off_topic,
    )
    named = {"id": "zswap", "question": "How large is the pool of ZSWAP?"}
    result = await stage.run(model, required_topics=[KSM, named])
    assert result["missing_topics"] == ["zswap"], told(result)
    assert model.count("topic") == 1


def _search_ksm(user: dict[str, Any]) -> dict[str, Any]:
    return action("write") if user["evidence"] else action("search", "KSM merges pages")


async def test_conflicts_show_both_sides(stage: Stage) -> None:
    def two(user: dict[str, Any]) -> dict[str, Any]:
        if "ksm" not in step_of(user) and step_of(user) != "s1":
            return write(user)
        number = id_of(user, "KSM")
        return {"insufficient": "", "claims": [
            claim("KSM scans 100 pages in each pass.",
                  (number, "KSM scans 100 pages in each pass"), topics=["ksm"]),
            claim("KSM scans 200 pages in each pass.",
                  (number, "KSM scans 100 pages in each pass"), topics=["ksm"])]}  # fmt: skip

    model = PlannedModel(
        written_result=two,
        conflicts=lambda user: {"conflicts": [
            {"one": user["findings"][0]["number"], "other": user["findings"][1]["number"],
             "about": "pages a pass"}]},
    )  # fmt: skip
    result = await stage.run(model)
    assert model.count("conflicts") == 1, told(result)
    section = result["report"].partition("## Conflicts")[2].partition("\n## ")[0]
    assert "pages a pass" in section
    assert section.count("> KSM scans 100 pages") == 2


async def test_qualified_claims_print_their_limitation_and_cover_nothing(stage: Stage) -> None:
    model = PlannedModel(support=support("qualified", limitation="only if the module is built in"))
    result = await stage.run(model)
    assert result["claims"]["qualified"] >= 2, told(result)
    assert "only if the module is built in" in result["report"]
    assert result["coverage"] == 0.0
