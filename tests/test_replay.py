"""Every recorded history replays with this code and ends in the state it ended in then.

How it can go wrong: a changed order of activities, a default read in workflow code, a rule that
decides otherwise for old runs. A replay alone does not compare results, so the state is compared
too; doctored histories show that both checks can fail.
"""

import base64
import json
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import (
    ExecuteWorkflowInput,
    Interceptor,
    Replayer,
    UnsandboxedWorkflowRunner,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)

from runtime.converter import data_converter
from runtime.workers import workflow_runner
from tests.situations import HISTORIES, INDEXING, SITUATIONS
from workflows.agent_run import AgentRun
from workflows.contracts.corpus import IndexResult
from workflows.contracts.state import RunState
from workflows.index_corpus import IndexCorpus

NAMES = sorted(p.stem for p in HISTORIES.glob("*.json") if not p.stem.endswith(".state"))
# One history is taken in the middle of a run; it replays, and has no end to compare.
ENDED_NAMES = [name for name in NAMES if (HISTORIES / f"{name}.state.json").exists()]
ENDED: list[dict[str, Any]] = []


class _Watch(WorkflowInboundInterceptor):
    """Keeps the state in which a run ends, however it ends; of the indexer, its result."""

    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:
        run = workflow.instance()
        if isinstance(run, AgentRun):
            try:
                return await super().execute_workflow(input)
            finally:
                ENDED.append(run.state())
        result = await super().execute_workflow(input)
        ENDED.append(result.model_dump())
        return result


class _Watching(Interceptor):
    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: ARG002 - the SDK passes it by name
    ) -> type[WorkflowInboundInterceptor]:
        return _Watch


def read(name: str) -> dict[str, Any]:
    return json.loads((HISTORIES / f"{name}.json").read_text("utf-8"))


async def replayed(history: dict[str, Any], name: str) -> dict[str, Any]:
    """The state a history ends in, without the sandbox, so that it can be looked at."""
    ENDED.clear()
    replayer = Replayer(
        workflows=[AgentRun, IndexCorpus],
        data_converter=data_converter(None),
        workflow_runner=UnsandboxedWorkflowRunner(),
        interceptors=[_Watching()],
    )
    await replayer.replay_workflow(WorkflowHistory.from_json(name, history))
    return ENDED[-1]


def test_every_situation_is_recorded() -> None:
    for situation in SITUATIONS:
        assert any(name.startswith(situation) for name in NAMES), situation


@pytest.mark.parametrize("name", NAMES)
async def test_history_replays_in_the_sandbox(name: str) -> None:
    replayer = Replayer(
        workflows=[AgentRun, IndexCorpus],
        data_converter=data_converter(None),
        workflow_runner=workflow_runner(),
    )
    await replayer.replay_workflow(WorkflowHistory.from_json(name, read(name)))


@pytest.mark.parametrize("name", ENDED_NAMES)
async def test_history_ends_in_the_state_it_ended_in_then(name: str) -> None:
    recorded = read(f"{name}.state")
    ended = await replayed(read(name), name)
    # Compared as models: a field that a later version added stands at its default.
    model = IndexResult if name == INDEXING else RunState
    assert model.model_validate(ended) == model.model_validate(recorded)


async def test_a_history_of_other_acts_fails() -> None:
    history = read("react_succeeded")
    for event in history["events"]:
        attributes = event.get("activityTaskScheduledEventAttributes", {})
        if attributes.get("activityType", {}).get("name") == "search":
            attributes["activityType"]["name"] = "answer"
    with pytest.raises(workflow.NondeterminismError):
        await replayed(history, "doctored")


async def test_a_history_with_another_answer_ends_in_another_state() -> None:
    history = read("react_gap")
    recorded = read("react_gap.state")
    for event in history["events"]:
        completed = event.get("activityTaskCompletedEventAttributes", {})
        for payload in completed.get("result", {}).get("payloads", []):
            value = json.loads(base64.b64decode(payload["data"]))
            if "decision" in value:
                value["decision"]["plan"] = ["another plan"]
                payload["data"] = base64.b64encode(json.dumps(value).encode()).decode()
    state = await replayed(history, "doctored")
    assert state["plan"] == ["another plan"]
    assert RunState.model_validate(state) != RunState.model_validate(recorded)
