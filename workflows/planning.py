"""Making a plan: the caller's own, or the planner's, validated by code before anything runs.

One re-ask with what is wrong, and one when a plan that failed is proposed again; then the run
closes (REQUIREMENTS 24, 34, 35).
"""

from typing import NoReturn

from temporalio import workflow

from workflows import ports
from workflows.carry import act_of
from workflows.contracts.plan import Plan
from workflows.contracts.plan_acts import PlanInput, PlanResult
from workflows.contracts.result import StopReason
from workflows.engine import Engine, RunEnded
from workflows.logic.plan_identity import AskAgain, DeadEnd, GiveUp, after_planning, last_reasons
from workflows.logic.plan_run import adopt
from workflows.logic.routing import node_line
from workflows.model_acts import ExhaustedError, MalformedError, call_model
from workflows.trajectory import record
from workflows.visible import show_details

_DETAIL = 400


async def make_plan(engine: Engine, *, own: bool = True) -> None:
    """Adopt a valid plan.

    Args:
        engine: of the run.
        own: whether the caller's own plan is taken where there is one; not when a person wants
            another.

    Raises:
        RunEnded: there is none; the stop reason is set.
    """
    dag, task = engine.state.dag, engine.task
    problems = engine.state.prepared.plan_problems if engine.state.prepared else []
    given = task.plan if own else None
    if given is not None and problems:
        _end(engine, "plan_invalid", "; ".join(problems))
    plan = given if given is not None else await _planned(engine)
    adopt(dag, plan)
    record(
        engine, "think", "", action="plan", version=dag.version, steps=[s.id for s in plan.steps]
    )
    named = ",".join(step.id for step in plan.steps)
    workflow.logger.info(node_line(dag.rounds, "planner", "", version=dag.version, steps=named))
    show_details(engine.state)


async def _planned(engine: Engine) -> Plan:
    """Ask the planner until a plan is valid and new, each kind of re-ask once."""
    dag = engine.state.dag
    ends = [DeadEnd(end.fingerprint, end.reason, tuple(end.goals)) for end in dag.dead_ends]
    problems: list[str] = []
    repaired = asked_again = False
    while True:
        result = await _ask(engine, problems)
        if result.plan is None:
            problems = result.problems
            record(engine, "error", "", error="plan_invalid", problems=problems[:3])
            if repaired:
                _end(engine, "plan_invalid", "; ".join(problems))
            repaired = True
            continue
        goals = [step.goal for step in result.plan.steps]
        decision = after_planning(goals, ends, asked_again)
        if isinstance(decision, AskAgain):
            asked_again = True
            problems = [decision.reason]
            record(engine, "error", "", error="plan_repeated", problems=problems)
        elif isinstance(decision, GiveUp):
            engine.state.degraded = True
            _end(engine, "plan_repeated", decision.reason)
        else:
            return result.plan


async def _ask(engine: Engine, problems: list[str]) -> PlanResult:
    dag = engine.state.dag

    def argument(call: int) -> PlanInput:
        return PlanInput(
            **act_of(engine),
            call=call,
            dead_ends=dag.dead_ends,
            reasons=last_reasons(dag.failures),
            problems=problems,
            done=[f"{kept.step}: {kept.goal}"[:200] for kept in dag.kept.values() if kept.passed],
        )

    version = dag.version + 1
    try:
        return await call_model(
            engine, ports.plan(engine.task.settings), argument, f"Plan {version}"
        )
    except MalformedError as error:
        return PlanResult(problems=[str(error)[:_DETAIL]])
    except ExhaustedError as error:
        _end(engine, error.stop_reason, "no call is left for a plan")


def _end(engine: Engine, reason: StopReason, detail: str) -> NoReturn:
    engine.end(reason, detail[:_DETAIL])
    raise RunEnded
