"""`support`, `goal`, `topic` and `conflict`: the judge, a role of its own (DESIGN, "Verification").

A reply that cannot be used is no error here but comes back as `malformed`, with what it cost: the
workflow asks once more and then goes on without a verdict, which is never a pass (C57).
"""

import json
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.heartbeat import heartbeats
from activities.model import judging
from activities.model.calls import call_seconds, loose_json, no_tokens
from activities.model.gateway import Gateway, problems_of
from activities.model.judge_prompts import judge_system
from activities.model.profiles import Profile
from activities.model.request import Request
from activities.model.sources import step_sources
from activities.store.guard import check_store, evidence_lost
from activities.store.records import Records
from workflows.contracts import names
from workflows.contracts.acts import ActInput, FailedAct, TokenUsage
from workflows.contracts.plan_acts import (
    PROBLEMS_KEPT,
    ConflictInput,
    ConflictResult,
    GoalInput,
    GoalResult,
    SupportInput,
    SupportResult,
    TopicInput,
    TopicResult,
)
from workflows.contracts.plan_state import Conflict
from workflows.contracts.step_decision import Conflicts, GoalJudgement, Support, TopicAnswer
from workflows.contracts.step_record import Finding, StepRecord
from workflows.contracts.task import ResolvedTask
from workflows.contracts.verdict import Verdict
from workflows.logic.verdicts import PASS_AT, Malformed, disagrees, goal_verdict

_MALFORMED: Final = 200
_M = TypeVar("_M", bound=BaseModel)


