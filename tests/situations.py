"""Every situation a run can be in, as a script: recorded once, replayed by every later version.

`python -m tests.situations` records what is missing in `tests/histories`; `--all` records anew.
"""

import asyncio
import contextlib
import json
import sys
import tempfile
from collections.abc import Callable
from inspect import isfunction
from pathlib import Path
from typing import Any

from temporalio.client import WorkflowFailureError, WorkflowHandle

from tests.case_files import load
from tests.situation import Situation
from tests.situations_people import PEOPLE
from tests.workflows.lab import Lab, eventually, lab, server
from tests.workflows.planned import PlannedModel, act, goal, plan_for, step
from tests.workflows.scripted import decision
from workflows.contracts.names import INDEX_CORPUS, QUEUE
from workflows.contracts.task import Settings

HISTORIES = Path(__file__).parent / "histories"
CORPUS = load("control_flow_cases.json")["corpus"]
TOPICS = ["agent_loop", "tool_contract"]
SEARCHES = [decision("search", topic) for topic in TOPICS]
FINISH = decision("finish", draft="Both are described [E1] [E2].", sufficient=True)
HANG = {"kind": "hang"}
PLAN = {"strategy": "plan"}
PRICED = {"SUREFOOT_PRICES": "scripted=10/50"}
EXTRACTIVE = dict.fromkeys(("planner", "executor", "judge"), "extractive")

INDEXING = "index_corpus"  # the one situation of the other workflow


async def stop(lab: Lab, handle: WorkflowHandle[Any, Any]) -> None:
    """Stop the run while a model call hangs, after messages that change nothing."""
    await eventually(lambda: len(lab.model.requests) == 2)
    await handle.signal("approve", "yes")
    await handle.signal("nonsense", {})
    await handle.signal("stop", {"by": "ann", "reason": "enough"})


async def cancel(lab: Lab, handle: WorkflowHandle[Any, Any]) -> None:
    """Cancel the run while a model call hangs."""
    await eventually(lambda: len(lab.model.requests) == 2)
    await handle.cancel()


async def cancel_side_by_side(lab: Lab, handle: WorkflowHandle[Any, Any]) -> None:
    """Cancel a plan while a call of each of two steps hangs."""
    await eventually(lambda: len(lab.model.requests) == 3)
    await handle.cancel()


async def stop_side_by_side(lab: Lab, handle: WorkflowHandle[Any, Any]) -> None:
    """Stop a plan while a call of each of two steps hangs."""
    await eventually(lambda: len(lab.model.requests) == 3)
    await handle.signal("stop", {"by": "ann", "reason": "enough"})


async def until_middle(lab: Lab, handle: WorkflowHandle[Any, Any]) -> None:
    """Wait until one step of a plan is done and another one hangs."""
    while True:
        plan = await handle.query("plan")
        if [s["status"] for s in plan.get("steps", [])] == ["DONE", "RUNNING"]:
            return
        await asyncio.sleep(0.1)


def planned(**script: Any) -> Callable[[], PlannedModel]:
    """A model for plans, fresh for each play."""
    return lambda: PlannedModel(**script)


def dear() -> PlannedModel:
    """A model for plans whose calls cost 0.04 dollars each."""
    model = PlannedModel()
    model.tokens = (2000, 400)
    return model


def scores(*first: float) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Goal judgements: these, then passes."""
    left = list(first)
    return lambda _: goal(left.pop(0) if left else 0.9, reason="scripted")


def second_plan(user: dict[str, Any]) -> dict[str, Any]:
    """Another plan where one failed."""
    if not user["failed_plans"]:
        return plan_for(user)
    return {"steps": [step("n1", "Look it up elsewhere", topics=TOPICS[:1]),
                      step("n2", "Find tool_contract", topics=TOPICS[1:])]}  # fmt: skip


def hangs_in_second(user: dict[str, Any]) -> dict[str, Any]:
    """The second step's decision never comes."""
    return HANG if user["step"]["id"] == "s2" else act(user)


