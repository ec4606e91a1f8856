"""The `tool` activity: one call with checked arguments, its result kept as evidence.

A result is a source like any other: its text lies in the store, quotes are found in it, and it has
an evidence number (DESIGN, "State and history"). Failures of the work come back as results.
"""

import asyncio
import hashlib
import inspect
import json
from typing import Any, Final, cast

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.heartbeat import heartbeats
from activities.store.guard import check_store, evidence_lost
from activities.store.records import Records
from activities.tools.registry import ArgumentsError, Registry, Tool
from workflows.contracts import names
from workflows.contracts.acts import SearchResult
from workflows.contracts.base import JsonObject
from workflows.contracts.evidence import EXCERPT_CHARACTERS, SHORT_HASH, Entry, Hit, Page
from workflows.contracts.plan import ARGUMENT_BYTES, json_bytes
from workflows.contracts.plan_acts import CallChecked, ReadInput, ToolInput
from workflows.logic.pages import appended, numbered

TOOL_SOURCE: Final = "tool:"  # source ids of results: `tool:<name>:<step>`
RESULT_KEY: Final = "$result"  # {"$result": "s1"} stands for what the tool of step s1 gave
_RESULT_BYTES: Final = 1024 * 1024
_NOTE: Final = 300
_EFFECT: Final = "effect"  # kind of the records of effects, by their key
_ENTRIES: Final = 10  # of one result: the first 4,000 characters are shown to a model


class ToolActivities:
    """Calls of the worker's tools."""

    def __init__(self, records: Records, registry: Registry) -> None:
        self._records = records
        self._registry = registry

    @activity.defn(name=names.TOOL)
    async def tool(self, inp: ToolInput) -> SearchResult:
        """One call; the result's first passages stand on the step's next index page.

        Raises:
            ApplicationError: `WrongStore`, `EvidenceLost`, or `ToolError` before the last attempt.
        """
        check_store(self._records, inp.store_id)
        found = self._registry.get(inp.tool)
        attempt = activity.info().attempt
        if found is None:
            known = ", ".join(spec.name for spec in self._registry.specs()) or "none"
            return _failed(inp, "validation", f"no tool {inp.tool!r} here; there are {known}")
        with evidence_lost():
            task = await self._records.task(inp.run_id, inp.task_ref)
            outputs = await self._outputs(inp)
        try:
            arguments = _arguments(inp, outputs)
            self._registry.check(inp.tool, arguments)
        except ArgumentsError as error:
            return _failed(inp, "validation", str(error))
        key = inp.key if found.spec.effect != "read" else ""
        before = await self._effect_before(inp, key)
        if before is not None:
            return before
        try:
            async with heartbeats():
                text = _text(await _call(found, arguments))
            await self._effect(key, text)
        except Exception as error:  # whatever a tool raises is an observation (REQUIREMENTS 175)
            reason = f"{type(error).__name__}: {error}"[:_NOTE]
            if attempt < task.settings.attempts and found.spec.effect == "read":
                raise ApplicationError(reason, type=names.TOOL_ERROR) from error
            return _failed(inp, "tool_error", reason)
        if not text.strip():
            return SearchResult(ok=True, page_ref=inp.page_ref, note="the tool gave nothing")
        return await self._kept(inp, text)

    @activity.defn(name=names.CHECK_CALL)
    async def check_call(self, inp: ToolInput) -> CallChecked:
        """Fill a call's arguments in and check them, before a person is asked; nothing runs.

        Raises:
            ApplicationError: `WrongStore`, `EvidenceLost`.
        """
        check_store(self._records, inp.store_id)
        with evidence_lost():
            outputs = await self._outputs(inp)
        try:
            arguments = _arguments(inp, outputs)
            self._registry.check(inp.tool, arguments)
        except ArgumentsError as error:
            return CallChecked(problem=str(error))
        if json_bytes(arguments) > ARGUMENT_BYTES:
            limit = f"{ARGUMENT_BYTES} bytes of arguments"
            return CallChecked(problem=f"more than {limit}: nobody can be shown that much")
        return CallChecked(args=arguments)

    async def _outputs(self, inp: ToolInput) -> dict[str, Any]:
        """What the tools of the steps before gave, by step."""
        if inp.granted or RESULT_KEY not in json.dumps(inp.args):
            return {}
        outputs: dict[str, Any] = {}
        for step in inp.upstream:
            entries = await self._records.step_entries(inp.run_id, step.page_ref, step.page_numbers)
            made = [entry for entry in entries if entry.source_id.startswith(TOOL_SOURCE)]
            if made:
                outputs[step.step] = _output(await self._records.text(inp.run_id, made[-1].sha256))
        return outputs

    async def _effect_before(self, inp: ToolInput, key: str) -> SearchResult | None:
        """What became of the same effect when it was begun before; None if it begins now.

        A run that was reset behind a grant comes here again: a grant is used once, and an effect
        never happens twice (REQUIREMENTS 151, 172).
        """
        if not key:
            return None
        known = await self._records.store.get_record(_EFFECT, key)
        if known is None:
            await self._effect(key, None)
            return None
        text = json.loads(known)["text"]
        if text is None:
            return _failed(inp, "tool_error", "it was begun before, and how it ended is not known")
        kept = await self._kept(inp, text)
        return kept.model_copy(update={"note": "carried out before, under the same grant"})

    async def _effect(self, key: str, text: str | None) -> None:
        """Remember an effect: begun (None), or what it gave."""
        if key:
            data = json.dumps({"text": text}).encode()
            await self._records.store.put_record(_EFFECT, key, data)

    async def _kept(self, inp: ToolInput, text: str) -> SearchResult:
        data = text.encode()
        sha256 = hashlib.sha256(data).hexdigest()
        await self._records.store.put(inp.run_id, data)
        source = f"{TOOL_SOURCE}{inp.tool}:{inp.step}"
        at = activity.info().scheduled_time.isoformat(timespec="seconds")
        entries = [
            Entry(
                query=inp.tool,
                source_id=source,
                title=inp.tool,
                sha256=sha256,
                start=start,
                end=min(len(text), start + EXCERPT_CHARACTERS),
                excerpt=text[start : start + EXCERPT_CHARACTERS],
                origin=source,
                date=at[:10],
                retrieved_at=at,
            )
            for start in range(0, len(text), EXCERPT_CHARACTERS)
        ][:_ENTRIES]
        ref = await next_page(self._records, inp, entries)
        hit = Hit(source_id=source, title=inp.tool, sha=sha256[:SHORT_HASH], start=0, end=len(text))
        return SearchResult(ok=True, hits=[hit], page_ref=ref, attempt=activity.info().attempt)


