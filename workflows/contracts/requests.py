"""Requests of a run to people (INTERFACE, "Messages"; DESIGN, "People").

A request is bound to exactly what is shown: its id carries a digest over the run and the canonical
JSON of that. It ends once, and what it ended as is kept for the audit.
"""

from typing import Final, Literal

from workflows.contracts.base import JsonObject, Mutable

RequestKind = Literal["plan", "tool", "report", "question"]
RequestOutcome = Literal[
    "open", "approved", "edited", "rejected", "answered", "expired", "withdrawn", "cancelled"
]
Fate = Literal[
    "accepted", "duplicate", "stale", "late", "malformed", "not_allowed", "unknown_request",
    "unknown_signal",
]  # fmt: skip

REQUESTS_KEPT: Final = 60  # ended ones; the open ones always stay
SHOWN_CHARACTERS: Final = 4000  # of a report, in what is shown


class Request(Mutable):
    """One request.

    Attributes:
        id: `<kind>-<n>-<digest>`.
        shown: what is shown, and what the digest is over; {} for a plan, which stands in the state.
        step: of a tool call or a question, "" otherwise.
        note: told beside what is shown: why it is asked again, what the reader should know.
        approvers: who may decide; empty for anyone.
        deadline: seconds since the epoch, None for no deadline.
        seconds: the time to answer, for one more deadline when the first was handled late.
        outcome: `open` until it ends, then how it ended; only signals and updates carry a `by`.
        edits: what a person put in place of what was shown.
        digest: of what may run: of what was shown, after an edit of what replaced it.
        used: whether what was granted has been carried out; a grant is used once (REQUIREMENTS
            151).
    """

    id: str
    kind: RequestKind
    number: int
    shown: JsonObject = {}
    step: str = ""
    note: str = ""
    approvers: list[str] = []
    asked_at: str = ""
    deadline: float | None = None
    seconds: float | None = None
    reopened: bool = False
    outcome: RequestOutcome = "open"
    by: str = ""
    comment: str = ""
    text: str = ""
    edits: JsonObject | None = None
    digest: str = ""
    decided_at: str = ""
    used: bool = False
