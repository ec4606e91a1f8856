"""`decide` and `answer`: one model call each, beside heartbeats (DESIGN, "Failure").

Cancel reaches the HTTP call: the coroutine is cancelled and the connection closed. Errors come from
`activities.model.errors`, with what the failed call used in their details.
"""

import asyncio
from typing import TypeVar

from pydantic import BaseModel
from temporalio import activity

from activities.heartbeat import heartbeats
from activities.model import extractive
from activities.model.calls import call_seconds, no_tokens
from activities.model.gateway import Gateway
from activities.model.prompts import answer_system, decide_system, user_message
from activities.model.request import Request
from activities.store.guard import check_store, evidence_lost
from activities.store.records import Records
from workflows.contracts import names
from workflows.contracts.acts import AnswerResult, DecideInput, DecideResult
from workflows.contracts.decision import Answer, NextAction
from workflows.contracts.evidence import Entry
from workflows.contracts.task import ResolvedTask

_R = TypeVar("_R", bound=BaseModel)


class ModelActivities:
    """Model calls of a run."""

    def __init__(self, records: Records, gateway: Gateway) -> None:
        self._records = records
        self._gateway = gateway

    @activity.defn(name=names.DECIDE)
    async def decide(self, inp: DecideInput) -> DecideResult:
        """One decision of `react`.

        Raises:
            ApplicationError: `WrongStore`, `EvidenceLost`, `ModelError` or `ProtocolError`; the
                last two with details one `FailedAct`.
        """
        async with heartbeats():
            task, entries = await self._load(inp)
            profile = self._gateway.profile(task.planner)
            if profile.kind == "extractive":
                texts = await self._texts(inp, task, entries) if extractive.finishes(inp) else {}
                made = await asyncio.to_thread(extractive.decide, task, inp, entries, texts)
                return DecideResult(decision=made, usage=no_tokens())
            request = _request(
                NextAction, "next_action", decide_system(task.language), task, inp, entries
            )
            decision, usage = await self._gateway.complete(profile, request)
            return DecideResult(decision=decision, usage=usage)

    @activity.defn(name=names.ANSWER)
    async def answer(self, inp: DecideInput) -> AnswerResult:
        """The written answer of `direct`; errors as in `decide`."""
        async with heartbeats():
            task, entries = await self._load(inp)
            profile = self._gateway.profile(task.planner)
            if profile.kind == "extractive":
                texts = await self._texts(inp, task, entries)
                written = await asyncio.to_thread(extractive.answer, task, inp, entries, texts)
                usage = no_tokens()
            else:
                request = _request(
                    Answer, "answer", answer_system(task.language), task, inp, entries
                )
                written, usage = await self._gateway.complete(profile, request)
            return AnswerResult(sufficient=written.sufficient, draft=written.draft, usage=usage)

    async def _load(self, inp: DecideInput) -> tuple[ResolvedTask, list[Entry]]:
        check_store(self._records, inp.store_id)
        with evidence_lost():
            task = await self._records.task(inp.run_id, inp.task_ref)
            entries = await self._records.entries(inp.run_id, inp.page_ref, inp.page_first)
        return task, entries

    async def _texts(
        self, inp: DecideInput, task: ResolvedTask, entries: list[Entry]
    ) -> dict[str, str]:
        with evidence_lost():
            return {
                sha: await self._records.text(inp.run_id, sha)
                for sha in extractive.sources_to_quote(task, entries)
            }


def _request(
    reply: type[_R],
    schema_name: str,
    system: str,
    task: ResolvedTask,
    inp: DecideInput,
    entries: list[Entry],
) -> Request[_R]:
    return Request(
        reply=reply,
        schema_name=schema_name,
        system=system,
        user=user_message(task, inp, entries),
        timeout=call_seconds(task),
        attempt=activity.info().attempt,
    )
