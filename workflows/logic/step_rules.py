"""The rules of one step's loop: what it may do now, when it writes, what an empty search means.

Code offers only the actions that are possible (DESIGN, "The loops"): without evidence only a
search, after fruitless turns only writing or giving up. A search that brings nothing is diagnosed
before anything is concluded from it: one wider query, then a look at what the collections hold
(REQUIREMENTS 98; C4).
"""

from dataclasses import dataclass
from typing import Final

from workflows.contracts.plan_state import StepState
from workflows.contracts.task import ResolvedTask
from workflows.logic.progress import stall_key
from workflows.logic.react import key_digest
from workflows.logic.terms import names_of, query_key
from workflows.logic.tokens import is_cjk, query_tokens

_WIDE_WORDS: Final = 2
_QUESTIONS: Final = 2  # to people, a step
_QUERY_CHARACTERS: Final = 80


@dataclass(frozen=True)
class Room:
    """What the budgets leave: whether a decision and a tool call may still be made."""

    decision: bool
    tool_calls: int


def allowed_actions(step: StepState, task: ResolvedTask, room: Room) -> list[str]:
    """Actions that are possible now, [] if the step is to write without another decision.

    Args:
        step: its state; `numbers` are the evidence it has.
        task: limits and tools.
        room: what may still be reserved.
    """
    if not room.decision or step.fruitless >= task.limits.max_no_progress:
        return []
    tools = [spec for spec in task.specs if spec.name != "search"]
    calls = min(room.tool_calls, task.limits.max_tool_calls_per_step - step.tool_calls)
    found: list[str] = []
    if calls > 0:
        found += ["search"] if "search" in task.tools else []
        found += ["read"] if step.numbers and "search" in task.tools else []
        found += ["tool"] if tools else []
    if task.approvals.questions and len(step.answers) < _QUESTIONS:
        found += ["ask"]
    if not found:
        return []
    return [*found, *(["write", "insufficient"] if step.numbers else ["insufficient"])]


def calls_left(step: StepState, task: ResolvedTask, room: Room) -> int:
    """Tool calls the step may still make."""
    return max(0, min(room.tool_calls, task.limits.max_tool_calls_per_step - step.tool_calls))


def was_tried(step: StepState, query: str) -> bool:
    """Whether the step tried this query already; failed and empty ones count (55, C5)."""
    return query_key(query) in map(query_key, step.queries)


def wider(query: str) -> str:
    """A query that asks for less: its names, else its longest words; "" if nothing is left out.

    For the one diagnosis of an empty result, never a rewording.
    """
    names = [name for name in names_of(query) if name]
    words = names or _longest(query)
    wide = " ".join(words)[:_QUERY_CHARACTERS].strip()
    return wide if wide and query_key(wide) != query_key(query) else ""


def _longest(query: str) -> list[str]:
    if is_cjk(query):
        bare = "".join(query.split())
        return [bare[:4]] if len(bare) > len(bare[:4]) else []
    words = list(dict.fromkeys(query_tokens(query)))
    kept = sorted(words, key=lambda word: (-len(word), words.index(word)))[:_WIDE_WORDS]
    return [word for word in words if word in kept]


def repeat_key(tool: str, arguments: str) -> str:
    """What equivalent acts share: the tool and its arguments without punctuation (C16)."""
    return key_digest(f"{tool} {stall_key(arguments)}")
