"""Routing: what follows a verification, rules 1 to 7 in order (REQUIREMENTS 100-109).

One pure function. Finalize, here, means that the run is to close; within a graph that waits until
nothing is ready or running (C53).
"""

from dataclasses import dataclass
from typing import Final

from workflows.contracts.result import StopReason
from workflows.contracts.verdict import Verdict
from workflows.logic.verdicts import check_verdict

_REASON: Final = 200


@dataclass(frozen=True)
class RouteInput:
    """What the rules look at.

    Attributes:
        rounds, replans: used so far, this round included.
        verdict: anything; it is checked strictly before rules 3 to 6.
        last: whether every other required step is done.
        all_passed: whether every step has passed, this one included.
        known: whether the step is one of the plan's; nothing else can be run again.
    """

    rounds: int
    replans: int
    max_rounds: int
    max_replans: int
    verdict: object
    last: bool
    all_passed: bool = False
    known: bool = True


@dataclass(frozen=True)
class Finalize:
    """Close the run."""

    rule: int
    degraded: bool
    stop_reason: StopReason


@dataclass(frozen=True)
class NextStep:
    """The step has passed; others are left."""

    rule: int = 4


@dataclass(frozen=True)
class Retry:
    """Run the step again, its reason first."""

    reason: str
    rule: int = 5


@dataclass(frozen=True)
class Replan:
    """The step has failed globally."""

    reason: str
    rule: int = 6


Route = Finalize | NextStep | Retry | Replan


def route(given: RouteInput) -> Route:
    """The first rule that matches."""
    verdict = check_verdict(given.verdict)
    passed = verdict is not None and verdict.passed
    if given.rounds >= given.max_rounds:
        whole = given.all_passed and passed  # C1
        return Finalize(1, not whole, "completed" if whole else "round_limit")
    if given.replans >= given.max_replans and not passed:
        return Finalize(2, degraded=True, stop_reason="replan_limit")
    if verdict is None or not (passed or given.known):
        return Finalize(7, degraded=True, stop_reason="verifier_error")
    if passed:
        return Finalize(3, degraded=False, stop_reason="completed") if given.last else NextStep()
    return Retry(verdict.reason) if verdict.scope == "local" else Replan(verdict.reason)


def log_line(rounds: int, replans: int, step: str, verdict: Verdict | None, decision: Route) -> str:
    """What the verifier said of a step, and what that leads to (REQUIREMENTS 108, 197)."""
    said = (
        f"score={verdict.score:g} | layer={verdict.layer} | scope={verdict.scope}"
        if verdict
        else "score=- | layer=- | scope=-"
    )
    reason = verdict.reason if verdict else "no verdict"
    taken = type(decision).__name__.lower()
    return node_line(
        rounds, "verifier", f"step={step} | {said}", route=taken, rule=decision.rule,
        replans=replans, reason=reason,
    )  # fmt: skip


def node_line(rounds: int, node: str, about: str, **fields: object) -> str:
    """One line a node, whatever its texts hold: `round=3 | node=planner | ...` (197)."""
    told = [f"{name}={' '.join(str(value).split())[:_REASON]}" for name, value in fields.items()]
    return " | ".join([f"round={rounds}", f"node={node}", *filter(None, [about]), *told])
