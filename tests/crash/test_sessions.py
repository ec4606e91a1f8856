"""kill -9 of the embedded server, or of server and session, again and again under one run.

`test_embedded` kills once, in the middle of a run. Here one run is hit in every model call, after
every decision, and after every other act. How it can go wrong: the server does not come back on its
port and database, a session gives up though its server does, a finished act is done again, evidence
stands twice, a run is forgotten, a process stays behind.
"""

import asyncio
import signal
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from runtime.server_process import free_port
from tests.cli.console import finished
from tests.crash.sessions import Home, at_each_decision, at_home, ended, left_behind
from tests.crash.test_worker import essence
from tests.shown import show

pytestmark = [pytest.mark.crash, pytest.mark.timeout(300)]

AT_ONCE = 4
RUN = "run-1"
DECISIONS = 3  # two searches and the finish, as the stage's model decides
# Numbers of completed acts: prepare, decide, search, decide, search, decide, close. After the last
# decision the end is so near that a kill may come too late.
AFTER_DECISIONS = (2, 4)
AFTER_OTHERS = (1, 3, 5)
AFTER_ACTS = ((1, 4), (2, 5))
# The SDK repeats a call whose connection broke only within 10 s of the call's start, and the server
# answers a wait for a result every 20 s: between the two the break reaches the command line.
LONG_CALL = 13.0

Scenario = Callable[[Home], Awaitable[dict[str, Any]]]


@dataclass
class Outcome:
    """What a run came to, how often the model was asked, how often something was killed."""

    result: dict[str, Any]
    requests: int
    kills: int


async def play(path: Path, scenarios: dict[str, Scenario]) -> dict[str, Outcome]:
    """Play scenarios, some at a time, each in a state directory of its own."""
    limit = asyncio.Semaphore(AT_ONCE)

    async def one(name: str, scenario: Scenario) -> Outcome:
        async with limit:
            with at_home(path / name) as home:
                result = await scenario(home)
                return Outcome(result, len(home.model.requests), len(home.kills))

    tasks = [asyncio.create_task(one(*each), name=each[0]) for each in scenarios.items()]
    await asyncio.wait(tasks)  # each to its end, so that none runs on when another has failed
    return {task.get_name(): task.result() for task in tasks}


def compare(outcomes: dict[str, Outcome], reference: dict[str, Any]) -> None:
    """Nothing lost, nothing double: every act counted once, no evidence twice, no call for free."""
    for name, outcome in outcomes.items():
        assert essence(outcome.result) == essence(reference), name
        assert outcome.requests <= outcome.result["usage"]["model_attempts"], name
        assert outcome.requests <= DECISIONS + outcome.kills, name  # never a finished call again
        sources = [e["source_id"] for e in outcome.result["evidence"] if not e["empty"]]
        assert len(sources) == len(set(sources)), name


def kills(outcomes: dict[str, Outcome]) -> str:
    """How often something was killed, for the summary of the tests."""
    return ", ".join(f"{outcome.kills} times {name}" for name, outcome in outcomes.items())


@pytest.fixture(scope="module")
async def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The result of a run that nobody disturbs."""

    async def undisturbed(home: Home) -> dict[str, Any]:
        return await ended(home.run(RUN))

    played = await play(tmp_path_factory.mktemp("reference"), {"home": undisturbed})
    result = played["home"].result
    assert result["status"] == "succeeded"
    assert played["home"].requests == result["usage"]["model_attempts"] == DECISIONS
    return result


@pytest.fixture(autouse=True)
async def _nothing_stays_behind(  # pyright: ignore[reportUnusedFunction]  # autouse
    tmp_path: Path,
) -> AsyncGenerator[None]:
    yield
    left = left_behind(tmp_path)
    told = [f"{process.pid}: {process.cmdline()[:4]}" for process in left]
    for process in left:
        process.kill()
    psutil.wait_procs(left, timeout=10)
    assert told == []


# --- the server alone: its session's watchdog brings it back


async def server_in_calls(home: Home) -> dict[str, Any]:
    """Kill the server in each model call, which is answered at once."""

    def act(_: int) -> None:
        home.wait_for_server()  # the reply before may be ahead of the watchdog
        home.kill_server()

    home.model.script(at_each_decision(act))
    return await ended(home.run(RUN))


def server_after_acts(counts: Sequence[int]) -> Scenario:
    """Kill the server each time the run's history holds so many completed activities."""

    async def scenario(home: Home) -> dict[str, Any]:
        home.pace()
        session = home.run(RUN)
        for count in counts:
            await home.acts_completed(RUN, count)
            home.kill_server()
        home.watched.set()
        return await ended(session)

    return scenario


