"""The loops of one step: `react` (decide, search, observe, again) and `direct` (search, answer).

Each turn sends a snapshot built afresh, never a growing transcript (REQUIREMENTS 179): the model
activity is handed the newest index page and the first evidence number on it, never hits again.
"""

import asyncio
from typing import Any

from workflows import ports
from workflows.carry import act_of, continue_as_new_if_suggested
from workflows.charge import Charge, next_cost
from workflows.contracts import names
from workflows.contracts.acts import (
    AnswerResult,
    DecideInput,
    DecideResult,
    SearchInput,
    SearchResult,
)
from workflows.contracts.decision import NextAction
from workflows.contracts.observation import Observation
from workflows.contracts.result import Failure
from workflows.contracts.state import LEDGER_ENTRIES
from workflows.engine import ActFailedError, Engine, RunEnded
from workflows.logic import ledger, outcome, react
from workflows.visible import show_details

_FAILURES_KEPT = 20


async def run_react(engine: Engine) -> None:
    """Search and finish as the model decides, within the budgets; ends with a stop reason."""
    while True:
        continue_as_new_if_suggested(engine)
        cost = next_cost(engine, names.DECIDE)
        step = react.before_decision(engine.state, engine.task, cost)
        if isinstance(step, react.Finish):
            engine.end(step.stop_reason)
            return
        decision = await _decide(engine, step)
        after = react.after_decision(engine.state, engine.task, decision)
        if isinstance(after, react.Finish):
            if after.stop_reason == "model_finished":
                engine.state.draft = decision.draft
                engine.state.sufficient = decision.sufficient
            engine.end(after.stop_reason)
            return
        engine.state.usage.tool_calls += 1
        if isinstance(after, react.Repeat):
            _observed(engine, ledger.repeated(engine.state))
        else:
            await _search(engine, after.query)


async def run_direct(engine: Engine) -> None:
    """The goal is the query: one search, one written answer.

    An empty result is `no_progress` without a model call (DESIGN, "The loops").
    """
    task, state = engine.task, engine.state
    if task.limits.max_tool_calls < 1 or "search" not in task.tools:
        engine.end("tool_budget")
        return
    state.plan = [task.goal[:120]]
    state.usage.tool_calls += 1
    observation = await _search(engine, task.goal)
    if not observation.ok:
        engine.end("step_failed", observation.note or observation.error)
        return
    if not ledger.has_evidence(state.ledger):
        engine.end("no_progress", observation.note)
        return
    exhausted = react.used_up(state, task, next_cost(engine, names.ANSWER))
    if exhausted is not None:
        engine.end(exhausted)
        return
    answer: AnswerResult = await _model_call(
        engine,
        ports.answer(task.settings),
        _snapshot(engine, allow_search=False, remaining=0),
        "Write the answer",
    )
    state.draft, state.sufficient = answer.draft, answer.sufficient
    engine.end("completed")


async def _decide(engine: Engine, step: react.Decide) -> NextAction:
    state = engine.state
    snapshot = _snapshot(
        engine, allow_search=step.allow_search, remaining=step.remaining_tool_calls
    )
    port = ports.decide(engine.task.settings)
    result: DecideResult = await _model_call(engine, port, snapshot, f"Decision {snapshot.call}")
    decision = result.decision
    state.plan, state.decision = decision.plan, decision
    engine.event("plan_updated", plan=decision.plan, action=decision.action)
    show_details(state)
    return decision


async def _model_call(engine: Engine, port: ports.Port, snapshot: DecideInput, summary: str) -> Any:
    """Reserve, call, settle; a call that failed for good ends the run with its reason."""
    engine.event("model_started", model_call=snapshot.call)
    # The snapshot counts the call already: it tells nothing of what a call takes.
    engine.reserved_calls += 1
    charge = Charge(engine, port.activity, next_cost(engine, port.activity))
    try:
        result = await engine.perform(port, snapshot, summary)
    except ActFailedError as failed:
        if failed.usage is None:
            engine.settle_lost()
        charge.settle(failed.usage)
        detail = outcome.error_text(failed.error_type, failed.message)
        engine.end(outcome.stop_reason_of(failed.error_type), detail)
        raise RunEnded from None
    except (RunEnded, asyncio.CancelledError):
        engine.settle_lost()
        charge.settle(None)
        raise
    finally:
        engine.reserved_calls -= 1
    engine.settle(result.usage)
    charge.settle(result.usage)
    return result


def _snapshot(engine: Engine, *, allow_search: bool, remaining: int) -> DecideInput:
    """Reserve a model call and build what it sees."""
    state = engine.state
    state.usage.model_calls += 1
    return DecideInput(
        **act_of(engine),
        call=state.usage.model_calls,
        page_ref=state.page_ref,
        page_first=state.page_first,
        missing=engine.missing(),
        allow_search=allow_search,
        remaining_tool_calls=remaining,
        no_progress=state.no_progress,
        previous_plan=state.plan,
        last_observation=state.observation,
    )


async def _search(engine: Engine, query: str) -> Observation:
    """One search whose attempt is already reserved; failures are observations."""
    state = engine.state
    state.query_keys.append(react.key_digest(query))
    state.usage.searches += 1
    inp = SearchInput(
        **act_of(engine),
        query=query,
        page_ref=state.page_ref,
        page_first=state.page_first,
        room=max(0, LEDGER_ENTRIES - len(state.ledger)),
    )
    try:
        result: SearchResult = await engine.perform(
            ports.search(engine.task.settings), inp, f"Search {query}"
        )
    except ActFailedError as failed:
        note = outcome.error_text(failed.error_type, failed.message)
        result = SearchResult(ok=False, error="tool_error", note=note)
    if not result.ok:
        reason = f"search {query[:80]!r}: {result.note or result.error}"
        state.failures.append(Failure(code="FAILED_TOOL", step="s1", reason=reason[:500]))
        del state.failures[:-_FAILURES_KEPT]
    return _observed(engine, ledger.accept(state, query, result))


def _observed(engine: Engine, observation: Observation) -> Observation:
    topics = engine.task.topics
    engine.event(
        "observation_recorded",
        ok=observation.ok,
        error=observation.error,
        new_sources=observation.new_sources,
        missing_topics=[topics[i].id for i in engine.missing()],
        no_progress=engine.state.no_progress,
    )
    show_details(engine.state)
    return observation
