"""Searching and reading on inside of a step: several queries a turn, diagnosed when empty.

A repeated query is answered from memory and costs an attempt; three equivalent acts without news
are a stall (REQUIREMENTS 55, 98, 143; C4, C5).
"""

from workflows import ports
from workflows.carry import act_of
from workflows.contracts.acts import SearchInput, SearchResult
from workflows.contracts.plan_acts import LookInput, LookResult, ReadInput
from workflows.contracts.state import LEDGER_ENTRIES
from workflows.contracts.step_decision import StepAction
from workflows.contracts.task import ToolSpec
from workflows.engine import ActFailedError
from workflows.logic import outcome, step_ledger
from workflows.logic.effects import must_ask
from workflows.logic.progress import noted
from workflows.logic.step_rules import repeat_key, was_tried, wider
from workflows.model_acts import room_of
from workflows.step_acts import StepActs
from workflows.tool_calls import granted_call

SEARCH = ToolSpec(name="search")


class StepSearch:
    """The searches of one step."""

    def __init__(self, acts: StepActs) -> None:
        self.acts = acts
        self.engine, self.step, self.state = acts.engine, acts.step, acts.state

    async def queries(self, queries: list[str]) -> bool:
        """Several queries are one turn for progress, each one attempt; True if it is a stall."""
        before = self.state.fruitless
        news = found = False
        for query in queries:
            if room_of(self.engine).tool_calls < 1:
                break
            if self.acts.calls_left() < 1:
                break
            self.acts.reserve()
            if was_tried(self.state, query):
                step_ledger.repeated(self.state)
                self.acts.observed("search", query)
                continue
            result = await self.searched(query)
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

    async def searched(self, query: str) -> SearchResult:
        """One search, granted first where a person must be asked."""
        if must_ask(SEARCH, self.engine.task.approvals):
            call = await granted_call(
                self.engine, SEARCH, self.acts.call("search", {"query": query}), self.step.goal
            )
            if isinstance(call, SearchResult):
                self.acts.accepted(query, call, "search")
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
        summary = self.acts.summary(f"search '{query}'")
        result = await self.acts.perform(ports.search(self.engine.task.settings), inp, summary)
        step_ledger.accept(state, self.state, query, result)
        self.acts.observed("search", query)
        return result

    async def _diagnosed(self, query: str) -> bool:
        """Look into an empty result before anything is concluded from it (98; C4).

        One wider query, then one look at what the collections hold; whether that brought news.
        """
        if not self.state.widened:
            self.state.widened = True
            wide = wider(query)
            left = self.acts.calls_left()
            if wide and left > 0 and not was_tried(self.state, wide):
                self.acts.reserve()
                if (await self.searched(wide)).hits:
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

    async def read(self, action: StepAction) -> bool:
        """More of a source that a search found; True if it is a stall."""
        number = action.evidence_id.strip().lstrip("Ee")
        self.acts.reserve()
        if not number.isdigit() or int(number) not in self.state.numbers:
            known = ", ".join(f"E{n}" for n in self.state.numbers[:20])
            self.acts.refused(f"evidence_id: expected one of {known}")
            return False
        inp = ReadInput(
            **act_of(self.engine),
            number=int(number),
            locator=action.locator,
            page_ref=self.state.page_ref,
            page_numbers=self.state.page_numbers,
        )
        summary = self.acts.summary(f"read E{number}")
        result = await self.acts.perform(ports.read(self.engine.task.settings), inp, summary)
        self.acts.accepted(f"read E{number} {action.locator}".strip(), result, "read")
        return noted(
            self.engine.state.dag.repeats,
            repeat_key("read", f"{number} {action.locator}"),
            news=self.state.fruitless == 0,
        )
