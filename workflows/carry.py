"""What a run carries: into a fresh history, and into every act."""

from typing import Any, Final

from temporalio import workflow

from workflows.engine import Engine, RunEnded

CARRIED: Final = "$carried"  # in a continued run's input: the state
CHAIN: Final = "$run"  # beside it: the first execution's run id, which no caller can know


def continue_as_new_if_suggested(engine: Engine, *, ended: bool = False) -> None:
    """Go on in a fresh history when Temporal suggests it; nothing is in flight between turns.

    Args:
        engine: of the run.
        ended: whether its work is over already, and only its report waits to be released.
    """
    if engine.state.stop_reason is not None and not ended:
        raise RunEnded
    if workflow.info().is_continue_as_new_suggested() and workflow.all_handlers_finished():
        engine.stop_watching()
        engine.tick()
        workflow.continue_as_new(
            {
                CARRIED: engine.state.model_dump(mode="json", exclude_defaults=True),
                CHAIN: workflow.info().first_execution_run_id,
            }
        )


def act_of(engine: Engine) -> dict[str, Any]:
    """What every act carries: run, store, task."""
    prepared = engine.state.prepared
    if prepared is None:
        raise RuntimeError("an act before the task is resolved")
    return {
        "run_id": workflow.info().first_execution_run_id,
        "store_id": prepared.store_id,
        "task_ref": prepared.task_ref,
    }
