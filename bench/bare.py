"""The least a workflow can do for the same acts: a plain loop of `decide` and `search`.

No budgets, no state to show, no events, no messages: what `bench.pairs` holds `AgentRun` against.
Activities, their inputs, queues, timeouts and retry policies are those of `AgentRun`.
"""

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

from workflows.contracts import names
from workflows.contracts.acts import (
    DecideInput,
    DecideResult,
    PrepareInput,
    SearchInput,
    SearchResult,
)
from workflows.contracts.decision import NextAction
from workflows.contracts.observation import Observation
from workflows.contracts.task import Prepared, ResolvedTask, Task

BARE = "BareLoop"


@workflow.defn(name=BARE)
class Bare:
    """Search as the model says until it finishes."""

    @workflow.run
    async def run(self, task: Task) -> int:
        """Do so; the result is the number of sources found."""
        info = workflow.info()
        prepared: Prepared = await workflow.execute_activity(
            names.PREPARE,
            PrepareInput(run_id=info.run_id, workflow_id=info.workflow_id, task=task),
            task_queue=names.QUEUE,
            result_type=Prepared,
            start_to_close_timeout=timedelta(seconds=15),
        )
        resolved = prepared.task
        act: dict[str, Any] = {
            "run_id": info.run_id,
            "store_id": prepared.store_id,
            "task_ref": prepared.task_ref,
        }
        page_ref, page_first, sources, plan = "", 0, 0, list[str]()
        seen: Observation | None = None
        for call in range(1, resolved.limits.max_model_calls + 1):
            asked = DecideInput(
                **act,
                call=call,
                page_ref=page_ref,
                page_first=page_first,
                missing=[0],
                allow_search=True,
                remaining_tool_calls=resolved.limits.max_tool_calls - call + 1,
                no_progress=0,
                previous_plan=plan,
                last_observation=seen,
            )
            decision = await _decide(asked, resolved)
            if decision.action == "finish":
                break
            looked = SearchInput(
                **act,
                query=decision.query,
                page_ref=page_ref,
                page_first=page_first,
                room=1500 - sources,
            )
            found = await _search(looked, resolved)
            page_ref, page_first, plan = found.page_ref, sources + 1, decision.plan
            sources += len(found.hits)  # each is of a source of its own in this collection
            numbers = list(range(page_first, sources + 1))
            seen = Observation(ok=True, numbers=numbers, new_sources=len(numbers))
        return sources


async def _decide(asked: DecideInput, task: ResolvedTask) -> NextAction:
    result: DecideResult = await workflow.execute_activity(
        names.DECIDE,
        asked,
        task_queue=names.MODEL_QUEUE,
        result_type=DecideResult,
        start_to_close_timeout=timedelta(seconds=task.settings.model_seconds),
        cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        **_options(task),
    )
    return result.decision


async def _search(looked: SearchInput, task: ResolvedTask) -> SearchResult:
    return await workflow.execute_activity(
        names.SEARCH,
        looked,
        task_queue=names.TOOLS_QUEUE,
        result_type=SearchResult,
        start_to_close_timeout=timedelta(seconds=task.settings.search_seconds),
        **_options(task),
    )


def _options(task: ResolvedTask) -> dict[str, Any]:
    return {
        "heartbeat_timeout": timedelta(seconds=task.settings.heartbeat_seconds),
        "retry_policy": RetryPolicy(
            initial_interval=timedelta(seconds=1),
            maximum_interval=timedelta(seconds=60),
            maximum_attempts=task.settings.attempts,
            non_retryable_error_types=[
                names.PAYLOADS_TOO_LARGE,
                names.EVIDENCE_LOST,
                names.INVALID_TASK,
            ],
        ),
    }
