"""What a run says of itself: its queries where a worker answers, its memo where none does."""

from datetime import timedelta
from typing import Any, Final, cast, get_args

from temporalio.client import (
    WorkflowExecution,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowQueryFailedError,
)
from temporalio.service import RPCError, RPCStatusCode

from cli.pasted import pasted
from cli.session import Session
from runtime.errors import UsageError
from workflows.contracts.names import MEMO
from workflows.contracts.requests import RequestKind

_QUERY_SECONDS: Final = 5.0
_KINDS: Final = get_args(RequestKind)


async def queried(session: Session, workflow_id: str, name: str) -> dict[str, Any] | None:
    """A query's answer; None where no worker gives one in time.

    Raises:
        RPCError: NOT_FOUND where there is no such run.
    """
    handle = session.client.get_workflow_handle(workflow_id)
    try:
        return await handle.query(name, rpc_timeout=timedelta(seconds=_QUERY_SECONDS))
    except WorkflowQueryFailedError:
        return None
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise
        return None


async def memo_of(execution: WorkflowExecution | WorkflowExecutionDescription) -> dict[str, Any]:
    """Our part of a run's memo; {} before there is one, and where it cannot be read.

    Whoever starts a run may give it a memo, and one run must not hide the others in a list.
    """
    try:
        memo: Any = (await execution.memo()).get(MEMO)
    except Exception:  # noqa: BLE001 - whatever a codec says to what is not ours
        return {}
    return cast("dict[str, Any]", memo) if isinstance(memo, dict) else {}


def asked_in(memo: dict[str, Any]) -> list[dict[str, Any]]:
    """The open requests that a memo names; [] where it holds anything else."""
    found: Any = memo.get("requests")
    items = cast("list[Any]", found) if isinstance(found, list) else []
    known = [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]
    return [item for item in known if {"id", "kind"} <= set(item) and item["kind"] in _KINDS]


async def open_run(session: Session, workflow_id: str) -> WorkflowExecutionDescription:
    """A run that can still take messages.

    Raises:
        UsageError: it has ended.
        RPCError: NOT_FOUND where there is no such run.
    """
    described = await session.client.get_workflow_handle(workflow_id).describe()
    if described.status is not WorkflowExecutionStatus.RUNNING:
        raise UsageError(f"{workflow_id} has already ended; `{pasted('show', workflow_id)}`")
    return described


def first_run_id(described: WorkflowExecutionDescription) -> str:
    """Run id of the first execution of a chain: the store's name for the run."""
    return described.raw_info.first_run_id or described.run_id


async def requests_of(
    session: Session, described: WorkflowExecutionDescription, *, answers: bool
) -> dict[str, Any]:
    """Requests and messages of a run.

    Returns:
        As query `requests` answers; without a worker `open` comes from the memo, where what is
        shown is cut, and `messages` is None.
    """
    known = await queried(session, described.id, "requests") if answers else None
    if known is not None:
        return known
    opened = asked_in(await memo_of(described))
    return {"language": "en", "open": opened, "ended": [], "messages": None}
