"""The sandbox answers for contexts without being entered, and is a sandbox all the same."""

import uuid

import pytest
from temporalio.client import Client, WorkflowFailureError
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from runtime.connect import connect
from runtime.converter import data_converter
from runtime.embedded import EmbeddedServer
from runtime.workers import workflow_runner
from tests.runtime.echo import Rolls


async def test_what_replay_forbids_is_still_refused(server: EmbeddedServer) -> None:
    client: Client = await connect(data_converter(None), server.address)
    assert isinstance(workflow_runner(), SandboxedWorkflowRunner)
    queue = f"rolls-{uuid.uuid4()}"
    async with Worker(
        client, task_queue=queue, workflows=[Rolls], workflow_runner=workflow_runner()
    ):
        name = f"rolls-{uuid.uuid4()}"
        assert await client.execute_workflow(Rolls.run, False, id=name, task_queue=queue) in range(
            1, 7
        )
        with pytest.raises(WorkflowFailureError) as refused:
            await client.execute_workflow(Rolls.run, True, id=name, task_queue=queue)
    assert "random" in str(refused.value.cause)
