"""The `search` activity: asks the backend, keeps the texts, writes the next index page.

Failures that belong to the work come back as results; failures of the world are retried by policy
and become a result on the last attempt (REQUIREMENTS 174, 175; DESIGN, "Failure").
"""

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.heartbeat import heartbeats
from activities.search.backend import (
    Found,
    FoundPassage,
    InvalidToolResultError,
    SearchBackend,
    SourceChangedError,
    ToolFailedError,
)
from activities.search.ledger_page import Laid, Layout
from activities.store.base import ref_of
from activities.store.guard import check_store, evidence_lost
from activities.store.records import Records
from workflows.contracts import names
from workflows.contracts.acts import SearchInput, SearchResult
from workflows.contracts.evidence import PAGE_ENTRIES, Entry, Page
from workflows.contracts.task import ResolvedTask
from workflows.logic.pages import appended, numbered

_PASSAGES = 5
_SEARCHES = 3  # a collection is seldom indexed again twice within one search
_ERROR_CHARACTERS = 500
_NOTE_CHARACTERS = 300


class SearchActivities:
    """Searches the collections of a run."""

    def __init__(self, records: Records, backend: SearchBackend) -> None:
        self._records = records
        self._backend = backend

    @activity.defn(name=names.SEARCH)
    async def search(self, inp: SearchInput) -> SearchResult:
        """One search; see `SearchResult` for the shape of what it brings.

        Raises:
            ApplicationError: `WrongStore` (retryable), `EvidenceLost` (not), `ToolError`
                (retryable, before the last attempt that the run's settings allow).
        """
        check_store(self._records, inp.store_id)
        with evidence_lost():
            task = await self._records.task(inp.run_id, inp.task_ref)
            known = await self._records.entries(
                inp.run_id, inp.page_ref, inp.page_first, inp.page_numbers
            )
            page = await self._page(inp)
        attempt = activity.info().attempt
        try:
            async with heartbeats():
                return await self._searched(inp, task, page, known)
        except ToolFailedError as error:
            text = str(error).strip() or names.TOOL_ERROR
            return _failed(inp, text[:_ERROR_CHARACTERS], "", attempt)
        except InvalidToolResultError as error:
            return _failed(inp, "invalid_tool_result", str(error)[:_NOTE_CHARACTERS], attempt)
        except Exception as error:  # whatever a tool raises is an observation (REQUIREMENTS 175)
            reason = f"{type(error).__name__}: {error}"[:_NOTE_CHARACTERS]
            activity.logger.warning("search failed: %s", reason)
            if attempt < task.settings.attempts:
                raise ApplicationError(reason, type=names.TOOL_ERROR) from error
            return _failed(inp, "tool_error", reason, attempt)

    async def _page(self, inp: SearchInput) -> Page:
        """The newest page, every entry on it with its number."""
        if not inp.page_ref:
            return Page()
        page = await self._records.page(inp.run_id, inp.page_ref)
        return numbered(page, inp.page_first, inp.page_numbers)

    async def _searched(
        self, inp: SearchInput, task: ResolvedTask, page: Page, known: list[Entry]
    ) -> SearchResult:
        laid = await self._laid(inp, task, known)
        return SearchResult(
            ok=True,
            hits=laid.hits,
            page_ref=await self._write(inp, page, laid.entries),
            note=laid.note,
            attempt=activity.info().attempt,
        )

    async def _laid(self, inp: SearchInput, task: ResolvedTask, known: list[Entry]) -> Laid:
        """Search and keep the new texts; once more where a new index came in between."""
        # The time of the first schedule is the same for every attempt, so pages are too.
        at = activity.info().scheduled_time.isoformat(timespec="seconds")
        for tries in range(1, _SEARCHES + 1):
            found = await self._backend.search(inp.query, task)
            _check(found)
            laid = Layout(task, known, inp.query, at).lay(found, inp.room)
            try:
                for passage in laid.fresh:
                    await self._keep(inp.run_id, passage)
            except SourceChangedError:
                if tries == _SEARCHES:
                    raise
            else:
                return laid
        raise AssertionError("the last try returns or raises")

    async def _keep(self, run_id: str, passage: FoundPassage) -> None:
        """Copy a source's whole text into the store: a later re-index changes nothing."""
        data = (await self._backend.text(passage)).encode()
        if ref_of(data) != "sha256:" + passage.sha256:
            raise InvalidToolResultError(
                f"the text of {passage.source_id} is not the version that was found"
            )
        await self._records.store.put(run_id, data)

    async def _write(self, inp: SearchInput, page: Page, entries: list[Entry]) -> str:
        """Write the next page. A page that is only linked or kept must hold its numbers too."""
        ref = inp.page_ref
        stays = not entries or len(page.entries) + len(entries) > PAGE_ENTRIES
        if stays and page.entries:
            ref = await self._records.put(inp.run_id, page)
        if not entries:
            return ref
        return await self._records.put(inp.run_id, appended(page, ref or None, entries))


def _check(found: Found) -> None:
    """Refuse an answer that breaks the backend's contract.

    Raises:
        InvalidToolResultError: too many passages, or a range that is none.
    """
    if len(found.passages) > _PASSAGES:
        raise InvalidToolResultError(
            f"expected at most {_PASSAGES} passages, found {len(found.passages)}"
        )
    for passage in found.passages:
        if not 0 <= passage.start < passage.end:
            raise InvalidToolResultError(
                f"{passage.source_id}: [{passage.start}:{passage.end}] is no range of characters"
            )


def _failed(inp: SearchInput, error: str, note: str, attempt: int) -> SearchResult:
    return SearchResult(ok=False, error=error, page_ref=inp.page_ref, note=note, attempt=attempt)
