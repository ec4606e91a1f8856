"""What a step leaves in the evidence store: its claims with quotes and outcomes; the findings.

State and history hold refs to these only (DESIGN, "State and history").
"""

from workflows.contracts.base import NonNegative, Wire
from workflows.contracts.claim import ClaimOutcome, Quote
from workflows.contracts.step_decision import ClaimKind
from workflows.contracts.verdict import Verdict


class CheckedClaim(Wire):
    """A claim with what code and judge found.

    Attributes:
        text: the statement, marks taken off.
        numbers: evidence numbers it cites, in order.
        quotes: found verbatim in the whole stored text of the source each names.
        context: for each quote the paragraph around it, as the judge sees it.
        proposed: topic ids that the writer proposed.
        method: for a derived value, how it was computed and from what.
        limitation: printed with a qualified claim.
        note: why it is not supported, "" if it is.
    """

    text: str
    kind: ClaimKind = "fact"
    numbers: list[int] = []
    quotes: list[Quote] = []
    context: list[str] = []
    proposed: list[str] = []
    method: str = ""
    outcome: ClaimOutcome = "unverified"
    limitation: str = ""
    note: str = ""

    @property
    def stands(self) -> bool:
        """Whether it is printed as a finding."""
        return self.outcome in ("supported", "qualified") and self.kind in ("fact", "derived")


class StepRecord(Wire):
    """One written result of a step, from its draft to its verdict.

    Attributes:
        insufficient: why there is not enough, "" if the step wrote claims.
    """

    step: str
    goal: str
    accept: str
    attempt: NonNegative = 1
    claims: list[CheckedClaim] = []
    insufficient: str = ""
    verdict: Verdict | None = None

    @property
    def standing(self) -> list[CheckedClaim]:
        """Claims that are printed."""
        return [claim for claim in self.claims if claim.stands]


class Finding(Wire):
    """A claim of the report with its number in it and the step it comes from."""

    number: NonNegative
    step: str
    claim: CheckedClaim


class Findings(Wire):
    """Every standing claim of a run in plan order, for the topic calls and the report."""

    findings: list[Finding] = []
