"""The check that an activity answers from the store its run belongs to (DESIGN, "Embedded server").

Also the one place that turns lost evidence into the error Temporal must not retry.
"""

from collections.abc import Generator
from contextlib import contextmanager

from temporalio.exceptions import ApplicationError

from activities.store.base import EvidenceLostError
from activities.store.records import Records
from workflows.contracts import names


def check_store(records: Records, store_id: str) -> None:
    """Refuse a run of another store.

    Raises:
        ApplicationError: type `WrongStore`, retryable: a worker with the right store may take it.
    """
    if records.store.store_id != store_id:
        raise ApplicationError(
            f"this worker has evidence store {records.store.store_id}, the run belongs to"
            f" {store_id}: give all workers of a task queue the same SUREFOOT_STORE",
            type=names.WRONG_STORE,
        )


@contextmanager
def evidence_lost() -> Generator[None]:
    """Within it, `EvidenceLostError` becomes ApplicationError `EvidenceLost`, non-retryable."""
    try:
        yield
    except EvidenceLostError as error:
        raise ApplicationError(
            str(error)[:500], type=names.EVIDENCE_LOST, non_retryable=True
        ) from error
