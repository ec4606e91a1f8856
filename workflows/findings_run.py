"""Closing a plan: findings gathered by code, topics named by the judge, conflicts compared.

A topic is covered when a supported finding holds its names and the topic call names it, or when an
accepted source declares it (DESIGN, "Coverage"). What no call could judge is shown as partly.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from workflows import ports
from workflows.carry import act_of
from workflows.contracts.plan_acts import (
    ConflictInput,
    ConflictResult,
    GatherInput,
    GatherResult,
    TopicCandidates,
    TopicInput,
    TopicResult,
    Upstream,
)
from workflows.engine import Engine, RunEnded
from workflows.logic.plan_run import steps_of
from workflows.model_acts import ask_judge
from workflows.side_by_side import run_all
from workflows.trajectory import record


async def settle_topics(engine: Engine) -> None:
    """Gather findings and decide what each topic is, once; raises nothing but a cancel."""
    dag = engine.state.dag
    if dag.findings_ref or dag.plan is None or not records_of(engine):
        return
    gathered = await _gathered(engine)
    if gathered is None:
        return
    dag.findings_ref = gathered.findings_ref
    for candidates in gathered.topics:
        _take(engine, candidates)
    asked = [c for c in gathered.topics if c.findings and str(c.topic) not in dag.answers]
    try:
        if engine.state.stop_reason is None:
            await _judged(engine, asked, gathered.groups)
    except RunEnded:
        workflow.logger.debug("the run ended while its topics were judged")
    finally:
        _settled(engine, asked)


def _settled(engine: Engine, asked: list[TopicCandidates]) -> None:
    """What the calls said counts; what none has said is shown as partly, and counts as missing."""
    dag = engine.state.dag
    for candidates in asked:
        # Nobody judged these: shown, but counted as missing.
        dag.answers.setdefault(str(candidates.topic), "partly")
        dag.topic_findings.setdefault(str(candidates.topic), candidates.findings)
    for index in range(len(engine.task.topics)):
        said = dag.answers.setdefault(str(index), "no")
        if said in ("answered", "declared"):
            engine.state.covered.setdefault(str(index), said)


def records_of(engine: Engine) -> list[Upstream]:
    """The best record of each step in plan order; then results of plans before, newest last."""
    dag = engine.state.dag
    now = [
        Upstream(
            step=step.id,
            ref=state.best_ref,
            page_ref=state.page_ref,
            page_numbers=state.page_numbers,
        )
        for step in steps_of(dag)
        if (state := dag.steps[step.id]).best_ref
    ]
    taken = {record.ref for record in now}
    before = [
        Upstream(step=key, ref=kept.ref)
        for key, kept in dag.kept.items()
        if kept.passed and kept.ref not in taken
    ]
    return [*now, *before]


async def _gathered(engine: Engine) -> GatherResult | None:
    inp = GatherInput(**act_of(engine), records=records_of(engine))
    try:
        return await ports.gather().start(inp, "Gather the findings")
    except ActivityError as error:
        if is_cancelled_exception(error):
            raise asyncio.CancelledError from None  # closing gathers them then
        workflow.logger.warning("findings could not be gathered: %s", error.cause)
        engine.state.notes.append(f"findings could not be gathered: {error.cause}"[:300])
        return None


def _take(engine: Engine, candidates: TopicCandidates) -> None:
    """What needs no call: a source that declares the topic, or a judge that is code."""
    dag, key = engine.state.dag, str(candidates.topic)
    if candidates.declared or engine.state.covered.get(key) == "declared":
        dag.answers[key] = "declared"
        dag.topic_findings[key] = candidates.declared or candidates.findings
    elif engine.task.judge_extractive and candidates.findings:
        dag.answers[key] = "answered"
        dag.topic_findings[key] = candidates.findings


async def _judged(engine: Engine, asked: list[TopicCandidates], groups: list[list[int]]) -> None:
    calls = [_topic(engine, candidates) for candidates in asked]
    if engine.task.judge_extractive:
        engine.state.dag.compared = False
    else:
        calls += [_conflict(engine, group) for group in groups]
        engine.state.dag.compared = True
    await run_all(engine, calls)


async def _topic(engine: Engine, candidates: TopicCandidates) -> None:
    dag, task, key = engine.state.dag, engine.task, str(candidates.topic)

    def argument(call: int) -> TopicInput:
        return TopicInput(
            **act_of(engine),
            call=call,
            findings_ref=dag.findings_ref,
            topic=candidates.topic,
            findings=candidates.findings,
        )

    topic = task.topics[candidates.topic]
    result: TopicResult | None = await _asked(
        engine, ports.topic(task.settings), argument, f"topic '{topic.id[:60]}'"
    )
    if result is not None:
        dag.answers[key], dag.topic_findings[key] = result.answer, result.findings
        record(engine, "verdict", "", layer="topic", topic=topic.id, answer=result.answer)


async def _conflict(engine: Engine, group: list[int]) -> None:
    def argument(call: int) -> ConflictInput:
        return ConflictInput(
            **act_of(engine),
            call=call,
            findings_ref=engine.state.dag.findings_ref,
            findings=group,
        )

    result: ConflictResult | None = await _asked(
        engine, ports.conflict(engine.task.settings), argument, "compare findings"
    )
    if result is None:
        engine.state.dag.compared = False
    else:
        engine.state.dag.conflicts += result.conflicts


async def _asked(
    engine: Engine, port: ports.Port, argument: Callable[[int], Any], summary: str
) -> Any:
    result, problem, _ = await ask_judge(engine, port, argument, summary)
    if result is None:
        engine.state.notes.append(f"{summary}: no verdict ({problem})"[:300])
        engine.state.degraded = True
    return result
