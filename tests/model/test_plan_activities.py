"""`plan`, `step_action` and `write` with a real store and a scripted model over HTTP.

How it can go wrong: a bad plan is an error instead of problems that can be asked about; a tool
nobody has stands in a plan; a model takes an action that was not offered; a quote nobody wrote
counts as found; what a call cost is lost with its reply.
"""

import json
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from activities.model.gateway import Gateway
from activities.model.plan_activities import PlanActivities
from activities.model.profiles import profiles_from
from activities.store.records import Records
from tests.model import plan_material as made
from tests.model.wire import PATH, completion
from workflows.contracts.acts import TokenUsage
from workflows.contracts.plan_acts import PlanInput, PlanResult
from workflows.contracts.plan_state import FailedPlan
from workflows.contracts.task import ResolvedTask, ToolSpec

USED = TokenUsage(prompt_tokens=11, completion_tokens=7)
SPECS = [ToolSpec(name="search"), ToolSpec(name="fetch_sales", description="Sales.")]


def task(*topics: Any, **fields: Any) -> ResolvedTask:
    return made.planned(*topics, **fields).model_copy(update={"specs": SPECS})


def step(id_: str, topics: list[str], **fields: Any) -> dict[str, Any]:
    return {
        "id": id_,
        "goal": f"Find {id_}",
        "accept": "at least one quote that names it",
        "depends_on": [],
        "expected_output": "",
        "topics": topics,
        "tool_hint": "",
        "risk": "low",
        "required": True,
        **fields,
    }


async def planned(
    acts: PlanActivities, records: Records, server: HTTPServer, reply: Any, *topics: str, **inp: Any
) -> PlanResult:
    """What `plan` makes of a planner's reply, in the second attempt."""
    server.expect_request(PATH).respond_with_json(completion(reply))
    given = PlanInput(**(await made.act_fields(records, task(*(topics or ("ksm",))))), **inp)
    result = await made.environment(attempt=2).run(acts.plan, given)
    assert result.usage == USED.model_copy(update={"attempt": 2})
    return result


# --- the planner


async def test_a_valid_plan_is_taken_as_it_was_written(
    acts: PlanActivities, records: Records, httpserver: HTTPServer
) -> None:
    steps = [step("a", ["ksm"]), step("b", ["zram"], depends_on=["a"], tool_hint="fetch_sales")]
    result = await planned(acts, records, httpserver, {"steps": steps}, "ksm", "zram")
    assert result.problems == []
    assert result.plan is not None
    taken = [each.model_dump() for each in result.plan.steps]
    assert [{k: v for k, v in each.items() if k in steps[0]} for each in taken] == steps
    assert made.sent(httpserver)["response_format"]["json_schema"]["name"] == "plan"


async def test_a_plan_in_a_fence_is_a_plan(
    acts: PlanActivities, records: Records, httpserver: HTTPServer
) -> None:
    content = f"```json\n{json.dumps({'steps': [step('a', ['ksm'])]})}\n```"
    result = await planned(acts, records, httpserver, content)
    assert result.plan is not None, result.problems


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("no json at all", "Invalid JSON"),
        ({"steps": [{"id": "a"}]}, "steps.0.goal: Field required"),
        ({"steps": [step("a", ["ksm"])], "note": "x"}, "note: Extra inputs"),
        ({"steps": []}, "plan.steps"),
        ({"steps": [step("a", [])]}, "no required step serves 'ksm'"),
        ({"steps": [step("a", ["ksm"], required=False)]}, "no required step serves 'ksm'"),
        ({"steps": [step("a", ["ksm", "moon"])]}, "topics: 'moon'; there are 'ksm'"),
        ({"steps": [step("a", ["ksm"], tool_hint="rm")]}, "no tool 'rm'; there are search, fetch"),
        ({"steps": [step("a", ["ksm"], depends_on=["b"])]}, "no step has the id: b"),
        ({"steps": [step("a", ["ksm"], accept=" ")]}, "accept: expected a criterion"),
        ({"steps": [step(f"s{n}", ["ksm"]) for n in range(7)]}, "expected 1 to 6 steps, found 7"),
    ],
)
async def test_an_invalid_plan_is_problems_and_no_error(
    acts: PlanActivities, records: Records, httpserver: HTTPServer, reply: Any, said: str
) -> None:
    result = await planned(acts, records, httpserver, reply)
    assert result.plan is None
    assert said in " | ".join(result.problems)


async def test_problems_are_few_and_short(
    acts: PlanActivities, records: Records, httpserver: HTTPServer
) -> None:
    steps = [step(f"s{n}", ["x" * 199], tool_hint="y" * 199) for n in range(6)]
    result = await planned(acts, records, httpserver, {"steps": steps})
    assert len(result.problems) == 8
    assert max(map(len, result.problems)) == 200


@pytest.mark.parametrize(("topics", "fewest"), [(["ksm"], 1), (["ksm", "zram"], 2)])
async def test_only_one_topic_may_have_a_plan_of_one_step(
    acts: PlanActivities, records: Records, httpserver: HTTPServer, topics: list[str], fewest: int
) -> None:
    result = await planned(acts, records, httpserver, {"steps": [step("a", topics)]}, *topics)
    assert (result.plan is not None) == (fewest == 1), result.problems
    assert made.user_of(httpserver)["min_steps"] == fewest


async def test_a_re_ask_says_what_was_wrong_and_what_failed(
    acts: PlanActivities, records: Records, httpserver: HTTPServer
) -> None:
    end = FailedPlan(fingerprint="f", goals=["Find a"], reason="s1: nothing found")
    result = await planned(
        acts,
        records,
        httpserver,
        {"steps": [step("a", ["ksm"])]},
        problems=["no tool 'rm'"],
        dead_ends=[end],
        reasons=["s1: nothing found"],
        done=["s2: Find b"],
    )
    assert result.plan is not None
    snapshot = made.user_of(httpserver)
    assert snapshot["problems"] == ["no tool 'rm'"]
    assert snapshot["failed_plans"] == [end.model_dump()]
    assert snapshot["failure_reasons"] == ["s1: nothing found"]
    assert snapshot["finished_steps"] == ["s2: Find b"]
    assert [tool["name"] for tool in snapshot["tools"]] == ["search", "fetch_sales"]


async def test_a_first_ask_speaks_of_no_problems(
    acts: PlanActivities, records: Records, httpserver: HTTPServer
) -> None:
    await planned(acts, records, httpserver, {"steps": [step("a", ["ksm"])]})
    assert "problems" not in made.user_of(httpserver)


async def test_the_extractive_planner_makes_a_step_a_topic(records: Records) -> None:
    acts = PlanActivities(records, Gateway(profiles_from()))
    resolved = made.planned("ksm", "zram", profile="extractive")
    inp = PlanInput(**(await made.act_fields(records, resolved)))
    result = await made.environment().run(acts.plan, inp)
    assert result.plan is not None
    assert [each.topics for each in result.plan.steps] == [["ksm"], ["zram"]]
    assert result.usage == TokenUsage()
