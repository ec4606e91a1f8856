"""Inside of a step: reading on in a source, and tools of the model's choice.

How it can go wrong: a source or a tool that is not there crashes the run; a call runs before it is
checked.
"""

from typing import Any

import pytest

from tests.workflows.plan_stage import KSM, Stage, told
from tests.workflows.planned import PlannedModel, act, action, id_of, step


async def test_code_offers_only_what_is_possible_now(stage: Stage) -> None:
    """Without evidence no writing and no reading; after fruitless turns nothing but the end."""
    asked = iter(["KSM merges identical memory pages", "qwx zzy", "vvk wwj", "never sent"])
    model = PlannedModel(step_action=lambda _: action("search", next(asked)))
    plan = {"steps": [step("s1", "Find KSM", topics=["ksm"])]}
    result = await stage.run(model, required_topics=[KSM], plan=plan)
    assert result["status"] == "succeeded", told(result)
    offered = [set(user["allowed_actions"]) for user in model.users("step_action")]
    assert offered[0] == {"search", "tool", "insufficient"}
    assert offered[1:] == [{"search", "read", "tool", "write", "insufficient"}] * 2
    assert next(asked) == "never sent"  # the second fruitless turn was the last
    assert set(model.users("written_result")[0]["allowed_actions"]) == {"write", "insufficient"}


async def test_a_quote_that_code_found_ends_the_search(stage: Stage) -> None:
    """`enough: yes` with a quote that stands: written, whatever action the model named."""
    honest = "KSM merges identical memory pages into one."

    def turns(user: dict[str, Any]) -> dict[str, Any]:
        if not user["evidence"]:
            return action("search", "KSM merges identical memory pages")
        return action("search", "zram", answer_quote=honest, enough="yes")

    model = PlannedModel(step_action=turns)
    plan = {"steps": [step("s1", "Find KSM", topics=["ksm"])]}
    result = await stage.run(model, required_topics=[KSM], plan=plan)
    assert (result["status"], result["usage"]["searches"]) == ("succeeded", 1), told(result)


async def test_a_model_may_read_on_in_a_source(stage: Stage) -> None:
    def turns(user: dict[str, Any]) -> dict[str, Any]:
        seen = user["last_observation"]
        if seen is None:
            return action("search", "KSM merges identical memory pages")
        if len(user["queries_tried"]) == 1:
            return action("read", evidence_id=id_of(user, "KSM"), locator="pages_to_scan")
        return action("write", enough="yes")

    model = PlannedModel(step_action=turns)
    plan = {"steps": [step("s1", "Find KSM", topics=["ksm"])]}
    result = await stage.run(model, required_topics=[KSM], plan=plan)
    assert result["status"] == "succeeded", told(result)
    assert result["usage"]["tool_calls"] == 2
    third = model.users("step_action")[2]
    assert third["last_observation"]["ok"]
    assert any(query.startswith("read E") for query in third["queries_tried"])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"evidence_id": "E77"}, "expected one of"),
        ({"evidence_id": "the first"}, "expected one of"),
    ],
)
async def test_reading_what_is_not_there_is_an_observation(
    stage: Stage, asked: dict[str, str], said: str
) -> None:
    def turns(user: dict[str, Any]) -> dict[str, Any]:
        if user["last_observation"] is None:
            return action("search", "KSM merges identical memory pages")
        if len(user["queries_tried"]) == 1:
            return action("read", **asked)
        return action("write", enough="yes")

    model = PlannedModel(step_action=turns)
    plan = {"steps": [step("s1", "Find KSM", topics=["ksm"])]}
    result = await stage.run(model, required_topics=[KSM], plan=plan)
    assert result["status"] == "succeeded", told(result)
    assert said in model.users("step_action")[2]["last_observation"]["note"]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("fetch_sales", '{"quarters": ["Q3"]}', None),
        ("fetch_sales", '{"quarters": "Q3"}', "quarters"),
        ("fetch_sales", "not JSON", "JSON object"),
        ("no_such", "{}", "there are"),
        ("broken", '{"host": "h"}', "no route to h"),
    ],
)
async def test_a_models_call_of_a_tool_is_checked_before_it_runs(
    stage: Stage, name: str, arguments: str, said: str | None
) -> None:
    def turns(user: dict[str, Any]) -> dict[str, Any]:
        if user["last_observation"] is None:
            return action("tool", tool=name, arguments_json=arguments)
        return act(user) if not user["evidence"] else action("write", enough="yes")

    model = PlannedModel(step_action=turns)
    plan = {"steps": [step("s1", "Find KSM", topics=["ksm"])]}
    await stage.run(model, required_topics=[KSM], plan=plan)
    seen = model.users("step_action")[1]["last_observation"]
    assert seen["ok"] == (said is None)
    assert said is None or said in seen["note"]
    sources = [source["source_id"] for source in model.users("step_action")[1]["evidence"]]
    assert (sources == ["tool:fetch_sales:s1"]) == (said is None)
