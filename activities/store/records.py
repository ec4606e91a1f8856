"""Tasks and index pages as objects of the evidence store, with small caches by hash.

Objects are immutable, so what was read once stays true; caches are bounded.
"""

from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel

from activities.store.base import EvidenceStore
from workflows.contracts.base import Ref
from workflows.contracts.evidence import Entry, Page
from workflows.contracts.step_record import Findings, StepRecord
from workflows.contracts.task import ResolvedTask
from workflows.logic.pages import numbered

_CACHED = 256
_M = TypeVar("_M", bound=BaseModel)


class Records:
    """Typed reads and writes on an evidence store."""

    def __init__(self, store: EvidenceStore) -> None:
        self.store = store
        self._cache: dict[tuple[str, Ref], BaseModel] = {}

    async def put(self, run_id: str, model: BaseModel) -> Ref:
        """Keep a model as JSON."""
        ref = await self.store.put(run_id, model.model_dump_json().encode())
        self._remember(run_id, ref, model)
        return ref

    async def task(self, run_id: str, ref: Ref) -> ResolvedTask:
        """The resolved task of a run."""
        return await self._get(run_id, ref, ResolvedTask)

    async def page(self, run_id: str, ref: Ref) -> Page:
        """One index page."""
        return await self._get(run_id, ref, Page)

    async def entries(
        self, run_id: str, page_ref: str, page_first: int = 0, numbers: Sequence[int] = ()
    ) -> list[Entry]:
        """Every entry up to a page, oldest first, each with its evidence number."""
        if not page_ref:
            return []
        page = numbered(await self.page(run_id, page_ref), page_first, numbers)
        chain = [page.entries]
        while page.previous is not None:
            page = await self.page(run_id, page.previous)
            chain.append(page.entries)
        return [entry for entries in reversed(chain) for entry in entries]

    async def step_entries(
        self, run_id: str, page_ref: str, page_numbers: Sequence[int]
    ) -> list[Entry]:
        """Every entry of a step's own pages, oldest first, each with its evidence number."""
        return await self.entries(run_id, page_ref, numbers=page_numbers)

    async def record(self, run_id: str, ref: Ref) -> StepRecord:
        """What a step wrote."""
        return await self._get(run_id, ref, StepRecord)

    async def findings(self, run_id: str, ref: Ref) -> Findings:
        """The findings of a run."""
        return await self._get(run_id, ref, Findings)

    async def text(self, run_id: str, sha256: str) -> str:
        """The whole text of a source, by the 64 hex digits of its hash."""
        return (await self.store.get(run_id, "sha256:" + sha256)).decode()

    async def _get(self, run_id: str, ref: Ref, kind: type[_M]) -> _M:
        known = self._cache.get((run_id, ref))
        if isinstance(known, kind):
            return known
        model = kind.model_validate_json(await self.store.get(run_id, ref))
        self._remember(run_id, ref, model)
        return model

    def _remember(self, run_id: str, ref: Ref, model: BaseModel) -> None:
        if len(self._cache) >= _CACHED:
            self._cache.pop(next(iter(self._cache)))
        self._cache[run_id, ref] = model
