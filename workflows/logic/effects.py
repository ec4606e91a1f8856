"""Which calls a person is asked for, and what an effect may never do twice (REQUIREMENTS 148-152).

Irreversible effects are always asked for, whatever a caller switches off (C24).
"""

import hashlib

from workflows.contracts.base import JsonObject
from workflows.contracts.state import RunState
from workflows.contracts.task import ResolvedApprovals, ToolSpec
from workflows.logic.requests import canonical


def must_ask(spec: ToolSpec, wishes: ResolvedApprovals) -> bool:
    """Whether a call of this tool waits for a person."""
    return spec.effect != "read" or wishes.tools == "all"


def call_shown(spec: ToolSpec, args: JsonObject, step: str, goal: str) -> JsonObject:
    """What is shown of a call: all that runs, and what for."""
    return {"tool": spec.name, "args": args, "effect": spec.effect, "step": step, "goal": goal}


def effect_key(run_id: str, tool: str, args: JsonObject, ordinal: int) -> str:
    """Names one effect for good, so that who carries it out can tell a second delivery."""
    data = f"{run_id}\n{tool}\n{canonical(args)}\n{ordinal}".encode("utf-8", "replace")
    return hashlib.sha256(data).hexdigest()[:32]


def granted_before(state: RunState, tool: str, args: JsonObject) -> str:
    """Id of the request by which the same call was granted before, "" if it was not."""
    for request in reversed(state.requests):
        same = request.shown.get("tool") == tool and request.shown.get("args") == args
        if request.kind == "tool" and request.used and same and request.outcome == "approved":
            return request.id
    return ""
