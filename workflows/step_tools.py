"""Calls of tools inside of a step: the model's choice, or exactly what the plan names.

Host checks come first (REQUIREMENTS 159, 160, 162); of an effect that failed nobody knows whether
it came about, and it is never caused twice (REQUIREMENTS 172, 190).
"""

import json
from typing import Any, cast

from workflows import ports
from workflows.contracts.acts import SearchResult
from workflows.contracts.base import JsonObject
from workflows.contracts.plan_acts import ToolInput
from workflows.contracts.step_decision import StepAction
from workflows.contracts.task import ToolSpec
from workflows.contracts.verdict import Verdict
from workflows.logic.progress import noted
from workflows.logic.step_rules import repeat_key
from workflows.model_acts import ExhaustedError, room_of
from workflows.people import pending
from workflows.step_acts import StepActs
from workflows.step_search import StepSearch
from workflows.tool_calls import granted_call

_FINAL_ERRORS = ("validation", "permission", "rejected", "unknown_effect")


class StepTools:
    """The tool calls of one step."""

    def __init__(self, acts: StepActs, search: StepSearch) -> None:
        self.acts = acts
        self.search = search
        self.engine, self.step, self.state = acts.engine, acts.step, acts.state

    async def chosen(self, action: StepAction) -> bool:
        """A tool that the model chose; True if it is a stall."""
        self.acts.reserve()
        try:
            arguments = json.loads(action.arguments_json or "{}")
        except ValueError as error:
            self.acts.refused(f"arguments_json: expected a JSON object ({error})")
            return False
        if not isinstance(arguments, dict):
            self.acts.refused("arguments_json: expected a JSON object")
            return False
        await self.called(action.tool, cast("JsonObject", arguments))
        return noted(
            self.engine.state.dag.repeats,
            repeat_key(action.tool, action.arguments_json),
            news=self.state.fruitless == 0,
        )

    async def fixed(self, tool: str) -> Verdict | None:
        """Exactly the call that the plan names, without a decision; a verdict if it fails."""
        if self.state.effected or (self.state.page_ref and not self.state.reason):
            return None  # an effect is never caused twice for one step
        if pending(self.engine, "tool", self.step.id) is None:
            if room_of(self.engine).tool_calls < 1:
                raise ExhaustedError("tool_budget")
            self.acts.reserve()
        if tool == "search":
            query = str(self.step.args.get("query") or self.step.goal)[:80]
            result = await self.search.searched(query)
        else:
            result = await self.called(tool, self.step.args)
        if result.ok:
            return None
        reason = f"{tool}: {result.note or result.error}"
        scope = "global" if result.error in _FINAL_ERRORS else "local"
        return Verdict(passed=False, score=0.0, layer="evidence", reason=reason[:300], scope=scope)

    async def called(self, tool: str, arguments: dict[str, Any]) -> SearchResult:
        """Call a tool of this run, granted first where a person must be asked."""
        task = self.engine.task
        spec = next((s for s in task.specs if s.name == tool and s.name != "search"), None)
        if spec is None:
            names = ", ".join(s.name for s in task.specs) or "none"
            self.engine.state.dag.denied += 1
            note = f"no tool {tool[:64]!r}; there are {names}"
            result = SearchResult(ok=False, error="validation", note=note)
        else:
            call = await granted_call(
                self.engine, spec, self.acts.call(tool, arguments), self.step.goal
            )
            result = call if isinstance(call, SearchResult) else await self._made(spec, call)
        self.acts.accepted(
            f"{tool} {json.dumps(arguments, ensure_ascii=False)}"[:200], result, tool
        )
        return result

    async def _made(self, spec: ToolSpec, call: ToolInput) -> SearchResult:
        """Make the call; of an effect that failed nobody knows whether it came about."""
        reads = spec.effect == "read"
        port = ports.tool(self.engine.task.settings, spec.seconds, reads=reads)
        summary = self.acts.summary(call.tool)
        if reads:
            return await self.acts.perform(port, call, summary)
        self.state.effected = True
        result = await self.acts.perform(port, call, summary)
        if result.ok or result.error == "validation":
            return result
        note = f"whether it took effect is not known: {result.note}"[:500]
        return result.model_copy(update={"error": "unknown_effect", "note": note})
