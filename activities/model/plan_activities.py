"""`plan`, `step_action` and `write`: what planner and executor are asked within a plan.

Errors, heartbeats and accounts are those of `decide`. A reply of the planner whose shape is wrong
comes back as problems, so that it is asked for once more (C30); inside of a step an unusable reply
is a `ProtocolError`, and the workflow decides what that costs.
"""

import asyncio
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError
from temporalio import activity

from activities.heartbeat import heartbeats
from activities.model import plan_extractive
from activities.model.calls import call_seconds, no_tokens, unfenced
from activities.model.errors import application_error
from activities.model.gateway import Gateway, problems_of
from activities.model.plan_prompts import (
    plan_message,
    plan_system,
    step_message,
    step_system,
    write_system,
)
from activities.model.profiles import Profile
from activities.model.reply import ReplyError
from activities.model.request import Request
from activities.model.sources import StepSources, step_sources, texts_of
from activities.model.written import Checked, check_written
from activities.store.guard import check_store, evidence_lost
from activities.store.records import Records
from workflows.contracts import names
from workflows.contracts.acts import TokenUsage
from workflows.contracts.plan import Plan
from workflows.contracts.plan_acts import (
    PROBLEM_CHARACTERS,
    PROBLEMS_KEPT,
    PlanInput,
    PlanResult,
    StepActionResult,
    StepInput,
    WriteResult,
)
from workflows.contracts.step_decision import PlannedPlan, StepAction, WrittenResult
from workflows.contracts.task import ResolvedTask
from workflows.logic.plan_rules import PlanBounds, plan_problems, read_plan
from workflows.logic.quotes import find_quote

_M = TypeVar("_M", bound=BaseModel)
_FEWEST_STEPS: Final = 2


class PlanActivities:
    """Model calls of planner and executor."""

    def __init__(self, records: Records, gateway: Gateway) -> None:
        self._records = records
        self._gateway = gateway

    @activity.defn(name=names.PLAN)
    async def plan(self, inp: PlanInput) -> PlanResult:
        """A plan that code found valid, or what is wrong with it.

        Raises:
            ApplicationError: `WrongStore`, `EvidenceLost`, `ModelError`.
        """
        async with heartbeats():
            check_store(self._records, inp.store_id)
            with evidence_lost():
                task = await self._records.task(inp.run_id, inp.task_ref)
            profile = self._gateway.profile(task.planner)
            if profile.kind == "extractive":
                return PlanResult(plan=plan_extractive.plan(task), usage=no_tokens())
            fewest = 1 if len(task.topics) == 1 else _FEWEST_STEPS
            request = _request(
                PlannedPlan,
                "plan",
                plan_system(task.language),
                plan_message(task, inp, fewest),
                task,
            )
            content, usage = await self._gateway.content(profile, request)
            return _validated_plan(content, task, fewest, usage)

    @activity.defn(name=names.STEP_ACTION)
    async def step_action(self, inp: StepInput) -> StepActionResult:
        """One decision inside of a step; whether its quote stands in a source is checked here.

        Raises:
            ApplicationError: as `plan`, and `ProtocolError`.
        """
        async with heartbeats():
            task, sources = await self._load(inp)
            profile = self._gateway.profile(task.executor or task.planner)
            if profile.kind == "extractive":
                action = plan_extractive.step_action(task, inp)
                return StepActionResult(action=action, usage=no_tokens())
            request = _request(
                StepAction,
                "step_action",
                step_system(task.language),
                step_message(task, inp, sources.entries, sources.upstream),
                task,
            )
            action, usage = await self._complete(profile, request)
            if action.action not in inp.allow:
                raise application_error(
                    ReplyError(
                        f"action: expected one of {', '.join(inp.allow)}, found {action.action}",
                        usage,
                    ),
                    profile,
                    usage,
                )
            found = await self._stands(action.answer_quote, sources)
            return StepActionResult(action=action, quote_found=found, usage=usage)

    @activity.defn(name=names.WRITE)
    async def write(self, inp: StepInput) -> WriteResult:
        """A step's result, through the layers that need no model.

        Raises:
            ApplicationError: as `step_action`.
        """
        async with heartbeats():
            task, sources = await self._load(inp)
            profile = self._gateway.profile(task.executor or task.planner)
            if profile.kind == "extractive":
                hashes = plan_extractive.sources_to_quote(task, inp, sources.entries)
                texts = await texts_of(sources, hashes)
                record = await asyncio.to_thread(
                    plan_extractive.write, task, inp, sources.entries, texts
                )
                checked = Checked(record, None, [claim.outcome for claim in record.claims], [])
                usage = no_tokens()
            else:
                request = _request(
                    WrittenResult,
                    "written_result",
                    write_system(task.language),
                    step_message(task, inp, sources.entries, sources.upstream),
                    task,
                )
                written, usage = await self._complete(profile, request)
                with evidence_lost():
                    checked = await check_written(written, inp.step, inp.attempt, sources)
            return WriteResult(
                record_ref=await self._records.put(inp.run_id, checked.record),
                insufficient=checked.record.insufficient,
                verdict=checked.verdict,
                outcomes=checked.outcomes,
                problems=checked.problems,
                usage=usage,
            )

    async def _load(self, inp: StepInput) -> tuple[ResolvedTask, StepSources]:
        check_store(self._records, inp.store_id)
        with evidence_lost():
            task = await self._records.task(inp.run_id, inp.task_ref)
            sources = await step_sources(
                self._records, inp.run_id, inp.page_ref, inp.page_numbers, inp.upstream
            )
        return task, sources

    async def _stands(self, quote: str, sources: StepSources) -> bool:
        """Whether a quote stands in any source of the step."""
        if not quote.strip():
            return False
        hashes = [entry.sha256 for entry in sources.entries if entry.kind == "passage"]
        texts = await texts_of(sources, hashes)
        return any(find_quote(text, quote) is not None for text in texts.values())

    async def _complete(self, profile: Profile, request: Request[_M]) -> tuple[_M, TokenUsage]:
        """Call once and validate, a code fence around the reply taken off (C44)."""
        content, usage = await self._gateway.content(profile, request)
        try:
            return request.reply.model_validate_json(unfenced(content)), usage
        except ValidationError as error:
            raise application_error(ReplyError(problems_of(error), usage), profile, usage) from None


def _request(
    reply: type[_M], schema_name: str, system: str, user: str, task: ResolvedTask
) -> Request[_M]:
    return Request(
        reply=reply,
        schema_name=schema_name,
        system=system,
        user=user,
        timeout=call_seconds(task),
        attempt=activity.info().attempt,
    )


def _validated_plan(content: str, task: ResolvedTask, fewest: int, usage: TokenUsage) -> PlanResult:
    try:
        planned = PlannedPlan.model_validate_json(unfenced(content))
    except ValidationError as error:
        return PlanResult(problems=[problems_of(error)[:PROBLEM_CHARACTERS]], usage=usage)
    plan = read_plan(planned.model_dump())
    if isinstance(plan, Plan):
        bounds = PlanBounds(
            min_steps=fewest,
            max_steps=task.limits.max_steps,
            topics=[topic.id for topic in task.topics],
            tools=[spec.name for spec in task.specs],
        )
        problems = plan_problems(plan, bounds)
        if not problems:
            return PlanResult(plan=plan, usage=usage)
    else:
        problems = plan
    texts = [problem.text[:PROBLEM_CHARACTERS] for problem in problems[:PROBLEMS_KEPT]]
    return PlanResult(problems=texts, usage=usage)
