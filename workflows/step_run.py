"""One round of one step: reach evidence, write, verify (DESIGN, "The loops": step loop).

Each turn sends a snapshot built afresh. What cannot be reserved does not start; a step whose
search ends, for whatever reason, writes from what it has, out of what is kept back for it.
"""

import json
from typing import Any, cast

from workflows import ports
from workflows.carry import act_of
from workflows.contracts.acts import SearchInput, SearchResult
from workflows.contracts.base import JsonObject
from workflows.contracts.observation import Observation
from workflows.contracts.plan import Step
from workflows.contracts.plan_acts import (
    LookInput,
    LookResult,
    ReadInput,
    StepActionResult,
    StepInput,
    ToolInput,
    Upstream,
    WriteResult,
)
from workflows.contracts.plan_state import StepState
from workflows.contracts.result import Failure
from workflows.contracts.state import LEDGER_ENTRIES
from workflows.contracts.step_decision import StepAction
from workflows.contracts.task import ToolSpec
from workflows.contracts.verdict import Verdict
from workflows.engine import ActFailedError, Engine
from workflows.logic import outcome, step_ledger
from workflows.logic.effects import must_ask
from workflows.logic.plan_run import topics_of
from workflows.logic.progress import noted
from workflows.logic.step_rules import (
    Room,
    allowed_actions,
    calls_left,
    repeat_key,
    was_tried,
    wider,
)
from workflows.model_acts import (
    DECISION_KEPT,
    STEP_NEEDS,
    ExhaustedError,
    MalformedError,
    call_model,
    is_decision_kept,
    room_of,
    why_no_decision,
)
from workflows.people import answer_of, pending
from workflows.tool_calls import granted_call
from workflows.trajectory import record

SEARCH = ToolSpec(name="search")
_FAILURES_KEPT = 20
_ANSWER = 2000  # characters of a question with its answer
_FINAL_ERRORS = ("validation", "permission", "rejected", "unknown_effect")


