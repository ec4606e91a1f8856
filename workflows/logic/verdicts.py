"""Verdicts: a judge's score, the strict check before routing, escalation (REQUIREMENTS 80-92).

The score decides, never a yes or no beside it (C7); what has no usable score is malformed and never
a pass (C3).
"""

import math
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from workflows.contracts.verdict import Verdict

PASS_AT: Final = 0.8
LOCAL_AT: Final = 0.5
_FIELDS: Final = ("passed", "score", "layer", "reason", "scope")
_LAYERS: Final = ("structure", "evidence", "goal")
_SCOPES: Final = ("local", "global")
_REASON: Final = 500


@dataclass(frozen=True)
class Malformed:
    """There is no verdict, and why."""

    reason: str


def goal_verdict(reply: object, local_at: float = LOCAL_AT) -> Verdict | Malformed:
    """A verdict from a judge's raw reply: passed at 0.8, local from `local_at`, else global.

    Args:
        reply: what the judge's JSON gave; anything.
        local_at: scores from here are local failures (C28).
    """
    if not isinstance(reply, dict):
        return Malformed("the reply is no object")
    fields = cast("dict[str, Any]", reply)
    score = usable_score(fields.get("score"))
    if score is None:
        return Malformed(f"score: expected a number from 0 to 1, found {fields.get('score')!r:.60}")
    reason = fields.get("reason")
    return Verdict(
        passed=score >= PASS_AT,
        score=score,
        layer="goal",
        reason=reason[:_REASON] if isinstance(reason, str) else "",
        scope=scope_of(score, local_at),
    )


def disagrees(reply: object, verdict: Verdict) -> bool:
    """Whether the judge's own yes or no says something else than its score; worth a log line."""
    word = cast("dict[str, Any]", reply).get("passed") if isinstance(reply, dict) else None
    return isinstance(word, bool) and word != verdict.passed


def usable_score(value: object) -> float | None:
    """A score in 0..1, None for anything else: no text, no boolean, nothing infinite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= 1 or not math.isfinite(value):
        return None
    return float(value)


def scope_of(score: float, local_at: float = LOCAL_AT) -> Literal["local", "global"]:
    """Whether a failure concerns the step only; a pass is local."""
    return "local" if score >= min(local_at, PASS_AT) else "global"


def check_verdict(value: object) -> Verdict | None:
    """A whole verdict, None if anything is missing, of another type, or unknown (106; C3)."""
    if isinstance(value, Verdict):
        value = value.model_dump()
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    score = usable_score(fields.get("score"))
    sound = (
        isinstance(fields.get("passed"), bool)
        and score is not None
        and fields.get("layer") in _LAYERS
        and isinstance(fields.get("reason"), str)
        and fields.get("scope") in _SCOPES
    )
    if not sound or score is None:
        return None
    return Verdict.model_validate({name: fields[name] for name in _FIELDS} | {"score": score})


def escalated(verdict: Verdict, local_failures: int, max_local_retries: int) -> Verdict:
    """More than the allowed local failures in a row of one step become global (91).

    Args:
        verdict: of this round.
        local_failures: local failures in a row before it.
        max_local_retries: how many may be retried.
    """
    if verdict.passed or verdict.scope == "global" or local_failures < max_local_retries:
        return verdict
    return verdict.model_copy(update={"scope": "global"})
