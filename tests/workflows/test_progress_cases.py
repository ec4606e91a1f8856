"""Cases of progress through the real workflow: stalls, keys of arguments, coverage, failure codes.

Every expressible case, of coverage every third in file order. A stall is expressible where only the
arguments of searches tell its acts apart, and the tool's answers are those of a collection.
"""

import itertools
from typing import Any

import pytest

from tests.case_files import load
from tests.workflows.plan_stage import KSM, Stage, told
from tests.workflows.planned import PlannedModel, action, step, topic
from tests.workflows.test_plan_cases import third

CASES = load("progress_cases.json")
FILE = "progress_cases.json"
FOUND = "KSM merges identical memory pages"  # a query that brings a source
ONE = {"steps": [step("s1", "Find KSM", topics=["ksm"])]}
NOTHING = {"insufficient": "nothing", "claims": []}
PATIENT = {"max_no_progress": 20, "max_tool_calls_per_step": 20}


def searches(*queries: str) -> PlannedModel:
    """A model that makes these searches one after the other, then gives up."""
    left = iter(queries)
    return PlannedModel(
        step_action=lambda _: (
            action("search", query) if (query := next(left, "")) else action("insufficient")
        ),
        written_result=NOTHING,
    )


def stall_expressible(case: dict[str, Any]) -> bool:
    first, *others = case["snapshots"]
    fixed = ("done", "plan_version", "unmet", "tool", "result", "error")
    same = all(each[name] == first[name] for each in others for name in fixed)
    evidence = [each["evidence"] for each in case["snapshots"]]
    late = any(a != b for a, b in itertools.pairwise(evidence[1:]))
    return case["k"] == CASES["default_k"] and same and not first["error"] and not late


STALLS = [case for case in CASES["stall_cases"] if stall_expressible(case)]


@pytest.mark.cases(FILE)
@pytest.mark.parametrize("case", STALLS, ids=lambda c: c["id"])
async def test_stall_case(stage: Stage, case: dict[str, Any]) -> None:
    """The first snapshot is what there was; each other one is a search."""
    before, *acts = case["snapshots"]
    found = acts[0]["evidence"] > before["evidence"]
    queries = [FOUND if found else act["args"] for act in acts]
    result = await stage.run(searches(*queries), required_topics=[KSM], plan=ONE, limits=PATIENT)
    stalled = "three times" in result["steps"][0]["verdict"]["reason"]
    assert stalled == case["expected_stalled"], told(result)


@pytest.mark.cases(FILE)
@pytest.mark.parametrize("case", CASES["argument_keys"])
async def test_argument_key_case(stage: Stage, case: dict[str, Any]) -> None:
    """The strict key answers a repeat from memory, the loose one counts towards a stall (C16)."""
    handle = await stage.start(
        searches(case["a"], case["b"]), required_topics=[KSM], plan=ONE, limits=PATIENT
    )
    result = await handle.result()
    state = await handle.query("state")
    errors = [record.get("error") for record in await stage.trajectory(handle)]
    assert ("repeated_query" in errors) == case["query_key_equal"], told(result)
    counted = sorted(state["dag"]["repeats"].values())
    assert (counted == [2]) == case["stall_key_equal"], counted


QUESTIONS = ["What does KSM merge?", "How is KSM enabled?", "What does KSM scan?"]


@pytest.mark.cases(FILE)
@pytest.mark.parametrize("case", third(CASES["coverage_cases"], lambda c: bool(c["required"])))
async def test_coverage_case(stage: Stage, case: dict[str, Any]) -> None:
    required: list[str] = case["required"]
    asked = dict(zip(QUESTIONS, required, strict=False))
    model = PlannedModel(
        topic=lambda user: (
            topic(user)
            if asked[user["question"]] in case["covered"]
            else {"answer": "no", "claims": []}
        ),
        step_action=lambda user: (
            action("write", enough="yes") if user["evidence"] else action("search", FOUND)
        ),
    )
    result = await stage.run(
        model,
        required_topics=[{"id": name, "question": question} for question, name in asked.items()],
        plan={"steps": [step("s1", "Find KSM", topics=required)]},
    )
    assert round(result["coverage"], 4) == case["expected_coverage"], told(result)
    assert (result["status"] == "succeeded") == case["may_succeed"]
    assert result["missing_topics"] == [n for n in required if n not in case["covered"]]


def code_expressible(case: dict[str, Any]) -> bool:
    return any(word in case["situation"] for word in ("no rows", "cycle"))


@pytest.mark.cases(FILE)
@pytest.mark.parametrize(
    "case",
    [case for case in CASES["failure_codes"] if code_expressible(case)],
    ids=lambda c: c["situation"],
)
async def test_failure_code_case(stage: Stage, case: dict[str, Any]) -> None:
    cyclic = [step("a", "x", topics=["ksm"], depends_on=["b"]),
              step("b", "y", topics=[], depends_on=["a"])]  # fmt: skip
    plan = {"steps": cyclic} if "cycle" in case["situation"] else ONE
    result = await stage.run(searches("jupiterx moonx"), required_topics=[KSM], plan=plan)
    codes = [failure["code"] for failure in result["failures"]]
    assert case["expected_code"] in codes, told(result)
