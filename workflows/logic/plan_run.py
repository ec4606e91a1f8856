"""What a run does when no step is ready or running, and what its state says of its steps.

Replan or finalize is decided at rest, so that one step's failure stops nothing that does not need
it (C13, C53). Completion is looked at before any budget (REQUIREMENTS 122; C14).
"""

from dataclasses import dataclass

from workflows.contracts.plan import Plan, Step, StepStatus
from workflows.contracts.plan_state import FailedPlan, KeptResult, PlanState, StepPages, StepState
from workflows.contracts.result import StopReason
from workflows.contracts.task import ResolvedTask
from workflows.logic.plan_identity import fingerprint, reusable
from workflows.logic.schedule import propagate

_REASON = 300


@dataclass(frozen=True)
class Finish:
    """Close the run."""

    stop_reason: StopReason
    detail: str = ""


@dataclass(frozen=True)
class Replan:
    """Make another plan; why this one failed."""

    reason: str


def steps_of(dag: PlanState) -> list[Step]:
    """Steps of the current plan, in its order."""
    return dag.plan.steps if dag.plan else []


def topics_of(step: Step, task: ResolvedTask) -> list[int]:
    """Indexes of the required topics that a step serves."""
    return [index for index, topic in enumerate(task.topics) if topic.id in step.topics]


def statuses_of(dag: PlanState) -> dict[str, StepStatus]:
    """Status of each step."""
    return {name: step.status for name, step in dag.steps.items()}


def settle_blocks(dag: PlanState) -> None:
    """Tell BLOCKED from PENDING, transitively (REQUIREMENTS 45)."""
    for name, status in propagate(steps_of(dag), statuses_of(dag)).items():
        dag.steps[name].status = status


def required_done(dag: PlanState) -> bool:
    """Whether every required step is done; False without a plan."""
    steps = steps_of(dag)
    return bool(steps) and all(
        dag.steps[step.id].status in ("DONE", "SKIPPED") for step in steps if step.required
    )


def at_rest(dag: PlanState, task: ResolvedTask) -> Finish | Replan:
    """What happens when nothing is ready or running."""
    if required_done(dag):
        return Finish("completed")
    if dag.ending is not None:
        return Finish(dag.ending, dag.ending_detail)
    failed = [step for step in steps_of(dag) if dag.steps[step.id].status == "FAILED"]
    reason = failure_of(dag, failed)
    if task.plan is not None or task.extractive:
        # A caller's plan is the caller's to change; code would plan the same again.
        return Finish("step_failed", reason)
    if dag.replans >= task.limits.max_replans:
        return Finish("replan_limit", reason)
    return Replan(reason)


def failure_of(dag: PlanState, failed: list[Step]) -> str:
    """Why a plan failed, in a line a planner can use."""
    parts = [f"{step.id}: {dag.steps[step.id].reason or 'failed'}" for step in failed]
    return "; ".join(parts)[:_REASON]


def dead_end(dag: PlanState, reason: str) -> None:
    """Remember the plan that failed globally, once (REQUIREMENTS 34; C10)."""
    goals = [step.goal for step in steps_of(dag)]
    mark = fingerprint(goals)
    if all(known.fingerprint != mark for known in dag.dead_ends):
        dag.dead_ends.append(FailedPlan(fingerprint=mark, goals=goals, reason=reason))


def keep_result(dag: PlanState, step: Step, passed: bool) -> None:
    """Keep a step's best record under its plan version, for reuse and for the report (C12)."""
    state = dag.steps[step.id]
    if not state.best_ref:
        return
    dag.kept[f"{dag.version}/{step.id}"] = KeptResult(
        step=step.id,
        goal=step.goal,
        accept=step.accept,
        passed=passed,
        score=max(0.0, state.best_score),
        ref=state.best_ref,
        topics=step.topics,
        numbers=state.numbers,
    )


def adopt(dag: PlanState, plan: Plan) -> None:
    """Take a new plan: fresh steps, results and evidence stay (REQUIREMENTS 36).

    A step whose goal is close enough to one that passed starts from that result, which is verified
    against the new criterion before anything runs (REQUIREMENTS 37).
    """
    dag.version += 1
    dag.old_pages += [
        StepPages(ref=step.page_ref, numbers=step.page_numbers)
        for step in dag.steps.values()
        if step.page_ref
    ]
    dag.plan = plan
    dag.steps = {step.id: StepState() for step in plan.steps}
    passed = {key: kept for key, kept in dag.kept.items() if kept.passed}
    for name, key in sorted(reusable(passed, plan.steps).items()):
        kept = dag.kept[key]
        state = dag.steps[name]
        state.reused, state.best_ref, state.best_score = key, kept.ref, kept.score
        state.numbers = list(kept.numbers)
