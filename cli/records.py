"""Results and reports of runs as the evidence store keeps them: readable without a server."""

import json
from typing import Any, cast

from activities.store.base import EvidenceStore
from activities.store.files import StoreLocationError, open_store
from runtime.errors import UsageError
from runtime.settings import Env


def opened_store(env: Env) -> EvidenceStore:
    """The evidence store of this environment.

    Raises:
        UsageError: the location cannot be used, with the reason.
    """
    try:
        return open_store(env.store)
    except StoreLocationError as error:
        raise UsageError(str(error)) from None


async def stored_result(env: Env, workflow_id: str) -> dict[str, Any] | None:
    """The result of a run that has ended; None where the store holds none that can be read."""
    data = await opened_store(env).get_record("result", workflow_id)
    try:
        found: object = json.loads(data) if data is not None else None
    except ValueError:
        return None  # a damaged record is as good as none: the server may still know
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


async def stored_report(env: Env, workflow_id: str) -> str | None:
    """The whole report of a run, beyond the 64 KiB that stand in the result."""
    data = await opened_store(env).get_record("report", workflow_id)
    return None if data is None else data.decode("utf-8", "replace")
