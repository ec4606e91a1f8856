"""Claims, the quotes that carry them, and how each claim ended (DESIGN, "Verification")."""

from typing import Literal

from workflows.contracts.base import NonNegative, Wire

ClaimOutcome = Literal["supported", "qualified", "contradicted", "insufficient", "unverified"]


class Quote(Wire):
    """A verbatim passage of a source: `text` is exactly `[start:end]` of its stored text."""

    evidence: NonNegative
    text: str
    start: NonNegative
    end: NonNegative
    headings: list[str] = []


class Claim(Wire):
    """A statement of the report with its quotes and outcome; `topic` is an index or -1."""

    text: str
    quotes: list[Quote] = []
    topic: int = -1
    outcome: ClaimOutcome = "unverified"


class ClaimCounts(Wire):
    """How many claims ended in each way."""

    supported: NonNegative = 0
    qualified: NonNegative = 0
    contradicted: NonNegative = 0
    insufficient: NonNegative = 0
    unverified: NonNegative = 0
