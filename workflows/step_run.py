"""One round of one step: reach evidence, write (DESIGN, "The loops": step loop).

Each turn sends a snapshot built afresh. What cannot be reserved does not start; a step whose
search ends, for whatever reason, writes from what it has, out of what is kept back for it.
"""

from temporalio import workflow

from workflows import ports
from workflows.carry import act_of
from workflows.contracts.observation import Observation
from workflows.contracts.plan import Step
from workflows.contracts.plan_acts import StepActionResult, StepInput, Upstream, WriteResult
from workflows.contracts.plan_state import StepState
from workflows.contracts.step_decision import StepAction
from workflows.contracts.verdict import Verdict
from workflows.engine import Engine
from workflows.logic.plan_run import topics_of
from workflows.logic.routing import node_line
from workflows.logic.step_rules import Room, allowed_actions, calls_left
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
from workflows.step_acts import StepActs
from workflows.step_search import StepSearch
from workflows.step_tools import StepTools
from workflows.trajectory import record

_ANSWER = 2000  # characters of a question with its answer


class StepRun:
    """One round of a step; every change is made in `StepState` at once."""

    def __init__(self, engine: Engine, step: Step) -> None:
        self.engine = engine
        self.step = step
        self.state: StepState = engine.state.dag.steps[step.id]
        self.topics = topics_of(step, engine.task)
        self.acts = StepActs(engine, step)
        self.search = StepSearch(self.acts)
        self.tools = StepTools(self.acts, self.search)

    async def written(self) -> WriteResult | Verdict:
        """The step's written result, or the verdict on why there is none.

        Raises:
            RunEnded: the run was ended meanwhile.
            ExhaustedError: not even writing could be reserved.
        """
        if not self.step.tool:
            await self._resumed()
        if self.step.tool:
            failed = await self.tools.fixed(self.step.tool)
            if failed is not None:
                return failed
        else:
            stalled = await self._reach()
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
            await self.tools.called(call.shown["tool"], call.shown["args"])

    async def _reach(self) -> Verdict | None:
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

    async def _act(self, action: StepAction) -> bool:
        """Carry an action out; True when the step has stalled."""
        if action.action == "search":
            queries = [query for query in action.queries if query.strip()] or [self.step.goal[:80]]
            return await self.search.queries(list(dict.fromkeys(queries)))
        if action.action == "read":
            return await self.search.read(action)
        if action.action == "ask":
            await self._ask(action.question)
            return False
        return await self.tools.chosen(action)

    async def _ask(self, question: str) -> None:
        """A question that only the user can answer; an unanswered one ends the run's work.

        Raises:
            ExhaustedError: `unanswered`.
        """
        if not question.strip():
            self.acts.refused("question: expected what the user is to be asked")
            return
        request = await answer_of(self.engine, question, self.step.id, self.step.goal)
        if request.outcome != "answered":
            raise ExhaustedError("unanswered")
        self.state.answers.append(f"{question} -> {request.text} ({request.by})"[:_ANSWER])
        self.state.observation = Observation(ok=True, note=f"{request.by} answered")
        self.state.fruitless = 0

    async def _decide(self, allowed: list[str], room: Room) -> StepAction:
        port = ports.step_action(self.engine.task.settings)
        summary = self.acts.summary("decide")
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

    async def _write(self) -> WriteResult:
        result: WriteResult = await call_model(
            self.engine,
            ports.write(self.engine.task.settings),
            lambda call: self.snapshot(call, ["write", "insufficient"], 0),
            self.acts.summary("write"),
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
        why = result.insufficient or "; ".join(result.problems[:1])
        about = f"step={self.step.id} | attempt={self.state.attempts}"
        claims, rounds = len(result.outcomes), self.engine.state.dag.rounds
        workflow.logger.info(node_line(rounds, "executor", about, claims=claims, reason=why))
        return result

    def upstream(self) -> list[Upstream]:
        """Records of the steps that this one depends on (REQUIREMENTS 48; C18)."""
        return self.acts.upstream()
