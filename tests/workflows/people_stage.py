"""What tests of people in the loop share: waiting for a request, deciding, effects."""

import asyncio
import threading
import time
from typing import Any

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowHandle

from activities.tools.registry import Tool
from workflows.contracts.task import ToolSpec

BRIDGE: dict[str, Any] = {
    "id": "s1",
    "goal": "Send the note",
    "accept": "a line that says that it was sent",
    "tool": "send",
    "args": {"to": "ann", "text": "KSM merges pages"},
}


class Outbox:
    """What the tool `send` really sent; a tool with effects, for tests."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.fail: str = ""
        self._lock = threading.Lock()

    def send(self, arguments: dict[str, Any]) -> Any:
        """Send, or fail after having sent."""
        with self._lock:
            self.sent.append(arguments)
        if self.fail == "slow":
            time.sleep(30)
        if self.fail:
            raise OSError("the connection broke")
        return f"The note was sent to {arguments['to']}: {arguments['text']}."

    def tool(self) -> Tool:
        """As a worker offers it."""
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
            "required": ["to", "text"],
            "additionalProperties": False,
        }
        spec = ToolSpec(
            name="send", description="Sends a note.", schema_=schema, effect="write", seconds=20
        )
        return Tool(spec, self.send)


async def opened(
    handle: WorkflowHandle[Any, Any], kind: str, count: int = 1, seconds: float = 30
) -> dict[str, Any]:
    """The newest open request of a kind, once the run has asked `count` of them."""
    end = time.monotonic() + seconds
    while True:
        told = await handle.query("requests")
        every = [r for r in told["open"] + told["ended"] if r["kind"] == kind]
        waiting = [r for r in told["open"] if r["kind"] == kind]
        if waiting and len(every) >= count:
            return waiting[-1]
        if time.monotonic() > end:
            raise AssertionError(f"no open {kind} request: {told}")
        await asyncio.sleep(0.05)


async def say(handle: WorkflowHandle[Any, Any], name: str, request: Any, **more: Any) -> None:
    """A signal about a request."""
    known = request["id"] if isinstance(request, dict) else request
    await handle.signal(name, {"request_id": known, "by": "ann", **more})


async def fates(handle: WorkflowHandle[Any, Any]) -> list[str]:
    """How each message was taken, oldest first."""
    return [message["fate"] for message in (await handle.query("requests"))["messages"]]


async def outcomes(handle: WorkflowHandle[Any, Any]) -> list[str]:
    """How each request ended, oldest first; open ones last."""
    told = await handle.query("requests")
    return [request["outcome"] for request in told["ended"] + told["open"]]


async def activities(handle: WorkflowHandle[Any, Any]) -> list[str]:
    """Names of the activities that were scheduled."""
    return [
        event.activity_task_scheduled_event_attributes.activity_type.name
        async for event in handle.fetch_history_events()
        if event.HasField("activity_task_scheduled_event_attributes")
    ]


async def completed_tasks(handle: WorkflowHandle[Any, Any]) -> list[int]:
    """Where a run can be reset to: its completed workflow tasks, oldest first."""
    return [
        event.event_id
        async for event in handle.fetch_history_events()
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    ]


async def reset(
    client: Client, handle: WorkflowHandle[Any, Any], event: int
) -> WorkflowHandle[Any, Any]:
    """Reset a run's first execution to a completed workflow task; its signals come again."""
    told = await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(
                workflow_id=handle.id, run_id=handle.first_execution_run_id or ""
            ),
            workflow_task_finish_event_id=event,
            request_id=f"reset-{handle.id}-{event}",
        )
    )
    return client.get_workflow_handle(handle.id, run_id=told.run_id)
