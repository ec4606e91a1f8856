"""Whatever is typed into the Temporal CLI: a clear failure within a second, or the run goes on.

How it can go wrong: a run that sticks because its input does not decode, a signal that fails or
wedges a run, a stop that stops nothing (failures A01, A03, A05, A20).
"""

import asyncio
import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from tests.case_files import load
from tests.workflows.lab import Lab, eventually, history
from tests.workflows.scripted import decision
from workflows.contracts.names import AGENT_RUN, INVALID_TASK, QUEUE

CORPUS = load("control_flow_cases.json")["corpus"]
TASK = {"goal": "Neutral goal", "required_topics": ["agent_loop"], "strategy": "react"}


async def cli_start(lab: Lab, *inputs: str) -> str:
    run_id = f"cli-{uuid.uuid4().hex[:12]}"
    done = await lab.cli(
        "workflow",
        "start",
        "--type",
        AGENT_RUN,
        "--task-queue",
        QUEUE,
        "--workflow-id",
        run_id,
        *inputs,
    )
    assert done.returncode == 0, done.stderr
    return run_id


async def failure(lab: Lab, run_id: str) -> tuple[ApplicationError, float]:
    handle = lab.client.get_workflow_handle(run_id)
    with pytest.raises(WorkflowFailureError) as caught:
        await asyncio.wait_for(handle.result(), 20)
    assert isinstance(caught.value.cause, ApplicationError)
    described = await handle.describe()
    assert described.close_time
    assert described.start_time
    events = await history(handle)
    assert not any("ACTIVITY" in e["eventType"] for e in events)
    assert not any("TASK_FAILED" in e["eventType"] for e in events)
    return caught.value.cause, (described.close_time - described.start_time).total_seconds()


@pytest.mark.parametrize(
    ("inputs", "found"),
    [
        (("--input", '{"gaol": 1}'), "goal: is required"),
        ((), "no input"),
        (("--input", '{"goal": "x"}', "--input", '{"goal": "y"}'), "2 inputs"),
        (("--input", "null"), "null"),
        (("--input", "[]"), "a list"),
        (("--input", "5"), "the number 5"),
        (("--input", '"text"'), "the text 'text'"),
        (("--input", '{"goal": "x", "openai_api_key": "sk-secret"}'), "looks like a credential"),
        (
            (
                "--input",
                '{"goal": "x", "strategy": "react", "approvals": {"plan": true}}',
            ),
            "approvals.plan: belongs to strategy plan",
        ),
        (
            ("--input", "AAAA", "--input-base64", "--input-meta", "encoding=strange"),
            "cannot be decoded",
        ),
        (("--input", '{"goal": "x"}', "--input-meta", "encoding=strange"), "cannot be decoded"),
    ],
)
async def test_bad_input_fails_at_once_and_names_what_is_wrong(
    lab: Lab, inputs: tuple[str, ...], found: str
) -> None:
    error, seconds = await failure(lab, await cli_start(lab, *inputs))
    assert error.type == INVALID_TASK
    assert error.non_retryable
    assert found in error.message
    assert "sk-secret" not in error.message
    assert seconds < 5  # INTERFACE promises one second on a machine that is not shared
    assert lab.model.requests == []


async def test_a_byte_order_mark_before_the_json_is_named(lab: Lab, tmp_path: Path) -> None:
    file = tmp_path / "task.json"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(TASK).encode())
    run_id = f"bom-{uuid.uuid4().hex[:8]}"
    done = await lab.cli(
        "workflow", "start", "--type", AGENT_RUN, "--task-queue", QUEUE, "--workflow-id", run_id,
        "--input-file", str(file),
    )  # fmt: skip
    if done.returncode == 0:  # the CLI may refuse it itself
        error, _ = await failure(lab, run_id)
        assert error.type == INVALID_TASK


async def test_the_cli_starts_the_job(lab: Lab) -> None:
    lab.model.script(
        [decision("search", "agent_loop"), decision("finish", draft="Done.", sufficient=True)]
    )
    lab.search.script("corpus", CORPUS)
    run_id = await cli_start(lab, "--input", json.dumps(TASK))
    result = await lab.client.get_workflow_handle(run_id).result()
    assert (result["status"], result["stop_reason"]) == ("succeeded", "model_finished")


async def hanging_run(lab: Lab) -> Any:
    """A run that has evidence and waits for a model that does not answer."""
    lab.model.script([decision("search", "agent_loop"), {"kind": "hang"}])
    lab.search.script("corpus", CORPUS)
    handle = await lab.start(TASK)
    await eventually(lambda: len(lab.model.requests) == 2)
    return handle


