"""What a model replies within a plan: `step_action`, a written result, and a judge's words.

The order of the fields of `StepAction` is part of the design: quote first, then whether that is
enough, then the action (DESIGN, "The loops"). Bounds are checked here; what a sent schema leaves
out is still refused locally (REQUIREMENTS 219).
"""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from workflows.contracts.base import Strict

StepActionKind = Literal["search", "read", "tool", "ask", "write", "insufficient"]
ClaimKind = Literal["fact", "derived", "inference", "absence"]
CLAIMS: int = 12
QUOTES: int = 6

_Query = Annotated[str, StringConstraints(max_length=80)]
_Short = Annotated[str, StringConstraints(max_length=200)]


class StepAction(Strict):
    """One decision inside of a step; code offers only what is possible now.

    Attributes:
        answer_quote: a verbatim sentence of the evidence that answers, "" for none; code checks it.
        enough: whether the evidence is enough for the step's criterion.
        queries: 0 to 3 queries, for `search`.
        evidence_id: `E<n>`, for `read`; locator: what to read there, "" for the rest.
        tool, arguments_json: for `tool`; the arguments as a JSON object in a text.
        question: for `ask`.
    """

    answer_quote: Annotated[str, StringConstraints(max_length=1000)]
    enough: Literal["yes", "partly", "no"]
    action: StepActionKind
    queries: Annotated[list[_Query], Field(max_length=3)]
    evidence_id: Annotated[str, StringConstraints(max_length=20)]
    locator: _Short
    tool: Annotated[str, StringConstraints(max_length=64)]
    arguments_json: Annotated[str, StringConstraints(max_length=2000)]
    question: Annotated[str, StringConstraints(max_length=500)]


class WrittenQuote(Strict):
    """A verbatim passage with the id of the evidence it stands in."""

    evidence_id: Annotated[str, StringConstraints(max_length=20)]
    quote: Annotated[str, StringConstraints(max_length=1500)]


class WrittenClaim(Strict):
    """One atomic statement with its marks, quotes, proposed topics and kind.

    `expression` is for `derived`: arithmetic over numbers that stand in the quotes.
    """

    text: Annotated[str, StringConstraints(max_length=1000)]
    kind: ClaimKind
    quotes: Annotated[list[WrittenQuote], Field(max_length=QUOTES)]
    topics: Annotated[list[_Short], Field(max_length=20)]
    expression: _Short


class WrittenResult(Strict):
    """A step's result: claims, or why there is not enough (`INSUFFICIENT: <why>`)."""

    insufficient: Annotated[str, StringConstraints(max_length=500)]
    claims: Annotated[list[WrittenClaim], Field(max_length=CLAIMS)]


class PlannedStep(Strict):
    """One step as the planner writes it."""

    id: Annotated[str, StringConstraints(max_length=200)]
    goal: Annotated[str, StringConstraints(max_length=1000)]
    accept: Annotated[str, StringConstraints(max_length=1000)]
    depends_on: Annotated[list[_Short], Field(max_length=100)]
    expected_output: Annotated[str, StringConstraints(max_length=1000)]
    topics: Annotated[list[_Short], Field(max_length=20)]
    tool_hint: _Short
    risk: Literal["low", "medium", "high"]
    required: bool


class PlannedPlan(Strict):
    """The planner's reply; code validates it as a plan before anything runs."""

    steps: Annotated[list[PlannedStep], Field(max_length=100)]


class Support(Strict):
    """A judge's word on one claim, the verdict before the quotes (DESIGN, "Verification").

    `limitation` is printed with a qualified claim; `counter_quote` shows what contradicts it.
    """

    verdict: Literal["supported", "qualified", "contradicted", "insufficient"]
    limitation: Annotated[str, StringConstraints(max_length=300)]
    counter_evidence_id: Annotated[str, StringConstraints(max_length=20)]
    counter_quote: Annotated[str, StringConstraints(max_length=1000)]
    problem: Annotated[str, StringConstraints(max_length=300)]


class GoalJudgement(Strict):
    """A judge's score of a step's text; the score decides, never the word (C7)."""

    score: float
    passed: bool
    reason: Annotated[str, StringConstraints(max_length=500)]


class TopicAnswer(Strict):
    """Which surviving claims answer a topic's question, by number."""

    answer: Literal["answered", "partly", "no"]
    claims: Annotated[list[int], Field(max_length=100)]


class FoundConflict(Strict):
    """Two claims that cannot both hold, by number, and what they differ in."""

    one: int
    other: int
    about: _Short


class Conflicts(Strict):
    """Real conflicts among the claims of one topic; [] when they agree."""

    conflicts: Annotated[list[FoundConflict], Field(max_length=20)]
