"""kill -9 of session, worker and server in the middle of a plan; `resume` finishes the run.

How it can go wrong: a finished step is done again, a step in flight is lost, evidence stands twice,
what was verified is forgotten.
"""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.crash.sessions import at_home, ended, until
from tests.workflows.planned import PlannedModel, act, goal, support, write

pytestmark = [pytest.mark.crash, pytest.mark.timeout(240)]

RUN = "plan-1"
ASKED = ("--strategy", "plan", "--topic", "agent loop", "--topic", "tool contract")


@pytest.mark.parametrize("hanging", ["written_result", "goal"])
async def test_a_plan_goes_on_where_it_was(tmp_path: Path, hanging: str) -> None:
    reached = threading.Event()
    killed = threading.Event()

    def in_second(name: str, honest: Any) -> Any:
        """Hangs in the second step until everything was killed."""

        def reply(user: dict[str, Any]) -> Any:
            second = "s2" in str(user.get("step")) or "tool" in str(user).lower()
            if name == hanging and second and not killed.is_set():
                reached.set()
                return {"kind": "hang"}
            return honest(user) if callable(honest) else honest

        return reply

    model = PlannedModel(
        step_action=in_second("step_action", act),
        written_result=in_second("written_result", write),
        support=in_second("support", support()),
        goal=in_second("goal", goal()),
    )
    with at_home(tmp_path) as home:
        home.model.script(model)
        home.start("run", "What does each promise?", *ASKED, "--corpus", "notes", "--id", RUN)
        await asyncio.to_thread(until, reached.is_set)
        await asyncio.sleep(0.5)  # the first step goes on meanwhile
        killed.set()
        home.kill_all()
        home.model.script(model)
        result = await ended(home.start("resume", RUN, "--json"))
    assert (result["status"], result["coverage"]) == ("succeeded", 1.0), result["failures"]
    assert [step["attempts"] for step in result["steps"]] == [1, 1]
    sources = [item["source_id"] for item in result["evidence"] if not item["empty"]]
    assert len(sources) == len(set(sources))
    assert result["usage"]["model_calls"] <= result["usage"]["model_attempts"]
    assert model.count("written_result") <= 4  # one a step, each perhaps twice
