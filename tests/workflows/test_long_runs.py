"""Histories stay small however long a run is, and a run goes on in a fresh history unharmed.

How it can go wrong: a list that grows with the run in every activity's input (quadratic), hits
that stand in history twice, state lost or doubled by continue-as-new.
"""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from activities.search.corpus import CorpusBackend
from runtime.workers import running_workers
from tests.shown import show
from tests.workflows import lab as labs
from tests.workflows import long_run
from tests.workflows.scripted import ScriptedModel
from workflows.contracts.names import AGENT_RUN, QUEUE

CALLS = 300
MOST_BYTES = 3.5 * 1024
PROMPT_BYTES = 64_000  # the evidence part is bounded at 60,000 characters
FAST = ["--dynamic-config-value", "history.transferProcessorMaxPollRPS=10000"]


async def run(
    environment: Any, home: Path, calls: int
) -> tuple[dict[str, Any], Any, ScriptedModel]:
    await asyncio.to_thread(long_run.build_folder, home, calls - 1)
    with ScriptedModel() as model:
        model.script(long_run.script(calls))
        env = labs.environment(home, model.url)
        async with running_workers(environment.client, env, backend=CorpusBackend(home)):
            handle = await environment.client.start_workflow(
                AGENT_RUN, long_run.task(calls), id=f"long-{calls}", task_queue=QUEUE
            )
            result = await handle.result()
            runs = await long_run.chain_events(
                environment.client, handle.id, handle.first_execution_run_id
            )
            return result, runs, model


@pytest.mark.timeout(300)
async def test_history_grows_by_at_most_3_5_kb_a_pair(tmp_path: Path) -> None:
    async with labs.server() as environment:
        result, runs, model = await run(environment, tmp_path, CALLS)
    assert result["usage"]["model_calls"] == CALLS
    assert result["usage"]["searches"] == CALLS - 1
    numbers = [e["id"] for e in result["evidence"]]
    assert len(numbers) == len(set(numbers))
    size = long_run.bytes_per_pair(runs, 50, 250)
    show(f"history: {size:.0f} B a pair, call 50 to call 250, {len(runs)} run(s) in the chain")
    assert size <= MOST_BYTES
    # The snapshot is built afresh: it does not grow with the run either (REQUIREMENTS 179).
    assert max(long_run.user_message_size(r) for r in model.requests) < PROMPT_BYTES


@pytest.mark.timeout(300)
async def test_a_run_that_continues_as_new_ends_like_one_that_does_not(tmp_path: Path) -> None:
    calls = 40
    suggest = [*FAST, "--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=150"]
    async with labs.server() as environment:
        whole, one, _ = await run(environment, tmp_path / "whole", calls)
    async with labs.server(suggest) as environment:
        parts, many, _ = await run(environment, tmp_path / "parts", calls)
    assert len(one) == 1
    assert len(many) > 2
    show(f"continue-as-new: {len(many)} runs in a chain of {calls} model calls")
    for field in ("status", "stop_reason", "missing_topics", "claims", "evidence"):
        ours, theirs = whole[field], parts[field]
        if field == "evidence":
            ours, theirs = ([{**e, "retrieved_at": ""} for e in side] for side in (ours, theirs))
        assert ours == theirs
    counters = ("model_calls", "tool_calls", "searches", "prompt_tokens")
    assert [whole["usage"][c] for c in counters] == [parts["usage"][c] for c in counters]
