"""`limits.max_cost`: what a run costs is told exactly, and never more than it may.

How it can go wrong: branches side by side spend the same money; a judge is charged at the
executor's price; what is lost is free; a run without prices starts all the same.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest
import pytest_asyncio

from tests.case_files import load
from tests.workflows import lab as labs
from tests.workflows.plan_stage import KSM, ZRAM, ZSWAP, Stage, staged, told
from tests.workflows.planned import PlannedModel, claim, sentence, sources
from tests.workflows.scripted import decision
from workflows.contracts.state import RunState
from workflows.contracts.task import Settings
from workflows.logic.details import details

PRICES = {"scripted": (10, 50), "a-judge": (3, 7)}  # US dollars for a million tokens
VARIABLES = {
    "OPENAI_MODEL_JUDGE": "a-judge",
    "SUREFOOT_PRICES": ",".join(f"{name}={p}/{c}" for name, (p, c) in PRICES.items()),
}
TOPICS = ["agent_loop", "tool_contract"]
CORPUS = load("control_flow_cases.json")["corpus"]
REACT: dict[str, Any] = {"goal": "Describe both", "required_topics": TOPICS, "strategy": "react"}
EXTRACTIVE = dict.fromkeys(("planner", "executor", "judge"), "extractive")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with staged(tmp_path_factory.mktemp("cost"), variables=VARIABLES) as ready:
        yield ready


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def priced(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[labs.Lab]:
    """The scripted notes, with two attempts an act; on a server of its own, as `stage` is."""
    home = tmp_path_factory.mktemp("priced")
    settings = Settings(attempts=2, model_seconds=6, search_seconds=10, heartbeat_seconds=5)
    async with (
        labs.server() as environment,
        labs.lab(environment, home, settings, variables=VARIABLES) as ready,
    ):
        ready.search.script("corpus", CORPUS)
        yield ready


def cost_of(model: str, prompt: int, completion: int) -> Decimal:
    dollars = PRICES[model][0] * prompt + PRICES[model][1] * completion
    return Decimal(dollars) / 1_000_000


def cost_of_requests(stage: Stage, tokens: tuple[int, int]) -> Decimal:
    """What the requests that reached the server cost, each with these tokens."""
    requests = stage.lab.model.requests
    return sum((cost_of(each["model"], *tokens) for each in requests), Decimal(0))


async def test_the_cost_is_what_the_usage_says_also_without_a_limit(stage: Stage) -> None:
    model = PlannedModel()
    model.tokens = (1234, 56)
    handle = await stage.start(model)
    result = await handle.result()
    assert result["status"] == "succeeded", told(result)
    assert {each["model"] for each in stage.lab.model.requests} == set(PRICES)
    assert Decimal(result["usage"]["cost"]) == cost_of_requests(stage, (1234, 56))
    status = await handle.query("status")
    assert status["usage"]["cost"] == result["usage"]["cost"]
    assert status["limits"]["max_cost"] is None
    state = RunState.model_validate(await handle.query("state"))
    row = f"| US dollars | {result['usage']['cost']} | – | – |"
    assert row in details(state).replace("\u00a0", "")


class Watched(PlannedModel):
    """A slow model that notes how many calls it had at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = (2000, 400)  # 0.04 dollars of the executor's, 0.0088 of the judge's
        self._count = threading.Lock()
        self._now = self.most = 0

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        """Take a moment."""
        with self._count:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(0.15)
        try:
            return super().__call__(request)
        finally:
            with self._count:
                self._now -= 1


RIVER = {"id": "river", "question": "What does a river carry?"}


@pytest.mark.parametrize("most", [0.34, 0.38, 0.42, 0.46, 0.5, 0.54])
async def test_branches_side_by_side_stay_within_the_limit(stage: Stage, most: float) -> None:
    model = Watched()
    topics = [KSM, ZSWAP, ZRAM, RIVER]  # all four cost about 0.63
    handle = await stage.start(model, required_topics=topics, limits={"max_cost": most})
    result = await asyncio.wait_for(handle.result(), labs.RUN_SECONDS)
    assert result["stop_reason"] == "cost_budget", told(result)
    assert result["status"] == "partially_succeeded"
    assert model.most > 1, "nothing ran side by side"
    assert Decimal(result["usage"]["cost"]) == cost_of_requests(stage, model.tokens)
    assert Decimal(result["usage"]["cost"]) <= Decimal(str(most)), told(result)
    assert result["claims"]["supported"] >= 1
    assert "[E1]" in result["report"]
    assert result["trajectory"]["budget_exhausted"]
    assert "ABORTED_BUDGET" in [failure["code"] for failure in result["failures"]]


async def test_claims_judged_side_by_side_stay_within_the_limit(stage: Stage) -> None:
    def written(user: dict[str, Any]) -> dict[str, Any]:
        number, passage = sources(user)[0]
        quote = sentence(passage)
        made = [claim(f"Claim {n}: {quote}", (number, quote)) for n in range(12)]
        return {"insufficient": "", "claims": made}

    model = PlannedModel(written_result=written)
    model.tokens = (2000, 400)
    plan = {"steps": [{"id": "s1", "goal": "Find KSM", "accept": "a quote", "topics": ["ksm"]}]}
    # The dear model judges: 12 support calls at 0.04 are more than there is.
    result = await stage.run(
        model,
        required_topics=[KSM],
        plan=plan,
        models={"executor": "judge", "judge": "default"},
        limits={"max_cost": 0.4},
    )
    assert 5 <= model.count("support") < 12, told(result)
    assert Decimal(result["usage"]["cost"]) == cost_of_requests(stage, model.tokens)
    assert Decimal(result["usage"]["cost"]) <= Decimal("0.4")
    assert result["stop_reason"] == "cost_budget", told(result)
    assert result["status"] == "partially_succeeded"
    assert result["claims"]["supported"] == model.count("support")


