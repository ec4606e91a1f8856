"""Success and failure as predicates of code over state (REQUIREMENTS 5-8, 74, 125, 133)."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from workflows.contracts.result import FailureCode, StopReason

_CODES: Final[dict[StopReason, FailureCode]] = {
    "no_progress": "FAILED_DATA",
    "permission": "FAILED_PERMISSION",
    "invalid_input": "FAILED_INPUT",
    "unanswered": "FAILED_INPUT",
    "plan_invalid": "FAILED_PLAN",
    "plan_repeated": "FAILED_PLAN",
    "replan_limit": "FAILED_PLAN",
    "model_budget": "ABORTED_BUDGET",
    "tool_budget": "ABORTED_BUDGET",
    "token_budget": "ABORTED_BUDGET",
    "cost_budget": "ABORTED_BUDGET",
    "round_limit": "ABORTED_BUDGET",
    "timeout": "ABORTED_BUDGET",
    "model_error": "FAILED_TOOL",
    "protocol_error": "FAILED_TOOL",
    "verifier_error": "FAILED_TOOL",
    "step_failed": "FAILED_TOOL",
    "internal_error": "FAILED_TOOL",
}


def coverage(required: Sequence[str], covered: Collection[str]) -> float | None:
    """Share of required items that are covered, to four digits; None where nothing is required."""
    if not required:
        return None
    return round(sum(item in covered for item in required) / len(required), 4)


def may_succeed(required: Sequence[str], covered: Collection[str]) -> bool:
    """Below 1 success is impossible, however complete the text looks (REQUIREMENTS 8)."""
    return coverage(required, covered) == 1.0


def succeeded(*, goal: bool, evidence: bool, permission: bool, output: bool) -> bool:
    """All four at once: goal satisfied, evidence sufficient, rights respected, output valid (6)."""
    return goal and evidence and permission and output


def terminal(*, success: bool, failure: bool, budget: bool, human: bool) -> bool:
    """Success, failure, an exhausted budget, or a person is required (125)."""
    return success or failure or budget or human


def failure_code(reason: StopReason) -> FailureCode | None:
    """The kind of failure a stop reason stands for; None for a regular close (133)."""
    return _CODES.get(reason)


def unbacked_claims(
    claims: Sequence[str],
    facts: Mapping[str, str],
    derived: Mapping[str, Sequence[str]],
    hypotheses: Collection[str],
) -> list[str]:
    """Final claims without a fact or a derived value that can be recomputed (REQUIREMENTS 74).

    Args:
        claims: ids of the claims of the final text.
        facts: claim to the evidence that carries it.
        derived: claim to the inputs it is computed from.
        hypotheses: claims that may only stand marked as unverified.
    """
    return [
        claim
        for claim in claims
        if claim in hypotheses or not (facts.get(claim) or derived.get(claim))
    ]