class JudgeActivities:
    """Model calls of the judge."""

    def __init__(self, records: Records, gateway: Gateway) -> None:
        self._records = records
        self._gateway = gateway

    @activity.defn(name=names.SUPPORT)
    async def support(self, inp: SupportInput) -> SupportResult:
        """Whether the passages of a claim support it.

        Raises:
            ApplicationError: `WrongStore`, `EvidenceLost`, `ModelError`.
        """
        async with heartbeats():
            task, profile = await self._load(inp)
            with evidence_lost():
                record = await self._records.record(inp.run_id, inp.record_ref)
                sources = await step_sources(
                    self._records, inp.run_id, inp.page_ref, inp.page_numbers, inp.upstream
                )
            claim = record.claims[inp.claims[0]]
            if profile.kind == "extractive":
                outcome, limitation, reason = judging.verbatim(claim)
                usage = no_tokens()
            else:
                user = judging.support_message(task, claim, sources.entries, inp.topics)
                said, malformed, usage = await self._asked(
                    profile, _request(Support, "support", user, task)
                )
                if said is None:
                    return SupportResult(malformed=malformed, usage=usage)
                with evidence_lost():
                    outcome, limitation, reason = await judging.weighed(said, sources)
            return SupportResult(
                outcomes=[outcome], limitations=[limitation], reasons=[reason], usage=usage
            )

    @activity.defn(name=names.GOAL)
    async def goal(self, inp: GoalInput) -> GoalResult:
        """The score of what is left of a step's text, and the record with every outcome.

        Raises:
            ApplicationError: as `support`.
        """
        async with heartbeats():
            task, profile = await self._load(inp)
            with evidence_lost():
                record = await self._records.record(inp.run_id, inp.record_ref)
            record = judging.with_outcomes(record, inp)
            if not inp.judge:
                return await self._recorded(inp, record, None, "", no_tokens())
            if profile.kind == "extractive":
                verdict: Verdict | Malformed = _without_judge(record)
                return await self._recorded(inp, record, verdict, "", no_tokens())
            user = json.dumps(
                {
                    "task": task.goal,
                    "goal": inp.goal,
                    "accept": inp.accept,
                    "output": judging.output_of(record.standing),
                },
                ensure_ascii=False,
            )
            content, malformed, usage = await self._content(
                profile, _request(GoalJudgement, "goal", user, task)
            )
            reply = loose_json(content)
            verdict = Malformed(malformed) if malformed else goal_verdict(reply)
            if isinstance(verdict, Malformed):
                return await self._recorded(inp, record, None, verdict.reason, usage)
            if disagrees(reply, verdict):
                activity.logger.info("judge: passed says otherwise than score %s", verdict.score)
            return await self._recorded(inp, record, verdict, "", usage)

    @activity.defn(name=names.TOPIC)
    async def topic(self, inp: TopicInput) -> TopicResult:
        """Which findings answer a topic; code checks the numbers.

        Raises:
            ApplicationError: as `support`.
        """
        async with heartbeats():
            task, profile = await self._load(inp)
            findings = await self._findings(inp, inp.findings_ref, inp.findings)
            if profile.kind == "extractive":
                numbers = [finding.number for finding in findings]
                answer = "answered" if numbers else "no"
                return TopicResult(answer=answer, findings=numbers, usage=no_tokens())
            topic = task.topics[inp.topic]
            user = json.dumps(
                {
                    "question": topic.question,
                    "findings": [judging.finding_view(finding) for finding in findings],
                },
                ensure_ascii=False,
            )
            said, malformed, usage = await self._asked(
                profile, _request(TopicAnswer, "topic", user, task)
            )
            if said is None:
                return TopicResult(malformed=malformed, usage=usage)
            return _answer(said, findings, usage)

    @activity.defn(name=names.CONFLICT)
    async def conflict(self, inp: ConflictInput) -> ConflictResult:
        """Real conflicts among findings of one topic.

        Raises:
            ApplicationError: as `support`.
        """
        async with heartbeats():
            task, profile = await self._load(inp)
            if profile.kind == "extractive":
                return ConflictResult(usage=no_tokens())
            findings = await self._findings(inp, inp.findings_ref, inp.findings)
            view = [judging.finding_view(finding, dates=True) for finding in findings]
            user = json.dumps({"findings": view}, ensure_ascii=False)
            said, malformed, usage = await self._asked(
                profile, _request(Conflicts, "conflicts", user, task)
            )
            if said is None:
                return ConflictResult(malformed=malformed, usage=usage)
            known = {finding.number for finding in findings}
            pairs = {
                (min(c.one, c.other), max(c.one, c.other)): c.about
                for c in said.conflicts
                if {c.one, c.other} <= known and c.one != c.other
            }
            return ConflictResult(
                conflicts=[
                    Conflict(one=one, other=other, about=about)
                    for (one, other), about in sorted(pairs.items())
                ],
                usage=usage,
            )

    async def _load(self, inp: ActInput) -> tuple[ResolvedTask, Profile]:
        check_store(self._records, inp.store_id)
        with evidence_lost():
            task = await self._records.task(inp.run_id, inp.task_ref)
        return task, self._gateway.profile(task.judge or task.planner)

    async def _findings(self, inp: ActInput, ref: str, numbers: list[int]) -> list[Finding]:
        with evidence_lost():
            every = await self._records.findings(inp.run_id, ref)
        return [finding for finding in every.findings if finding.number in numbers]

    async def _asked(
        self, profile: Profile, request: Request[_M]
    ) -> tuple[_M | None, str, TokenUsage]:
        """A validated reply, or why there is none."""
        content, malformed, usage = await self._content(profile, request)
        if malformed:
            return None, malformed, usage
        try:
            return request.reply.model_validate(loose_json(content)), "", usage
        except ValidationError as error:
            return None, problems_of(error)[:_MALFORMED], usage

    async def _content(
        self, profile: Profile, request: Request[Any]
    ) -> tuple[str, str, TokenUsage]:
        """What the judge wrote; a reply that breaks the protocol is malformed, not an error."""
        try:
            content, usage = await self._gateway.content(profile, request)
        except ApplicationError as error:
            if error.type != names.PROTOCOL_ERROR:
                raise
            account = error.details[0] if error.details else FailedAct()
            failed = FailedAct.model_validate(account, from_attributes=True)
            return "", error.message[:_MALFORMED], failed.usage
        return content, "", usage

    async def _recorded(
        self,
        inp: GoalInput,
        record: StepRecord,
        verdict: Verdict | None,
        malformed: str,
        usage: TokenUsage,
    ) -> GoalResult:
        record = record.model_copy(update={"verdict": verdict})
        problems = [
            f"removed: {claim.text[:80]!r}: {claim.note or claim.outcome}"
            for claim in record.claims
            if not claim.stands
        ]
        return GoalResult(
            record_ref=await self._records.put(inp.run_id, record),
            verdict=verdict,
            malformed=malformed[:_MALFORMED],
            counts=judging.counts_of(record),
            problems=problems[:PROBLEMS_KEPT],
            usage=usage,
        )


def _without_judge(record: StepRecord) -> Verdict:
    """Without a judge a step passes when anything verbatim stands; nothing says it answers."""
    stands = bool(record.standing)
    return Verdict(
        passed=stands,
        score=PASS_AT if stands else 0.0,
        layer="goal",
        reason="verbatim quotes, not judged" if stands else "nothing stands",
        scope="local" if stands else "global",
    )


def _answer(said: TopicAnswer, findings: list[Finding], usage: TokenUsage) -> TopicResult:
    known = {finding.number: finding for finding in findings}
    numbers = [number for number in dict.fromkeys(said.claims) if number in known]
    if said.answer == "no" or not numbers:
        return TopicResult(answer="no", usage=usage)
    # What only holds with a limitation covers no topic (DESIGN, "Verification").
    whole = any(known[number].claim.outcome == "supported" for number in numbers)
    answer = said.answer if whole else "partly"
    return TopicResult(answer=answer, findings=numbers, usage=usage)


def _request(reply: type[_M], schema_name: str, user: str, task: ResolvedTask) -> Request[_M]:
    return Request(
        reply=reply,
        schema_name=schema_name,
        system=judge_system(schema_name, task.language),
        user=user,
        timeout=call_seconds(task),
        attempt=activity.info().attempt,
    )