async def server_in_long_calls(home: Home) -> dict[str, Any]:
    """Kill the server in each model call, which is answered when the server is back.

    Before the first time the session has waited for a while.
    """

    def act(decision: int) -> None:
        if decision == 1:
            time.sleep(LONG_CALL)
        home.kill_server()
        home.wait_for_server()

    home.model.script(at_each_decision(act))
    return await ended(home.run(RUN))


async def test_a_killed_server_comes_back_and_the_run_ends_as_if_undisturbed(
    tmp_path: Path, reference: dict[str, Any]
) -> None:
    scenarios = {
        "in-long-calls": server_in_long_calls,
        "in-calls": server_in_calls,
        "after-decisions": server_after_acts(AFTER_DECISIONS),
        "after-others": server_after_acts(AFTER_OTHERS),
    }
    outcomes = await play(tmp_path, scenarios)
    compare(outcomes, reference)
    assert all(outcome.kills >= len(AFTER_DECISIONS) for outcome in outcomes.values())
    show("server killed under one session: " + kills(outcomes))


# --- session and server at once: `resume` goes on


async def all_in_calls(home: Home) -> dict[str, Any]:
    """Kill everything in each model call, and resume each time."""
    home.model.script(at_each_decision(lambda _: home.kill_all()))
    session = home.run(RUN)
    for _ in range(DECISIONS):
        assert await asyncio.to_thread(session.wait) == -signal.SIGKILL
        session = home.start("resume", RUN, "--json")
    return await ended(session)


def all_after_acts(counts: Sequence[int]) -> Scenario:
    """Kill everything each time so many activities have completed, and resume each time."""

    async def scenario(home: Home) -> dict[str, Any]:
        home.pace()
        session = home.run(RUN)
        for count in counts:
            await home.acts_completed(RUN, count)
            home.kill_all()
            assert await asyncio.to_thread(session.wait) == -signal.SIGKILL
            session = home.start("resume", RUN, "--json")
        home.watched.set()
        return await ended(session)

    return scenario


async def test_resume_finishes_a_run_whose_session_and_server_were_killed(
    tmp_path: Path, reference: dict[str, Any]
) -> None:
    scenarios = {
        "in-calls": all_in_calls,
        **{f"after-{counts}": all_after_acts(counts) for counts in AFTER_ACTS},
    }
    outcomes = await play(tmp_path, scenarios)
    compare(outcomes, reference)
    show("session and server killed under one run: " + kills(outcomes))


# --- a session alone, beside `serve`


async def session_beside_serve(home: Home) -> dict[str, Any]:
    """`serve` finishes the run of a session killed in a call; `resume` then has its result."""

    def act(decision: int) -> None:
        if decision == 2:
            home.kill_session()

    home.model.script(at_each_decision(act))
    serving = home.start("serve", "--port", str(free_port()))
    client = await home.client()
    session = home.run(RUN)
    assert await asyncio.to_thread(session.wait) == -signal.SIGKILL
    await asyncio.wait_for(client.get_workflow_handle(RUN).result(), 90)
    serving.send_signal(signal.SIGTERM)
    done = await asyncio.to_thread(finished, serving)
    assert done.code == 0, done.err
    return await ended(home.start("resume", RUN, "--json"))


async def test_serve_finishes_the_run_of_a_killed_session(
    tmp_path: Path, reference: dict[str, Any]
) -> None:
    outcomes = await play(tmp_path, {"serve": session_beside_serve})
    compare(outcomes, reference)
