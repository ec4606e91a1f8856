"""Waiting for a workflow's result through a server that dies and comes back.

The embedded server is restarted by whoever finds it dead, so a broken connection is no end. The
SDK repeats a broken call only within about 10 s of its start and the server renews a wait about
every 20 s, so each of these statuses can be the face of a server that was killed.
"""

import asyncio
from typing import Any, Final

from temporalio.client import WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from cli.execute import CommandError
from cli.pasted import pasted

_BROKEN: Final = frozenset(
    {
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.UNKNOWN,
        RPCStatusCode.INTERNAL,
        RPCStatusCode.CANCELLED,
    }
)
_PATIENCE: Final = 120.0  # seconds without any answer of the server before giving up
_ANSWERED: Final = 30.0  # seconds of a wait that only a server which answers lets pass
_RETRY_SECONDS: Final = 1.0


async def patient_result(handle: WorkflowHandle[Any, Any]) -> Any:
    """The result of a workflow.

    Raises:
        WorkflowFailureError: it ended otherwise.
        CommandError: the server has not answered for two minutes.
    """
    loop = asyncio.get_running_loop()
    silent_since: float | None = None
    while True:
        started = loop.time()
        try:
            return await handle.result()
        except RPCError as error:
            if error.status not in _BROKEN:
                raise
        now = loop.time()
        if silent_since is None or now - started > _ANSWERED:
            silent_since = now
        elif now - silent_since > _PATIENCE:
            raise CommandError(
                f"the Temporal server has not answered for {_PATIENCE:.0f} s; the run is kept: "
                f"`{pasted('watch', handle.id)}`"
            )
        await asyncio.sleep(_RETRY_SECONDS)
