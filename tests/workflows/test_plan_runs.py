"""Runs with a plan: planner, schedule, steps, routing, coverage, report, trajectory.

How it can go wrong: an invalid plan that runs; a branch that waits for one it does not need; a step
without the results it depends on; a retry without its reason; a plan that is only reworded; a
result that is lost or reused unverified.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.workflows.plan_stage import KSM, ZRAM, ZSWAP, Stage, staged, step_of, told
from tests.workflows.planned import (
    PlannedModel,
    act,
    action,
    claim,
    goal,
    plan_for,
    step,
    support,
    write,
)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with staged(tmp_path_factory.mktemp("plans")) as ready:
        yield ready


# --- planner


async def test_a_plan_is_made_run_verified_and_reported(stage: Stage) -> None:
    model = PlannedModel()
    handle = await stage.start(model)
    result = await handle.result()
    assert (result["status"], result["stop_reason"]) == ("succeeded", "completed"), told(result)
    assert (result["plan_version"], result["coverage"]) == (1, 1.0)
    assert [s["status"] for s in result["steps"]] == ["DONE", "DONE"]
    assert result["claims"]["supported"] >= 2
    assert result["trajectory"]["steps_completed"] == 2
    for item in result["evidence"]:
        assert all(passage in _note(item["source_id"]) for passage in item["passages"])
    assert model.count("topic") == 2
    view = await handle.query("plan")
    assert [s["status"] for s in view["steps"]] == ["DONE", "DONE"]


def _note(source_id: str) -> str:
    from tests.workflows.plan_stage import NOTES  # noqa: PLC0415 - only here

    return NOTES[source_id.partition(":")[2]]


async def test_an_invalid_plan_is_asked_for_once_more_with_what_is_wrong(stage: Stage) -> None:
    steps = [
        step("s1", "Find KSM", topics=["ksm"], accept="a reasonable text", depends_on=["s2"]),
        step("s2", "Find zswap", topics=["zswap"], depends_on=["s1"]),
    ]
    model = PlannedModel(plan=[{"steps": steps}, plan_for])
    result = await stage.run(model)
    assert result["status"] == "succeeded", told(result)
    first, second = model.users("plan")
    assert "problems" not in first
    said = " ".join(second["problems"])
    assert all(word in said for word in ("s1, s2", "reasonable"))


@pytest.mark.parametrize(
    "reply",
    [
        {"steps": []},
        {"steps": [step("s1", "Find KSM", topics=["ksm"])] * 2},
        {"steps": [step("s1", "Find KSM", topics=["ksm"]), step("s2", "More", topics=["ksm"])]},
        {"kind": "raw", "content": "no JSON", "finish_reason": "stop", "refusal": None},
    ],
)
async def test_two_invalid_plans_end_the_run(stage: Stage, reply: Any) -> None:
    model = PlannedModel(plan=reply)
    result = await stage.run(model)
    assert (result["status"], result["stop_reason"]) == ("failed", "plan_invalid")
    assert result["failures"][-1]["code"] == "FAILED_PLAN"
    assert [name for name, _ in model.asked] == ["plan", "plan"]


async def test_a_callers_plan_is_validated_and_needs_no_planner(stage: Stage) -> None:
    model = PlannedModel()
    plan = {"steps": [step("only", "Find KSM", topics=["ksm"])]}
    result = await stage.run(model, required_topics=[KSM], plan=_plain(plan))
    assert (result["status"], model.count("plan")) == ("succeeded", 0), told(result)
    cyclic = {"steps": [step("a", "x", topics=["ksm"], depends_on=["b"]),
                        step("b", "y", topics=[], depends_on=["a"])]}  # fmt: skip
    refused = await stage.run(PlannedModel(), required_topics=[KSM], plan=_plain(cyclic))
    assert (refused["status"], refused["stop_reason"]) == ("failed", "plan_invalid")
    assert "a, b" in refused["failures"][-1]["reason"]


def _plain(plan: dict[str, Any]) -> dict[str, Any]:
    return plan


# --- schedule


async def test_ready_steps_run_at_the_same_time_and_numbers_are_never_given_twice(
    stage: Stage,
) -> None:
    waiting = 0
    most = 0
    gate = asyncio.Event()
    loop = asyncio.get_running_loop()

    def together(user: dict[str, Any]) -> dict[str, Any]:
        nonlocal waiting, most
        waiting += 1
        most = max(most, waiting)
        if waiting == 3:
            loop.call_soon_threadsafe(gate.set)
        asyncio.run_coroutine_threadsafe(asyncio.wait_for(gate.wait(), 20), loop).result(25)
        return act(user)

    model = PlannedModel(step_action=together)
    result = await stage.run(model, required_topics=[KSM, ZSWAP, ZRAM])
    assert most >= 3
    assert result["status"] == "succeeded", told(result)
    ids = [item["id"] for item in result["evidence"]]
    assert len(ids) == len(set(ids))
    sources = [item["source_id"] for item in result["evidence"] if not item["empty"]]
    assert len(sources) == len(set(sources))


async def test_a_failed_step_blocks_what_needs_it_and_nothing_else(stage: Stage) -> None:
    plan = {
        "steps": [
            step("bad", "Find KSM", topics=["ksm"]),
            step("after", "Use what bad found", topics=[], depends_on=["bad"]),
            step("good", "Find zswap", topics=["zswap"]),
        ]
    }
    gives_up = {"insufficient": "no such thing", "claims": []}
    model = PlannedModel(
        written_result=lambda user: gives_up if step_of(user) == "bad" else write(user)
    )
    result = await stage.run(model, plan=_plain(plan))
    statuses = {s["id"]: s["status"] for s in result["steps"]}
    assert statuses == {"bad": "FAILED", "after": "BLOCKED", "good": "DONE"}
    assert (result["status"], result["stop_reason"]) == ("partially_succeeded", "step_failed")
    assert result["missing_topics"] == ["ksm"]
    assert "waits for bad" in result["report"]


async def test_results_of_steps_reach_those_that_depend_on_them(stage: Stage) -> None:
    plan = {
        "steps": [
            step("s1", "Find KSM", topics=["ksm"]),
            step("s2", "Find zswap", topics=["zswap"], depends_on=["s1"]),
        ]
    }
    model = PlannedModel()
    result = await stage.run(model, plan=_plain(plan))
    assert result["status"] == "succeeded", told(result)
    seen = next(user for user in model.users("step_action") if step_of(user) == "s2")
    assert seen["upstream"][0]["step"] == "s1"
    assert "KSM" in seen["upstream"][0]["claims"][0]
    assert any("KSM" in str(source) for source in seen["evidence"])


async def test_the_sales_example_gives_product_a(stage: Stage) -> None:
    plan = {
        "steps": [
            {
                "id": "fetch_sales",
                "goal": "Fetch the sales of two quarters",
                "accept": "a row for each product and quarter",
                "tool": "fetch_sales",
                "args": {"quarters": ["Q3", "Q4"]},
            },
            {
                "id": "detect_decline",
                "goal": "Find products that declined by more than ten percent",
                "accept": "each product with its rate",
                "depends_on": ["fetch_sales"],
                "tool": "detect_decline",
                "args": {"rows": {"$result": "fetch_sales"}},
                "topics": ["decline"],
            },
        ]
    }
    question = {"id": "decline", "question": "Which product declined?"}
    model = PlannedModel()
    result = await stage.run(model, required_topics=[question], plan=plan)
    assert result["status"] == "succeeded", told(result)
    assert '{"product": "A", "decline_rate": 0.2}' in result["report"]
    assert '"product": "B"' not in result["report"].partition("detect_decline")[2]
    assert model.count("step_action") == 0


async def test_a_tool_that_fails_or_is_not_allowed_is_an_observation(stage: Stage) -> None:
    plan = {"steps": [{"id": "s1", "goal": "Ask", "accept": "one row", "tool": "broken"}]}
    result = await stage.run(PlannedModel(), required_topics=[], plan=plan)
    assert (result["status"], result["stop_reason"]) == ("failed", "step_failed")
    assert any("no route to host" in failure["reason"] for failure in result["failures"])
    asks = action("tool", tool="wipe", arguments_json="{}")
    model = PlannedModel(step_action=[asks, act])
    result = await stage.run(model, required_topics=[KSM])
    assert result["trajectory"]["unauthorized_attempts"] <= 1
    assert "gone" not in result["report"]


# --- steps, routing, replanning


async def test_a_retry_carries_its_own_reason_first(stage: Stage) -> None:
    scores = iter([0.6])
    model = PlannedModel(
        goal=lambda user: (
            goal(next(scores, 0.9), reason="the unit is missing")
            if "ksm" in user["goal"]
            else goal()
        )
    )
    result = await stage.run(model)
    assert result["status"] == "succeeded", told(result)
    assert {s["id"]: s["attempts"] for s in result["steps"]} == {"s1": 2, "s2": 1}
    retries = [u for u in model.users("written_result") if "fix_first" in u]
    assert [step_of(u) for u in retries] == ["s1"]
    assert next(iter(retries[0])) == "fix_first"
    assert retries[0]["fix_first"] == "the unit is missing"


async def test_local_failures_escalate_then_a_new_plan_keeps_results(stage: Stage) -> None:
    def plans(user: dict[str, Any]) -> dict[str, Any]:
        if not user["failed_plans"]:
            return plan_for(user)
        return {
            "steps": [
                step("n1", "Look up what KSM writes to the file run", topics=["ksm"]),
                step("n2", "Find zswap", topics=["zswap"]),
            ]
        }

    model = PlannedModel(
        plan=plans,
        goal=lambda user: goal(0.6, reason="too thin") if user["goal"] == "Find ksm" else goal(),
    )
    result = await stage.run(model)
    assert result["status"] == "succeeded", told(result)
    assert (result["plan_version"], result["usage"]["replans"]) == (2, 1)
    assert result["usage"]["rounds"] == 3 + 1 + 2
    second = model.users("plan")[1]
    assert "too thin" in second["failed_plans"][0]["reason"]
    assert second["failed_plans"][0]["fingerprint"]
    assert any("s2: Find zswap" in line for line in second["finished_steps"])
    # The finished step was reused: verified again, not executed again.
    searched = [u for u in model.users("step_action") if step_of(u) == "n2"]
    assert searched == []
    ids = [item["id"] for item in result["evidence"]]
    assert len(ids) == len(set(ids))


async def test_the_same_plan_again_closes_degraded(stage: Stage) -> None:
    model = PlannedModel(written_result={"insufficient": "nothing there", "claims": []})
    result = await stage.run(model)
    assert result["stop_reason"] == "plan_repeated", told(result)
    assert result["degraded"]
    assert model.count("plan") == 3  # the first, the repeat, and the one re-ask
    assert "failed before" in " ".join(model.users("plan")[2]["problems"])


async def test_replans_end_at_their_limit(stage: Stage) -> None:
    def other(user: dict[str, Any]) -> dict[str, Any]:
        word = ["alpha beta", "gamma delta", "epsilon eta", "omega chi"][len(user["failed_plans"])]
        topics = ["ksm", "zswap"]
        return {"steps": [step("s1", f"{word} one", topics=topics), step("s2", word, topics=[])]}

    model = PlannedModel(plan=other, written_result={"insufficient": "no", "claims": []})
    result = await stage.run(model, limits={"max_replans": 2})
    assert (result["stop_reason"], result["usage"]["replans"]) == ("replan_limit", 2), told(result)


# --- verdicts, coverage


async def test_a_judge_without_a_verdict_is_never_a_pass(stage: Stage) -> None:
    model = PlannedModel(goal={"passed": True, "reason": "fine"})
    result = await stage.run(model)
    assert (result["stop_reason"], result["degraded"]) == ("verifier_error", True), told(result)
    assert result["status"] == "partially_succeeded"
    assert model.count("goal") % 2 == 0  # each is asked once more


async def test_partly_counts_as_missing_and_is_shown(stage: Stage) -> None:
    def topic(user: dict[str, Any]) -> dict[str, Any]:
        numbers = [finding["number"] for finding in user["findings"]]
        return {"answer": "partly" if "zswap" in user["question"] else "answered",
                "claims": numbers}  # fmt: skip

    result = await stage.run(PlannedModel(topic=topic))
    assert result["status"] == "partially_succeeded", told(result)
    assert (result["partial_topics"], result["coverage"]) == (["zswap"], 0.5)
    assert "partly covered" in result["report"]


async def test_findings_without_a_topics_names_never_cover_it(stage: Stage) -> None:
    def off_topic(user: dict[str, Any]) -> dict[str, Any]:
        if step_of(user) != "s2":
            return write(user)
        return {"insufficient": "", "claims": [
            claim("KSM merges identical memory pages into one.",
                  (_id_of(user, "KSM"), "KSM merges identical memory pages into one."),
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


def _id_of(user: dict[str, Any], word: str) -> str:
    return next(s["id"] for s in user["evidence"] if word in str(s["passages"]))


async def test_conflicts_show_both_sides(stage: Stage) -> None:
    def two(user: dict[str, Any]) -> dict[str, Any]:
        if "ksm" not in step_of(user) and step_of(user) != "s1":
            return write(user)
        number = _id_of(user, "KSM")
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


# --- diagnosis, stall, budgets


async def test_an_empty_result_is_diagnosed_before_anything_is_concluded(stage: Stage) -> None:
    model = PlannedModel(
        step_action=lambda user: (
            action("search", "qwertz uiopas KSMX dfghj")
            if not user["queries_tried"]
            else action("insufficient")
        )
    )
    moon = [{"id": "moon", "question": "How far is the moon?"}]
    handle = await stage.start(model, required_topics=moon, limits={"max_replans": 0})
    result = await handle.result()
    state = await handle.query("state")
    step_ = state["dag"]["steps"]["s1"]
    assert step_["queries"] == ["qwertz uiopas KSMX dfghj", "KSMX"], told(result)
    assert "5 passages" in step_["looked"]
    assert model.users("step_action")[1]["collections"] == step_["looked"]
    assert (result["coverage"], result["status"]) == (0.0, "failed")


async def test_a_look_at_the_collection_stands_in_the_report(stage: Stage) -> None:
    moon = [{"id": "moon", "question": "How far is the moon from Jupiter?"}]
    model = PlannedModel(step_action=lambda user: action("search", "jupiterx moonx")
                         if len(user["queries_tried"]) < 2 else action("insufficient"))  # fmt: skip
    result = await stage.run(model, required_topics=moon)
    assert result["status"] in ("failed", "partially_succeeded")
    assert "holds 5 passages" in result["report"], result["report"]
    assert "jupiterx" in result["report"]


async def test_an_endless_search_ends_as_a_stall(stage: Stage) -> None:
    asks = iter(range(1000))
    model = PlannedModel(
        step_action=lambda _: action("search", "rivers" + "!?." * (next(asks) % 3)),
        written_result={"insufficient": "no", "claims": []},
        plan=lambda user: {"steps": [
            step("s1", f"try {len(user['failed_plans'])} {'abcdef'[len(user['failed_plans'])] * 9}",
                 topics=["ksm", "zswap"]),
            step("s2", f"other {'uvwxyz'[len(user['failed_plans'])] * 9}", topics=[])]},
    )  # fmt: skip
    result = await stage.run(model, limits={"max_no_progress": 9})
    assert result["status"] in ("failed", "partially_succeeded"), told(result)
    assert result["usage"]["model_calls"] < 40
    assert any("three times" in str(failure) for failure in result["failures"]) or (
        "three times" in result["report"]
    )


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_model_calls": 1}, "model_budget"),
        ({"max_model_calls": 7}, "model_budget"),
        ({"max_tokens": 300}, "token_budget"),
        ({"max_rounds": 1}, "round_limit"),
    ],
)
async def test_each_budget_has_its_own_reason_and_is_kept(
    stage: Stage, limits: dict[str, Any], reason: str
) -> None:
    result = await stage.run(PlannedModel(), limits=limits)
    assert result["stop_reason"] == reason, told(result)
    for name, most in limits.items():
        used = {"max_tokens": result["usage"]["prompt_tokens"] - 200}.get(
            name, result["usage"].get(name.removeprefix("max_"), 0)
        )
        assert used <= most
    assert result["trajectory"]["budget_exhausted"]
    assert result["report"]


async def test_without_tool_calls_there_is_no_evidence(stage: Stage) -> None:
    result = await stage.run(PlannedModel(), limits={"max_tool_calls": 0})
    assert result["status"] == "failed", told(result)
    assert result["usage"]["searches"] == 0


async def test_time_is_kept_back_for_closing(stage: Stage) -> None:
    model = PlannedModel(step_action=lambda user: {"kind": "hang"}
                         if step_of(user) == "s2" else act(user))  # fmt: skip
    result = await stage.run(model, limits={"max_active_seconds": 8.0})
    assert result["stop_reason"] == "timeout", told(result)
    assert result["status"] == "partially_succeeded"
    assert "ksm" not in result["missing_topics"], told(result)


async def test_a_stop_delivers_what_is_verified(stage: Stage) -> None:
    model = PlannedModel(step_action=lambda user: {"kind": "hang"}
                         if step_of(user) == "s2" else act(user))  # fmt: skip
    handle = await stage.start(model)
    for _ in range(300):
        plan = await handle.query("plan")
        if plan.get("steps") and plan["steps"][0]["status"] == "DONE":
            break
        await asyncio.sleep(0.1)
    await handle.signal("stop", {"by": "ann"})
    result = await handle.result()
    assert result["status"] == "stopped"
    assert result["claims"]["supported"] >= 1, told(result)
    assert "KSM" in result["report"]


# --- trajectory, languages


async def test_the_trajectory_tells_every_act(stage: Stage) -> None:
    handle = await stage.start(PlannedModel())
    await handle.result()
    records = await stage.trajectory(handle)
    kinds = {record["event"] for record in records}
    assert {"think", "tool", "answer", "verdict", "route", "task_finished"} <= kinds
    verdict = next(r for r in records if r["event"] == "verdict" and r["step"])
    assert {"round", "step", "score", "layer", "scope", "reason", "elapsed"} <= set(verdict)
    assert [r["seq"] for r in records] == sorted(r["seq"] for r in records)


async def test_a_chinese_run_is_chinese(stage: Stage) -> None:
    bridge = {"id": "桥梁", "question": "桥梁的荷载由什么传到地基？"}
    model = PlannedModel()
    result = await stage.run(model, goal="桥梁如何承受荷载？", required_topics=[bridge])
    assert result["status"] == "succeeded", told(result)
    assert "## 主题" in result["report"] or "主题" in result["report"]
    assert "桥墩传到地基" in result["report"]
    assert "计划" in self_message(stage, 0)


def self_message(stage: Stage, number: int) -> str:
    return stage.lab.model.requests[number]["messages"][0]["content"]


# --- reading on, tools of a model's choice


async def test_a_model_may_read_on_in_a_source(stage: Stage) -> None:
    def turns(user: dict[str, Any]) -> dict[str, Any]:
        seen = user["last_observation"]
        if seen is None:
            return action("search", "KSM merges identical memory pages")
        if len(user["queries_tried"]) == 1:
            return action("read", evidence_id=_id_of(user, "KSM"), locator="pages_to_scan")
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
