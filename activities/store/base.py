"""The interface of the evidence store; a directory implements it, S3 can.

Objects are immutable and named by the SHA-256 of their bytes under the first execution run id of
their run (`<run>/<sha256>`). Named records (results, reports by workflow id) may be replaced.
"""

import hashlib
from typing import Protocol

from workflows.contracts.base import Ref


class EvidenceLostError(Exception):
    """An object is missing or its bytes do not match its hash; a retry cannot help."""


def ref_of(data: bytes) -> Ref:
    """`sha256:` and 64 hex digits."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


class EvidenceStore(Protocol):
    """Where full texts, index pages, tasks, reports and results lie."""

    @property
    def store_id(self) -> str:
        """Identity of the store, the same for every process that opens it."""
        ...

    async def put(self, run_id: str, data: bytes) -> Ref:
        """Keep bytes; atomic, idempotent."""
        ...

    async def get(self, run_id: str, ref: Ref) -> bytes:
        """Read bytes back, hash checked.

        Raises:
            EvidenceLostError: the object is missing or damaged.
        """
        ...

    async def put_record(self, kind: str, name: str, data: bytes) -> None:
        """Keep a named record, replacing it: kind `result` or `report` by workflow id, `effect`."""
        ...

    async def get_record(self, kind: str, name: str) -> bytes | None:
        """Read a named record, None where there is none."""
        ...

    async def list_records(self, kind: str) -> list[str]:
        """Names of the records of a kind."""
        ...