SIGNAL_INPUTS = [
    (),
    ("--input", '"wrong"'),
    ("--input", "{}", "--input", "{}", "--input", "{}"),
]


async def test_no_message_makes_the_run_fail_or_stick(lab: Lab) -> None:
    handle = await hanging_run(lab)
    sent = [(name, given) for name in ("approve", "nonsense") for given in SIGNAL_INPUTS]
    sent += [("stop", given) for given in SIGNAL_INPUTS[1:]]
    for name, given in sent:
        done = await lab.cli("workflow", "signal", "-w", handle.id, "--name", name, *given)
        assert done.returncode == 0, done.stderr
    # Undecodable payloads and deep nesting too (failures A05).
    strange = Payload(metadata={"encoding": b"strange"}, data=b"\x00")
    await handle.signal("reject", RawValue(strange))
    await handle.signal("answer", {"text": "字" * 60_000, "nested": [[[[None]]]]})
    assert (await handle.query("status"))["stop_reason"] is None
    messages = (await handle.query("requests"))["messages"]
    assert [m["name"] for m in messages] == [*(name for name, _ in sent), "reject", "answer"]
    assert {m["outcome"] for m in messages} == {"ignored"}
    assert all(m["reason"] and len(m["payload"]) <= 500 for m in messages)
    assert "known are approve, reject, answer, stop" in messages[3]["reason"]
    done = await lab.cli(
        "workflow", "signal", "-w", handle.id, "--name", "stop", "--input", '{"by": "ann"}'
    )
    assert done.returncode == 0
    result = await handle.result()
    assert (result["status"], result["stop_reason"]) == ("stopped", "stopped")
    assert [e["source_id"] for e in result["evidence"]] == ["agent_loop"]
    assert result["usage"]["model_calls"] == 2
    events = await history(handle)
    assert not any("TASK_FAILED" in e["eventType"] for e in events)


async def test_stop_without_payload_ends_the_run_with_a_partial_report(lab: Lab) -> None:
    handle = await hanging_run(lab)
    done = await lab.cli("workflow", "signal", "-w", handle.id, "--name", "stop")
    assert done.returncode == 0
    result = await handle.result()
    assert result["status"] == "stopped"
    assert "[E1]" in result["report"]


async def test_a_stop_before_the_run_begins_is_not_lost(lab: Lab) -> None:
    handle = await lab.start(TASK, start_signal="stop", start_signal_args=[{"by": "ann"}])
    result = await handle.result()
    assert result["status"] == "stopped"
    assert lab.model.requests == []


async def test_an_update_is_refused_with_its_reason_and_leaves_no_trace(lab: Lab) -> None:
    handle = await hanging_run(lab)
    for payload, found in [
        ("yes", "malformed"),
        ({"request_id": "plan-1-00000000", "decision": "approve", "by": "ann"}, "no request"),
    ]:
        with pytest.raises(WorkflowUpdateFailedError) as caught:
            await handle.execute_update("decide", payload)
        assert found in str(caught.value.cause)
    assert (await handle.query("requests"))["messages"] == []
    await handle.signal("stop")
    await handle.result()


async def test_names_that_no_worker_knows_complete_the_run_as_invalid_input(lab: Lab) -> None:
    wishes = {"tools": ["fetch"], "datasets": ["dm"], "models": {"planner": "gpt"}}
    result = await lab.run({**TASK, **wishes})
    assert (result["status"], result["stop_reason"]) == ("failed", "invalid_input")
    assert {f["code"] for f in result["failures"]} == {"FAILED_INPUT"}
    reason = result["failures"][0]["reason"]
    assert "there are search" in reason
    assert "no dataset 'dm'" in reason
    assert "there are default" in reason or "extractive" in reason
    assert lab.model.requests == []


async def test_queries_of_a_run_never_fail(lab: Lab) -> None:
    handle = await hanging_run(lab)
    for name in ("status", "plan", "evidence", "requests", "trajectory", "report", "state"):
        json.dumps(await handle.query(name))
    details = await lab.cli("workflow", "metadata", "-w", handle.id)
    assert "model calls" in details.stdout
    await handle.signal("stop", {"by": "ann", "reason": "enough"})
    result = await handle.result()
    assert (await handle.query("report"))["report"] == result["report"]
    attributes = (await handle.describe()).typed_search_attributes
    shown = {pair.key.name: pair.value for pair in attributes}
    assert (shown["AgentStatus"], shown["AgentPhase"]) == ("stopped", "finished")
