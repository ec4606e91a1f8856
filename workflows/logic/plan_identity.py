"""Which plans and goals are the same: fingerprints, likeness, dead ends, reuse.

A fingerprint finds the same set of goals in any order; it cannot find a paraphrase, so likeness is
a second signal (REQUIREMENTS 33-37; C10, C11, C12).
"""

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from workflows.logic.nodes import Goal, Result

REUSE_AT: Final = 0.8
REWORDED_AT: Final = 0.9
_HEX: Final = 16
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*|[〇零一二两三四五六七八九十百千万亿]+")
_NEGATION: Final = re.compile(
    r"\b(?:not?|never|none|neither|nor|without|cannot|except|exclud\w*|un(?=\w{4,})|non(?=[-\w]))|n['\u2019]t\b"
    r"|[不未没無无非勿莫否]|除外|除了|以外",
    re.IGNORECASE,
)


def fingerprint(goals: Iterable[str]) -> str:
    """The identity of a list of goals: order and outer, doubled or wide blanks do not count.

    A list is hashed, not a joined text, so that no two lists collide.
    """
    folded = sorted(_folded(goal) for goal in goals)
    data = json.dumps(folded, ensure_ascii=False).encode("utf-8", "replace")
    return hashlib.sha256(data).hexdigest()[:_HEX]


def overlap(one: str, other: str) -> float:
    """Share (0..1) of characters in common, as multisets, of the longer text."""
    first, second = Counter(_characters(one)), Counter(_characters(other))
    longer = max(first.total(), second.total())
    return (first & second).total() / longer if longer else 0.0


def guard_ok(one: str, other: str) -> bool:
    """Equal numbers and equally many negations: overlap alone tells neither apart (C12)."""
    return _numbers(one) == _numbers(other) and _negations(one) == _negations(other)


def may_reuse(one: str, other: str, threshold: float = REUSE_AT) -> bool:
    """Whether a result for one goal may serve another, to be verified again (REQUIREMENTS 37)."""
    return overlap(one, other) >= threshold and guard_ok(one, other)


@dataclass(frozen=True)
class DeadEnd:
    """A plan that failed globally."""

    fingerprint: str
    reason: str = ""
    goals: tuple[str, ...] = ()


@dataclass(frozen=True)
class Execute:
    """The plan is new."""


@dataclass(frozen=True)
class AskAgain:
    """The plan failed before: ask once more, with the collision named."""

    reason: str


@dataclass(frozen=True)
class GiveUp:
    """It was proposed again: close degraded."""

    reason: str


def after_planning(
    goals: Sequence[str], dead_ends: Sequence[DeadEnd], asked_again: bool
) -> Execute | AskAgain | GiveUp:
    """What a proposed plan leads to; a collision is asked about exactly once (REQUIREMENTS 35)."""
    end = collides(goals, dead_ends) or reworded(goals, dead_ends)
    if end is None:
        return Execute()
    reason = f"this plan failed before (plan {end.fingerprint}: {end.reason or 'no reason kept'})"
    return GiveUp(reason) if asked_again else AskAgain(reason + "; propose another way")


def collides(goals: Iterable[str], dead_ends: Iterable[DeadEnd]) -> DeadEnd | None:
    """The dead end with the same goals, if there is one."""
    mark = fingerprint(goals)
    return next((end for end in dead_ends if end.fingerprint == mark), None)


def reworded(goals: Sequence[str], dead_ends: Iterable[DeadEnd]) -> DeadEnd | None:
    """A dead end whose goals these only reword: nearly equal, with the same numbers and no's."""
    for end in dead_ends:
        if len(end.goals) != len(goals):
            continue
        left = list(end.goals)
        for goal in goals:
            near = next((g for g in left if may_reuse(goal, g, REWORDED_AT)), None)
            if near is None:
                break
            left.remove(near)
        if not left:
            return end
    return None


def record_dead_end(
    dead_ends: Sequence[DeadEnd], goals: Sequence[str], reason: str
) -> list[DeadEnd]:
    """Dead ends with the plan that failed globally, each plan at most once (REQUIREMENTS 34)."""
    if collides(goals, dead_ends):
        return list(dead_ends)
    return [*dead_ends, DeadEnd(fingerprint(goals), reason, tuple(goals))]


def last_reasons(reasons: Sequence[str], limit: int = 5) -> list[str]:
    """The failure reasons that the planner sees (REQUIREMENTS 32)."""
    return list(reasons[-limit:])


def reason_for(step: str, history: Iterable[tuple[str, bool, str]]) -> str | None:
    """The reason that goes with a retry: of this step's own last failure (52; C17).

    Args:
        step: its id.
        history: (step, passed, reason) of each verdict, oldest first.
    """
    last: str | None = None
    for name, passed, reason in history:
        if name == step:
            last = None if passed else reason
    return last


def reusable(results: Mapping[str, Result], steps: Iterable[Goal]) -> dict[str, str]:
    """New step id to the key of a passed result it may start from; each result once, best first.

    Never by id alone: an old result must not appear under a new goal (C12).
    """
    pairs = sorted(
        (-overlap(step.goal, result.goal), step.id, key)
        for step in steps
        for key, result in results.items()
        if result.passed
        and sorted(result.topics) == sorted(step.topics)
        and may_reuse(step.goal, result.goal)
    )
    chosen: dict[str, str] = {}
    for _, step_id, key in pairs:
        if step_id not in chosen and key not in chosen.values():
            chosen[step_id] = key
    return chosen


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _characters(text: str) -> str:
    return "".join(_folded(text).split())


def _numbers(text: str) -> list[str]:
    return sorted(_NUMBER.findall(_folded(text)))


def _negations(text: str) -> int:
    return len(_NEGATION.findall(_folded(text)))
