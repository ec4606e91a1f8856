"""Calls that a person must grant: shown filled in, granted once, carried out exactly as granted.

A grant is bound to one call with its arguments (REQUIREMENTS 151; failures D07). A refusal with a
comment goes back to the step as a result, once; without one it ends the run (152; D09).
"""

from workflows import ports
from workflows.contracts.acts import SearchResult
from workflows.contracts.base import JsonObject
from workflows.contracts.plan_acts import CallChecked, ToolInput
from workflows.contracts.requests import Request
from workflows.contracts.task import ToolSpec
from workflows.engine import ActFailedError, Engine, RunEnded
from workflows.logic import outcome
from workflows.logic.edits import edited_args
from workflows.logic.effects import call_shown, effect_key, granted_before, must_ask
from workflows.logic.requests import digest_of
from workflows.people import asked, pending, rejected, run_id

_ASKED = 3  # times for one call whose edits were refused


async def granted_call(
    engine: Engine, spec: ToolSpec, inp: ToolInput, goal: str
) -> ToolInput | SearchResult:
    """The call as it may run, or the result that stands for it: what was wrong, or the refusal.

    Raises:
        RunEnded: it was rejected for good, nobody decided in time, or the run was ended.
    """
    if not must_ask(spec, engine.task.approvals):
        return inp
    note = ""
    for _ in range(_ASKED):
        request = pending(engine, "tool", inp.step)
        shown: JsonObject = request.shown if request is not None else {}
        if request is None:
            checked = await _checked(engine, inp)
            if checked.problem:
                return _refusal("validation", checked.problem)
            shown = call_shown(spec, checked.args, inp.step, goal)
            note = note or _granted_before(engine, spec.name, checked.args)
        request = await asked(engine, "tool", shown, step=inp.step, note=note)
        if request.outcome == "rejected":
            if rejected(engine, request, f"tool:{inp.step}"):
                raise RunEnded
            return _refusal("rejected", f"{request.by} refused this call: {request.comment}")
        if request.outcome not in ("approved", "edited"):
            raise RuntimeError(f"{request.id} {request.outcome}: it grants nothing")
        called = await _as_granted(engine, request, inp)
        if isinstance(called, ToolInput):
            return called
        note = called
    return _refusal("validation", note)


async def _as_granted(engine: Engine, request: Request, inp: ToolInput) -> ToolInput | str:
    """The call with what was granted, its digest computed again; why it may not run otherwise."""
    args: JsonObject = request.shown["args"]
    if request.edits is not None:
        args = edited_args(request.shown, request.edits)
        # What a person wrote is meant as it stands; nothing is filled in behind their back.
        checked = await _checked(engine, inp.model_copy(update={"args": args, "granted": True}))
        if checked.problem:
            return f"the arguments that {request.by} put in place were refused: {checked.problem}"
        request.digest = digest_of(run_id(), {**request.shown, "args": args})
    if digest_of(run_id(), {**request.shown, "args": args}) != request.digest:
        raise RuntimeError(f"{request.id} does not grant this call")
    key = effect_key(run_id(), inp.tool, args, request.number)
    update = {"args": args, "key": key, "granted": True, "ordinal": request.number}
    return inp.model_copy(update=update)


async def _checked(engine: Engine, inp: ToolInput) -> CallChecked:
    """Fill the arguments in and check them, where the tool is known; nothing runs."""
    port = ports.check_call(engine.task.settings)
    try:
        return await engine.perform(port, inp, f"{inp.step}: check the arguments of {inp.tool}")
    except ActFailedError as failed:
        return CallChecked(problem=outcome.error_text(failed.error_type, failed.message))


def _granted_before(engine: Engine, tool: str, args: JsonObject) -> str:
    before = granted_before(engine.state, tool, args)
    return f"the same call was granted before, as {before}" if before else ""


def _refusal(error: str, note: str) -> SearchResult:
    return SearchResult(ok=False, error=error, note=note[:500])
