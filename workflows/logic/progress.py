"""Stalls: equivalent acts without news, whatever they are called (REQUIREMENTS 142-146; C16).

The loose key merges `c++` with `c`, so it is used here only, where unchanged evidence is asked for
as well, and never to suppress a call.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from workflows.logic.terms import query_key

STALL: Final = 3
_MARKS: Final = re.compile(r"(?<!\d)[^\w\s]+|[^\w\s]+(?!\d)|_+")


@dataclass(frozen=True)
class Snapshot:
    """What a run holds when an act has ended.

    Attributes:
        evidence: how many evidence entries that are not empty results.
        unmet: how many conditions are open.
        result: digest of the act's result; error: the class of its error.
    """

    done: tuple[str, ...]
    evidence: int
    plan_version: int
    unmet: int
    tool: str
    args: str
    result: str
    error: str


def stall_key(text: str) -> str:
    """A query key without punctuation and symbols, but for those inside of a number."""
    return query_key(_MARKS.sub(" ", query_key(text)))


def signature(snapshot: Snapshot) -> tuple[object, ...]:
    """What must change for an act to have brought something."""
    return (
        tuple(sorted(snapshot.done)),
        snapshot.evidence,
        snapshot.plan_version,
        snapshot.unmet,
        snapshot.tool,
        stall_key(snapshot.args),
        snapshot.result,
        snapshot.error,
    )


def stalled(snapshots: Sequence[Snapshot], k: int = STALL) -> bool:
    """Whether the last k + 1 snapshots have one signature: k acts changed nothing."""
    last = [signature(snapshot) for snapshot in snapshots[-(k + 1) :]]
    return len(last) == k + 1 and len(set(last)) == 1


def noted(repeats: dict[str, int], key: str, *, news: bool) -> bool:
    """Count an act that brought nothing; True when it is a stall. News forgets every count.

    The count outlives attempts and replans, so that a reworded plan does not start it anew.
    """
    if news:
        repeats.clear()
        return False
    repeats[key] = repeats.get(key, 0) + 1
    return repeats[key] >= STALL
