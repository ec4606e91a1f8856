"""The plan before anything of it runs: shown, granted, edited, sent back once.

REQUIREMENTS 153-155. What was approved is what runs: the digest is computed again right before the
first step.
"""

from temporalio import workflow

from workflows import ports
from workflows.carry import act_of
from workflows.contracts.acts import RetaskInput
from workflows.contracts.plan import Plan
from workflows.contracts.requests import Request
from workflows.contracts.task import Prepared
from workflows.engine import Engine, RunEnded
from workflows.logic import plan_run
from workflows.logic.edits import edited_goal, edited_plan
from workflows.logic.headings import words_for
from workflows.logic.requests import digest_of, plan_shown
from workflows.people import asked, rejected, run_id
from workflows.planning import make_plan
from workflows.trajectory import record


async def granted_plan(engine: Engine) -> None:
    """Return when a person has granted the current plan; at once where nobody is to be asked.

    Raises:
        RunEnded: the plan was rejected for good, nobody decided in time, or the run was ended.
    """
    dag, note = engine.state.dag, ""
    if not engine.task.approvals.plan or dag.approved == dag.version:
        return
    while dag.approved != dag.version:
        if engine.state.phase != "awaiting_plan":
            engine.enter("awaiting_plan")
        request = await asked(engine, "plan", plan_shown(engine.state), note=note, carry=True)
        note = await _carried_out(engine, request)
    engine.enter("researching")


async def _carried_out(engine: Engine, request: Request) -> str:
    """What a decision leads to; a note for the next request, if there is one."""
    dag = engine.state.dag
    if request.outcome == "rejected":
        if rejected(engine, request, "plan"):
            raise RunEnded
        return await _repaired(engine, request)
    if request.outcome not in ("approved", "edited"):
        raise RuntimeError(f"{request.id} {request.outcome}: it grants nothing")
    if request.edits is not None:
        goal = edited_goal(request.edits)
        if goal:
            await _planned_anew(engine, goal)
            return ""
        plan = edited_plan(request.edits)
        if plan is None:
            raise RuntimeError(f"{request.id}: the edited plan is none")
        _adopted(engine, plan)
        request.digest = digest_of(run_id(), plan_shown(engine.state))
    if digest_of(run_id(), plan_shown(engine.state)) != request.digest:
        raise RuntimeError(f"{request.id} does not grant this plan")
    dag.approved = dag.version
    return ""


def _adopted(engine: Engine, plan: Plan) -> None:
    plan_run.adopt(engine.state.dag, plan)
    record(engine, "think", "", action="plan", version=engine.state.dag.version, edited=True)


async def _repaired(engine: Engine, request: Request) -> str:
    """One other plan that heeds the comment; the built-in model can heed none, and says so."""
    dag = engine.state.dag
    words = words_for(engine.task.language)
    if engine.task.extractive:
        return words("cannot_heed", by=request.by, comment=request.comment)
    why = f"{request.by} rejected this plan: {request.comment}"
    plan_run.dead_end(dag, why[:300])
    dag.failures.append(why[:500])
    engine.enter("planning")
    await make_plan(engine, own=False)
    return words("heeded", by=request.by, comment=request.comment)


async def _planned_anew(engine: Engine, goal: str) -> None:
    """Another goal: the task is resolved for it, and planned anew (REQUIREMENTS 155)."""
    engine.enter("planning")
    inp = RetaskInput(**act_of(engine), goal=goal)
    prepared: Prepared = await engine.perform(ports.retask(), inp, "Take the changed goal")
    engine.state.prepared, engine.state.goal = prepared, goal
    workflow.logger.info("the goal was changed by a person")
    await make_plan(engine, own=False)