SITUATIONS: dict[str, Situation] = {
    "react_succeeded": Situation([*SEARCHES, FINISH]),
    "react_repeat_and_no_progress": Situation([SEARCHES[0], SEARCHES[0], decision("search", "x")]),
    "react_gap": Situation([SEARCHES[0], FINISH]),
    "react_tool_budget": Situation(SEARCHES, limits={"max_tool_calls": 1}),
    "react_model_budget": Situation(SEARCHES, limits={"max_model_calls": 1}),
    "react_token_budget": Situation(SEARCHES, limits={"max_tokens": 100}),
    "react_cost_budget": Situation(
        [{**SEARCHES[0], "tokens": (3000, 900)}], limits={"max_cost": 0.075}, variables=PRICED
    ),
    "react_model_error": Situation([SEARCHES[0], {"kind": "http", "status": 403}]),
    "react_protocol_error": Situation([SEARCHES[0], decision("search", " ")]),
    "react_tool_error": Situation([*SEARCHES, FINISH], [{"raises": "OSError"}] * 2),
    "react_retried": Situation([SEARCHES[0], {"kind": "http", "status": 503}, FINISH], attempts=2),
    "react_timeout": Situation([SEARCHES[0], HANG], limits={"max_active_seconds": 1.5}),
    "react_stopped": Situation([SEARCHES[0], HANG], meddle=stop),
    "react_cancelled": Situation([SEARCHES[0], HANG], meddle=cancel),
    "react_extractive": Situation([], task={"models": {"planner": "extractive"}}),
    "react_continued": Situation(
        [*SEARCHES, FINISH],
        flags=("--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=20"),
    ),
    "direct_completed": Situation(
        [{"kind": "decision", "value": {"sufficient": True, "draft": "Described [E1]."}}],
        task={"strategy": "direct", "goal": "agent_loop", "required_topics": TOPICS[:1]},
    ),
    "direct_empty": Situation([], task={"strategy": "direct"}),
    "plan_succeeded": Situation(planned(), task=PLAN),
    "plan_middle": Situation(
        planned(step_action=hangs_in_second), task=PLAN, meddle=until_middle, cut=True
    ),
    # From rules 3 on both calls are waited for before the run closes.
    "plan_cancelled": Situation(planned(step_action=HANG), task=PLAN, meddle=cancel_side_by_side),
    "plan_stopped": Situation(planned(step_action=HANG), task=PLAN, meddle=stop_side_by_side),
    "plan_local_retry": Situation(lambda: PlannedModel(goal=scores(0.6)), task=PLAN),
    "plan_replan": Situation(lambda: PlannedModel(plan=second_plan, goal=scores(0.2)), task=PLAN),
    "plan_repeated": Situation(
        planned(written_result={"insufficient": "nothing there", "claims": []}), task=PLAN
    ),
    "plan_verifier_error": Situation(planned(goal={"passed": True}), task=PLAN),
    "plan_invalid": Situation(planned(plan={"steps": []}), task=PLAN),
    "plan_model_budget": Situation(planned(), task=PLAN, limits={"max_model_calls": 7}),
    # One step of two fits: from rules 2 on it begins only with room for its first decision too.
    "plan_cost_budget": Situation(dear, task=PLAN, limits={"max_cost": 0.36}, variables=PRICED),
    "plan_extractive": Situation([], task={**PLAN, "models": EXTRACTIVE}),
    "plan_continued": Situation(
        planned(),
        task={**PLAN, "limits": {"max_concurrency": 1}},
        flags=("--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=40"),
    ),
    **PEOPLE,
    INDEXING: Situation([]),
    "invalid_input": Situation([], task={"tools": ["fetch"]}),
    "invalid_task": Situation([], task={"strategy": "none"}),
}


async def play(lab_: Lab, name: str) -> list[WorkflowHandle[Any, Any]]:
    """Play a situation to its end; handles of every run of its chain."""
    situation = SITUATIONS[name]
    made = situation.replies() if isfunction(situation.replies) else situation.replies
    lab_.model.script(made)
    lab_.search.script(situation.searches, CORPUS)
    if name == INDEXING:
        return [await _index(lab_)]
    task = {
        "goal": "Neutral goal",
        "required_topics": TOPICS,
        "strategy": "react",
        **situation.task,
    }
    if situation.limits:
        task["limits"] = situation.limits
    handle = await lab_.start(task, run_id=name.replace("_", "-"))
    await situation.meddle(lab_, handle)
    if situation.cut:
        return [handle]
    with contextlib.suppress(WorkflowFailureError):  # a refused and a cancelled run end so
        await asyncio.wait_for(handle.result(), 60)
    return await _chain(lab_, handle)


async def _index(lab_: Lab) -> WorkflowHandle[Any, Any]:
    path = lab_.home / "documents"
    path.mkdir()
    (path / "note.md").write_text("# Note\n\nA note on rivers and harbours.\n", "utf-8")
    handle = await lab_.client.start_workflow(
        INDEX_CORPUS, {"name": "notes", "path": str(path)}, id="index-corpus", task_queue=QUEUE
    )
    await handle.result()
    return handle


async def _chain(lab_: Lab, handle: WorkflowHandle[Any, Any]) -> list[WorkflowHandle[Any, Any]]:
    handles: list[WorkflowHandle[Any, Any]] = []
    following = handle.first_execution_run_id
    while following:
        one = lab_.client.get_workflow_handle(handle.id, run_id=following)
        handles.append(one)
        events = [event async for event in one.fetch_history_events()]
        last = events[-1].workflow_execution_continued_as_new_event_attributes
        following = last.new_execution_run_id or None
    return handles


async def record(names: list[str]) -> None:
    """Record histories, and the state each run ended in, beside each other."""
    for name in names:
        situation = SITUATIONS[name]
        settings = Settings(
            attempts=situation.attempts, model_seconds=6, search_seconds=10, heartbeat_seconds=5
        )
        with tempfile.TemporaryDirectory() as home:
            async with (
                server(situation.flags) as environment,
                lab(
                    environment,
                    Path(home),
                    settings,
                    tools=situation.tools,
                    variables=situation.variables,
                ) as ready,
            ):
                for n, handle in enumerate(await play(ready, name), 1):
                    stem = f"{name}_{n}" if situation.flags else name
                    history = await handle.fetch_history()
                    _write(HISTORIES / f"{stem}.json", _portable(json.loads(history.to_json())))
                    if not situation.cut:
                        ended = handle.result() if name == INDEXING else handle.query("state")
                        _write(HISTORIES / f"{stem}.state.json", await ended)
                    if situation.cut:
                        await handle.terminate()


def _portable(value: Any) -> Any:
    """Without stack traces and identities: they name paths and hosts of one machine."""
    if isinstance(value, dict):
        return {k: _portable(v) for k, v in value.items() if k not in ("stackTrace", "identity")}
    return [_portable(v) for v in value] if isinstance(value, list) else value


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    wanted = [
        name
        for name in SITUATIONS
        if "--all" in sys.argv or not list(HISTORIES.glob(f"{name}*.json"))
    ]
    asyncio.run(record(wanted))