async def test_what_cannot_be_reserved_does_not_start(stage: Stage) -> None:
    # A plan needs its own call and one a topic: 0.075 and 0.0105 each, by the first estimate.
    result = await stage.run(PlannedModel(), limits={"max_cost": 0.0959})
    assert (result["stop_reason"], result["status"]) == ("cost_budget", "failed"), told(result)
    assert (result["usage"]["model_calls"], result["usage"]["cost"]) == (0, "0")
    result = await stage.run(PlannedModel(), limits={"max_cost": 0.096})
    assert result["status"] == "succeeded", told(result)


@pytest.mark.parametrize("strategy", ["plan", "react", "direct"])
async def test_without_a_price_there_is_no_limit_of_money(lab: labs.Lab, strategy: str) -> None:
    lab.search.script("corpus", CORPUS)
    result = await lab.run({**REACT, "strategy": strategy, "limits": {"max_cost": 5}})
    assert (result["status"], result["stop_reason"]) == ("failed", "invalid_input")
    failure = result["failures"][-1]
    assert failure["code"] == "FAILED_INPUT"
    assert "SUREFOOT_PRICES=scripted=" in failure["reason"]
    assert lab.model.requests == []


async def test_without_a_price_the_cost_is_nothing(lab: labs.Lab) -> None:
    lab.search.script("corpus", CORPUS)
    lab.model.script([decision("finish", draft="x")])
    handle = await lab.start(REACT)
    result = await handle.result()
    assert result["usage"]["model_calls"] == 1
    assert result["usage"]["cost"] == "0"
    state = RunState.model_validate(await handle.query("state"))
    assert "dollars" not in details(state)


async def test_without_tokens_direct_asks_nothing(lab: labs.Lab) -> None:
    lab.search.script("corpus", CORPUS)
    task = {**REACT, "strategy": "direct", "goal": "agent_loop", "limits": {"max_tokens": 0}}
    result = await lab.run(task)
    assert result["stop_reason"] == "token_budget"
    assert lab.model.requests == []


async def test_the_extractive_model_costs_nothing(stage: Stage) -> None:
    result = await stage.run(PlannedModel(), models=EXTRACTIVE, limits={"max_cost": 0})
    assert result["stop_reason"] == "completed", told(result)
    assert result["usage"]["cost"] == "0"


async def test_a_step_begins_only_with_room_for_its_first_decision(stage: Stage) -> None:
    # Two steps with 3 calls each and 2 for closing fit; with a decision each they do not, and a
    # step that cannot decide has nothing to write from.
    plan = {"steps": [
        {"id": topic["id"], "goal": f"Find {topic['id']}", "accept": "a quote",
         "topics": [topic["id"]]} for topic in (KSM, ZSWAP)]}  # fmt: skip
    result = await stage.run(PlannedModel(), plan=plan, limits={"max_model_calls": 8})
    assert (result["stop_reason"], result["status"]) == ("model_budget", "partially_succeeded")
    assert result["claims"]["supported"] >= 1, told(result)
    assert result["usage"]["searches"] == 1


async def test_react_ends_within_its_money(priced: labs.Lab) -> None:
    priced.model.script([decision("search", topic) for topic in TOPICS])
    # The first call reserves 1500 tokens at the dearer price, 0.075; each takes 0.0015.
    result = await priced.run({**REACT, "limits": {"max_cost": 0.0755}})
    assert result["stop_reason"] == "model_error", told(result)
    one = {"max_cost": 0.075}
    priced.model.script([{**decision("search", TOPICS[0]), "tokens": (3000, 900)}] * 2)
    result = await priced.run({**REACT, "limits": one})
    assert (result["stop_reason"], result["status"]) == ("cost_budget", "partially_succeeded")
    assert (result["usage"]["cost"], result["usage"]["model_calls"]) == ("0.075", 1)
    assert "[E1]" in result["report"]


@pytest.mark.parametrize(("most", "reason"), [(0.0749, "cost_budget"), (0.075, "completed")])
async def test_direct_asks_for_the_money_first(priced: labs.Lab, most: float, reason: str) -> None:
    answer = {"sufficient": True, "draft": "Described [E1]."}
    priced.model.script([{"kind": "decision", "value": answer}])
    task = {**REACT, "strategy": "direct", "goal": "agent_loop", "required_topics": TOPICS[:1]}
    result = await priced.run({**task, "limits": {"max_cost": most}})
    assert result["stop_reason"] == reason, told(result)
    assert len(priced.model.requests) == (reason == "completed")


async def test_a_lost_attempt_is_charged_its_reservation(priced: labs.Lab) -> None:
    broken = {"kind": "http", "status": 503}
    finish = decision("finish", draft="x")
    priced.model.script([{**decision("search", TOPICS[0]), "tokens": (200, 10)}, broken, finish])
    result = await priced.run(REACT)
    assert result["usage"]["model_attempts"] == 3, told(result)
    # one call, one more, and the lost attempt at what the first one took
    expected = 2 * cost_of("scripted", 200, 10) + cost_of("scripted", 100, 10)
    assert Decimal(result["usage"]["cost"]) == expected


async def test_a_call_that_is_cut_off_is_charged_its_reservation(priced: labs.Lab) -> None:
    priced.model.script([decision("search", TOPICS[0]), {"kind": "hang"}])
    handle = await priced.start(REACT)
    await labs.eventually(lambda: len(priced.model.requests) == 2)
    await handle.signal("stop")
    result = await handle.result()
    assert Decimal(result["usage"]["cost"]) == 2 * cost_of("scripted", 100, 10)