class StepRun:
    """One round of a step; every change is made in `StepState` at once."""

    def __init__(self, engine: Engine, step: Step) -> None:
        self.engine = engine
        self.step = step
        self.state: StepState = engine.state.dag.steps[step.id]
        self.topics = topics_of(step, engine.task)

    async def written(self) -> WriteResult | Verdict:
        """The step's written result, or the verdict on why there is none.

        Raises:
            RunEnded: the run was ended meanwhile.
            ExhaustedError: not even writing could be reserved.
        """
        if not self.step.tool:
            await self._resumed()
        if self.step.tool:
            failed = await self._fixed_call(self.step.tool)
            if failed is not None:
                return failed
        else:
            stalled = await self._search()
            if stalled is not None:
                return stalled
        return await self._write()

    async def _resumed(self) -> None:
        """Take up what the step waited for when its run continued as new (REQUIREMENTS 150)."""
        question = pending(self.engine, "question", self.step.id)
        if question is not None:
            await self._ask(str(question.shown["question"]))
        call = pending(self.engine, "tool", self.step.id)
        if call is not None:
            await self._called(call.shown["tool"], call.shown["args"])

    async def _search(self) -> Verdict | None:
        """Turns of decide and act, until the step is to write; a verdict if it has stalled."""
        while True:
            room = room_of(self.engine, kept=is_decision_kept(self.engine, self.step))
            allowed = allowed_actions(self.state, self.engine.task, room)
            if not allowed:
                self._check_worth_writing()
                return None
            try:
                action = await self._decide(allowed, room)
            except (ExhaustedError, MalformedError):
                return None  # what is there is written; a reply that cannot be used decides nothing
            if action.action in ("write", "insufficient"):
                return None
            if await self._act(action):
                return self._stalled()

    def _check_worth_writing(self) -> None:
        """With nothing to write from, a budget that allows no search ends the step."""
        if self.engine.task.rules < DECISION_KEPT or self.state.numbers or self.upstream():
            return
        exhausted = why_no_decision(self.engine)
        if exhausted is not None:
            raise ExhaustedError(exhausted)

    def _stalled(self) -> Verdict:
        reason = "the same search brought nothing new three times"
        return Verdict(passed=False, score=0.0, layer="goal", reason=reason, scope="global")

    async def _decide(self, allowed: list[str], room: Room) -> StepAction:
        port = ports.step_action(self.engine.task.settings)
        summary = f"{self.step.id} attempt {self.state.attempts}: decide"
        kept = is_decision_kept(self.engine, self.step)
        if kept:
            self.engine.needs[self.step.id] = STEP_NEEDS
        result: StepActionResult = await call_model(
            self.engine,
            port,
            lambda call: self.snapshot(
                call, allowed, calls_left(self.state, self.engine.task, room)
            ),
            summary,
            kept=kept,
        )
        action = result.action
        record(
            self.engine,
            "think",
            self.step.id,
            action=action.action,
            enough=action.enough,
            quote_found=result.quote_found,
            tokens=result.usage.prompt_tokens + result.usage.completion_tokens,
        )
        # A quote that code found and a model that calls it enough: no further search is needed.
        if result.quote_found and action.enough == "yes" and self.state.numbers:
            return action.model_copy(update={"action": "write"})
        return action

    def snapshot(self, call: int, allowed: list[str], remaining: int) -> StepInput:
        """What the next model call of this step sees."""
        return StepInput(
            **act_of(self.engine),
            call=call,
            step=self.step,
            attempt=self.state.attempts,
            reason=self.state.reason,
            topics=self.topics,
            page_ref=self.state.page_ref,
            page_numbers=self.state.page_numbers,
            upstream=self.upstream(),
            allow=allowed,
            queries=self.state.queries,
            fruitless=self.state.fruitless,
            remaining_tool_calls=remaining,
            looked=self.state.looked,
            answers=self.state.answers,
            last_observation=self.state.observation,
        )

    def upstream(self) -> list[Upstream]:
        """Records of the steps that this one depends on (REQUIREMENTS 48; C18)."""
        steps = self.engine.state.dag.steps
        return [
            Upstream(
                step=name,
                ref=steps[name].best_ref,
                page_ref=steps[name].page_ref,
                page_numbers=steps[name].page_numbers,
            )
            for name in self.step.depends_on
            if name in steps and steps[name].best_ref
        ]

    # --- acts

    async def _act(self, action: StepAction) -> bool:
        """Carry an action out; True when the step has stalled."""
        if action.action == "search":
            queries = [query for query in action.queries if query.strip()] or [self.step.goal[:80]]
            return await self._queries(list(dict.fromkeys(queries)))
        if action.action == "read":
            return await self._read(action)
        if action.action == "ask":
            await self._ask(action.question)
            return False
        return await self._tool_action(action)

    async def _queries(self, queries: list[str]) -> bool:
        """Several queries are one turn for progress, each one attempt."""
        before = self.state.fruitless
        news = found = False
        for query in queries:
            if room_of(self.engine).tool_calls < 1:
                break
            if calls_left(self.state, self.engine.task, room_of(self.engine)) < 1:
                break
            self._reserve_tool()
            if was_tried(self.state, query):
                step_ledger.repeated(self.state)
                self._observed("search", query)
                continue
            result = await self._searched(query)
            news = news or self.state.fruitless == 0
            found = found or bool(result.hits)
        if not found:
            news = await self._diagnosed(queries[0])
        # Several queries, the diagnosis included, are one turn.
        self.state.fruitless = 0 if news else before + 1
        stalled = [
            noted(self.engine.state.dag.repeats, repeat_key("search", q), news=news)
            for q in queries
        ]
        return any(stalled)

    async def _ask(self, question: str) -> None:
        """A question that only the user can answer; an unanswered one ends the run's work.

        Raises:
            ExhaustedError: `unanswered`.
        """
        if not question.strip():
            self._refused("question: expected what the user is to be asked")
            return
        request = await answer_of(self.engine, question, self.step.id, self.step.goal)
        if request.outcome != "answered":
            raise ExhaustedError("unanswered")
        self.state.answers.append(f"{question} -> {request.text} ({request.by})"[:_ANSWER])
        self.state.observation = Observation(ok=True, note=f"{request.by} answered")
        self.state.fruitless = 0

    async def _searched(self, query: str) -> SearchResult:
        if must_ask(SEARCH, self.engine.task.approvals):
            call = await granted_call(
                self.engine, SEARCH, self._call("search", {"query": query}), self.step.goal
            )
            if isinstance(call, SearchResult):
                self._accepted(query, call, "search")
                return call
            query = str(call.args["query"])
        state = self.engine.state
        state.usage.searches += 1
        inp = SearchInput(
            **act_of(self.engine),
            query=query,
            page_ref=self.state.page_ref,
            page_numbers=self.state.page_numbers,
            room=max(0, LEDGER_ENTRIES - len(state.ledger)),
        )
        summary = f"{self.step.id} attempt {self.state.attempts}: search '{query}'"
        result = await self._tool_act(ports.search(self.engine.task.settings), inp, summary)
        step_ledger.accept(state, self.state, query, result)
        self._observed("search", query)
        return result

    async def _diagnosed(self, query: str) -> bool:
        """Look into an empty result before anything is concluded from it (98; C4).

        One wider query, then one look at what the collections hold; whether that brought news.
        """
        if not self.state.widened:
            self.state.widened = True
            wide = wider(query)
            left = calls_left(self.state, self.engine.task, room_of(self.engine))
            if wide and left > 0 and not was_tried(self.state, wide):
                self._reserve_tool()
                if (await self._searched(wide)).hits:
                    return self.state.fruitless == 0
        if not self.state.looked:
            inp = LookInput(**act_of(self.engine), query=query)
            port = ports.look(self.engine.task.settings)
            try:
                looked: LookResult = await self.engine.perform(
                    port, inp, f"{self.step.id}: look at what the collections hold"
                )
            except ActFailedError as failed:
                looked = LookResult(note=outcome.error_text(failed.error_type, failed.message))
            self.state.looked = looked.note or "-"
        return False

    async def _read(self, action: StepAction) -> bool:
        number = action.evidence_id.strip().lstrip("Ee")
        self._reserve_tool()
        if not number.isdigit() or int(number) not in self.state.numbers:
            known = ", ".join(f"E{n}" for n in self.state.numbers[:20])
            self._refused(f"evidence_id: expected one of {known}")
            return False
        inp = ReadInput(
            **act_of(self.engine),
            number=int(number),
            locator=action.locator,
            page_ref=self.state.page_ref,
            page_numbers=self.state.page_numbers,
        )
        summary = f"{self.step.id} attempt {self.state.attempts}: read E{number}"
        result = await self._tool_act(ports.read(self.engine.task.settings), inp, summary)
        self._accepted(f"read E{number} {action.locator}".strip(), result, "read")
        return noted(
            self.engine.state.dag.repeats,
            repeat_key("read", f"{number} {action.locator}"),
            news=self.state.fruitless == 0,
        )

    async def _tool_action(self, action: StepAction) -> bool:
        """A tool that the model chose: host checks first (REQUIREMENTS 159, 160, 162)."""
        self._reserve_tool()
        try:
            arguments = json.loads(action.arguments_json or "{}")
        except ValueError as error:
            self._refused(f"arguments_json: expected a JSON object ({error})")
            return False
        if not isinstance(arguments, dict):
            self._refused("arguments_json: expected a JSON object")
            return False
        await self._called(action.tool, cast("JsonObject", arguments))
        return noted(
            self.engine.state.dag.repeats,
            repeat_key(action.tool, action.arguments_json),
            news=self.state.fruitless == 0,
        )

    async def _fixed_call(self, tool: str) -> Verdict | None:
        """Exactly the call that the plan names, without a decision; a verdict if it fails."""
        if self.state.effected or (self.state.page_ref and not self.state.reason):
            return None  # an effect is never caused twice for one step
        if pending(self.engine, "tool", self.step.id) is None:
            if room_of(self.engine).tool_calls < 1:
                raise ExhaustedError("tool_budget")
            self._reserve_tool()
        if tool == "search":
            query = str(self.step.args.get("query") or self.step.goal)[:80]
            result = await self._searched(query)
        else:
            result = await self._called(tool, self.step.args)
        if result.ok:
            return None
        reason = f"{tool}: {result.note or result.error}"
        scope = "global" if result.error in _FINAL_ERRORS else "local"
        return Verdict(passed=False, score=0.0, layer="evidence", reason=reason[:300], scope=scope)

    async def _called(self, tool: str, arguments: dict[str, Any]) -> SearchResult:
        task = self.engine.task
        spec = next((s for s in task.specs if s.name == tool and s.name != "search"), None)
        if spec is None:
            names = ", ".join(s.name for s in task.specs) or "none"
            self.engine.state.dag.denied += 1
            note = f"no tool {tool[:64]!r}; there are {names}"
            result = SearchResult(ok=False, error="validation", note=note)
        else:
            call = await granted_call(
                self.engine, spec, self._call(tool, arguments), self.step.goal
            )
            result = call if isinstance(call, SearchResult) else await self._made(spec, call)
        self._accepted(f"{tool} {json.dumps(arguments, ensure_ascii=False)}"[:200], result, tool)
        return result

    def _call(self, tool: str, arguments: dict[str, Any]) -> ToolInput:
        return ToolInput(
            **act_of(self.engine),
            step=self.step.id,
            tool=tool,
            args=arguments,
            ordinal=self.state.attempts,
            page_ref=self.state.page_ref,
            page_numbers=self.state.page_numbers,
            upstream=self.upstream(),
        )

    async def _made(self, spec: ToolSpec, call: ToolInput) -> SearchResult:
        """Make the call; of an effect that failed nobody knows whether it came about."""
        reads = spec.effect == "read"
        port = ports.tool(self.engine.task.settings, spec.seconds, reads=reads)
        summary = f"{self.step.id} attempt {self.state.attempts}: {call.tool}"
        if reads:
            return await self._tool_act(port, call, summary)
        self.state.effected = True
        result = await self._tool_act(port, call, summary)
        if result.ok or result.error == "validation":
            return result
        note = f"whether it took effect is not known: {result.note}"[:500]
        return result.model_copy(update={"error": "unknown_effect", "note": note})

    async def _tool_act(self, port: ports.Port, inp: Any, summary: str) -> SearchResult:
        """A failure is an observation, never an exception (REQUIREMENTS 174, 175)."""
        try:
            result: SearchResult = await self.engine.perform(port, inp, summary)
        except ActFailedError as failed:
            note = outcome.error_text(failed.error_type, failed.message)
            result = SearchResult(ok=False, error="tool_error", note=note)
        if not result.ok:
            reason = f"{summary}: {result.note or result.error}"[:500]
            failures = self.engine.state.failures
            failures.append(Failure(code="FAILED_TOOL", step=self.step.id, reason=reason))
            del failures[:-_FAILURES_KEPT]
        return result

    def _accepted(self, query: str, result: SearchResult, tool: str) -> None:
        step_ledger.accept(self.engine.state, self.state, query, result)
        self._observed(tool, query)

    def _refused(self, reason: str) -> None:
        result = SearchResult(ok=False, error="validation", note=reason)
        step_ledger.accept(self.engine.state, self.state, reason[:80], result)
        self._observed("refused", reason[:80])

    def _reserve_tool(self) -> None:
        self.state.tool_calls += 1
        self.engine.state.usage.tool_calls += 1

    def _observed(self, tool: str, arguments: str) -> None:
        seen = self.state.observation
        if seen is not None:
            record(
                self.engine,
                "tool" if seen.ok else "error",
                self.step.id,
                tool=tool,
                arguments=arguments[:200],
                ok=seen.ok,
                error=seen.error,
                numbers=seen.numbers,
                new_sources=seen.new_sources,
            )

    async def _write(self) -> WriteResult:
        result: WriteResult = await call_model(
            self.engine,
            ports.write(self.engine.task.settings),
            lambda call: self.snapshot(call, ["write", "insufficient"], 0),
            f"{self.step.id} attempt {self.state.attempts}: write",
            kept=True,
        )
        record(
            self.engine,
            "answer",
            self.step.id,
            claims=len(result.outcomes),
            insufficient=result.insufficient[:200],
            problems=result.problems[:3],
            tokens=result.usage.prompt_tokens + result.usage.completion_tokens,
        )
        return result