async def next_page(records: Records, inp: ToolInput | ReadInput, entries: list[Entry]) -> str:
    """Write a step's next index page with these entries (see `SearchActivities`)."""
    if not inp.page_ref:
        return await records.put(inp.run_id, appended(Page(), None, entries))
    page = numbered(await records.page(inp.run_id, inp.page_ref), numbers=inp.page_numbers)
    ref = await records.put(inp.run_id, page)
    return await records.put(inp.run_id, appended(page, ref, entries))


async def _call(found: Tool, arguments: JsonObject) -> Any:
    async with asyncio.timeout(found.spec.seconds):
        # A plain function may block; an async one only makes its coroutine in the thread.
        raw = await asyncio.to_thread(found.run, arguments)
        return await raw if inspect.isawaitable(raw) else raw


def _arguments(inp: ToolInput, outputs: dict[str, Any]) -> JsonObject:
    """The arguments of a call; granted ones are what was shown, whatever they hold.

    They come from tools too: a `{"$result": ...}` inside of them is text that somebody wrote.
    """
    return inp.args if inp.granted else cast("JsonObject", _filled(inp.args, outputs))


def _filled(value: Any, outputs: dict[str, Any]) -> Any:
    """Arguments with the results of the steps before in place of `{"$result": step}`."""
    if isinstance(value, dict):
        fields = cast("JsonObject", value)
        if set(fields) == {RESULT_KEY}:
            name = str(fields[RESULT_KEY])
            if name not in outputs:
                known = ", ".join(outputs) or "none"
                raise ArgumentsError(
                    f"{RESULT_KEY}: step {name!r} gave this one no tool result; there are {known}"
                )
            return outputs[name]
        return {key: _filled(each, outputs) for key, each in fields.items()}
    if isinstance(value, list):
        return [_filled(each, outputs) for each in cast("list[Any]", value)]
    return value


def _text(raw: Any) -> str:
    """What a tool gave, as text that can be quoted: one line a row."""
    if raw is None:
        return ""
    if isinstance(raw, str):
        text = raw
    elif isinstance(raw, list):
        text = "\n".join(_line(row) for row in cast("list[Any]", raw))
    else:
        text = _line(raw)
    if len(text.encode()) > _RESULT_BYTES:
        raise ValueError(f"the result is larger than {_RESULT_BYTES} bytes")
    return text


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _output(text: str) -> Any:
    """A tool's result back from its text: its rows, one a line, or the text itself."""
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError:
        return text


def _failed(inp: ToolInput, error: str, note: str) -> SearchResult:
    return SearchResult(
        ok=False,
        error=error,
        page_ref=inp.page_ref,
        note=note[:_NOTE],
        attempt=activity.info().attempt,
    )
