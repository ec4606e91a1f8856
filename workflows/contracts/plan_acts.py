"""Inputs and results of the activities of `strategy: plan`.

Each input names steps, results and pages by ref, so that nothing here grows with the run.
"""

from typing import Literal

from workflows.contracts.acts import ActInput, TokenUsage
from workflows.contracts.base import Compact, JsonObject, NonNegative, Ref, Wire
from workflows.contracts.claim import ClaimCounts, ClaimOutcome
from workflows.contracts.observation import Observation
from workflows.contracts.plan import Plan, Step
from workflows.contracts.plan_state import Conflict, FailedPlan
from workflows.contracts.step_decision import StepAction
from workflows.contracts.verdict import Verdict

PROBLEMS_KEPT = 8
PROBLEM_CHARACTERS = 200


class PlanInput(ActInput):
    """What the planner is asked with (REQUIREMENTS 31, 32, 183).

    Attributes:
        reasons: the last five failure reasons.
        problems: what was wrong with the reply before, for the one re-ask.
        done: ids and goals of finished steps whose results stay, one line each.
    """

    call: int
    dead_ends: list[FailedPlan] = []
    reasons: list[str] = []
    problems: list[str] = []
    done: list[str] = []


class PlanResult(Compact):
    """A plan that code found valid, or what is wrong with the reply."""

    plan: Plan | None = None
    problems: list[str] = []
    usage: TokenUsage = TokenUsage()


class Upstream(Compact):
    """The record of a step that this one depends on, and the index pages of that step."""

    step: str
    ref: Ref
    page_ref: str = ""
    page_numbers: list[int] = []


class StepInput(ActInput):
    """Snapshot for a decision inside of a step, and for writing its result.

    Attributes:
        call: ordinal of this model call, from 1.
        attempt: of the step, from 1.
        reason: why its last attempt failed, first thing in the request (REQUIREMENTS 52).
        topics: indexes of the required topics it serves.
        page_ref, page_numbers: the step's newest index page; numbers of what is new on it.
        pages: index pages of the steps it depends on, with their numbers.
        allow: actions that are possible now.
        queries: queries the step tried, newest last.
    """

    call: int
    step: Step
    attempt: NonNegative = 1
    reason: str = ""
    topics: list[int] = []
    page_ref: str = ""
    page_numbers: list[int] = []
    upstream: list[Upstream] = []
    allow: list[str] = []
    queries: list[str] = []
    fruitless: NonNegative = 0
    remaining_tool_calls: NonNegative = 0
    looked: str = ""
    answers: list[str] = []
    last_observation: Observation | None = None


class StepActionResult(Compact):
    """A validated decision; `quote_found` says whether its quote stands in the evidence."""

    action: StepAction
    quote_found: bool = False
    usage: TokenUsage = TokenUsage()


class WriteResult(Compact):
    """A written result after the layers that need no model.

    Attributes:
        record_ref: the record in the store, claims unverified.
        insufficient: why there is not enough; then there are no claims.
        verdict: the first cheap layer that failed for the whole text, None if none did.
        outcomes: one a claim; `unverified` ones need a support call.
        problems: what was removed and why, short, at most 8.
    """

    record_ref: Ref
    insufficient: str = ""
    verdict: Verdict | None = None
    outcomes: list[ClaimOutcome] = []
    problems: list[str] = []
    usage: TokenUsage = TokenUsage()


class SupportInput(ActInput):
    """One support call: usually one claim of a record.

    Attributes:
        claims: indexes in the record; more than one only where the profile says so.
        page_ref, page_numbers, upstream: where uncited counter-passages are looked for.
    """

    call: int
    record_ref: Ref
    claims: list[int]
    topics: list[int] = []
    page_ref: str = ""
    page_numbers: list[int] = []
    upstream: list[Upstream] = []


class SupportResult(Compact):
    """Outcome, limitation and reason for each claim asked; `malformed` if there is no verdict."""

    outcomes: list[ClaimOutcome] = []
    limitations: list[str] = []
    reasons: list[str] = []
    malformed: str = ""
    usage: TokenUsage = TokenUsage()


class GoalInput(ActInput):
    """The goal call, and the record with every outcome in it.

    Attributes:
        outcomes, limitations, reasons: one a claim of the record; [] for those it has already.
        judge: False where nothing is left to judge: only the record is written.
    """

    call: int
    record_ref: Ref
    goal: str
    accept: str
    outcomes: list[ClaimOutcome] = []
    limitations: list[str] = []
    reasons: list[str] = []
    judge: bool = True


class GoalResult(Compact):
    """The judge's score as a verdict, or why there is none; the record with outcomes."""

    record_ref: Ref
    verdict: Verdict | None = None
    malformed: str = ""
    counts: ClaimCounts = ClaimCounts()
    problems: list[str] = []
    usage: TokenUsage = TokenUsage()


class LookInput(ActInput):
    """A look at what the collections hold, after a search that brought nothing."""

    query: str


class LookResult(Compact):
    """In a sentence or two: passages in all, which words of the query occur and how often."""

    note: str = ""


class ReadInput(ActInput):
    """More of a source: what stands at the locator, else after what was seen of it."""

    number: NonNegative
    locator: str = ""
    page_ref: str = ""
    page_numbers: list[int] = []


class SpillInput(ActInput):
    """Trajectory records that leave the state; `previous` is where the ones before lie."""

    records: list[JsonObject]
    previous: str = ""


class SpilledEvents(Wire):
    """Records in the store, and where the ones before them lie."""

    records: list[JsonObject]
    previous: str = ""


class SpillResult(Compact):
    """Where they lie now."""

    ref: Ref


class ToolInput(ActInput):
    """One call of a tool with fixed arguments; `ordinal` tells equal calls apart.

    `key` names a call with effects for good: whoever carries it out can tell a second delivery.
    `granted` arguments are carried out as they are: what they hold was shown, nothing is filled in.
    """

    step: str
    tool: str
    args: JsonObject = {}
    ordinal: NonNegative = 1
    key: str = ""
    granted: bool = False
    page_ref: str = ""
    page_numbers: list[int] = []
    upstream: list[Upstream] = []


class CallChecked(Wire):
    """A call before a person is asked: the arguments filled in as they would run, or what is wrong.

    `args` is what is shown, and what runs.
    """

    args: JsonObject = {}
    problem: str = ""


class GatherInput(ActInput):
    """Records whose claims make the report, in plan order."""

    records: list[Upstream]


class TopicCandidates(Wire):
    """Findings that may answer a topic by names; those whose source declares it."""

    topic: NonNegative
    findings: list[int] = []
    declared: list[int] = []


class GatherResult(Compact):
    """The findings in the store, candidates by topic, groups that must be compared."""

    findings_ref: Ref
    findings: NonNegative = 0
    topics: list[TopicCandidates] = []
    groups: list[list[int]] = []


class TopicInput(ActInput):
    """The topic call: which of these findings answer the topic (DESIGN, "Coverage")."""

    call: int
    findings_ref: Ref
    topic: NonNegative
    findings: list[int]


class TopicResult(Compact):
    """Answered, partly or not, with numbers of findings that code has checked."""

    answer: Literal["answered", "partly", "no"] = "no"
    findings: list[int] = []
    malformed: str = ""
    usage: TokenUsage = TokenUsage()


class ConflictInput(ActInput):
    """Findings of one topic that differ in value, date or polarity."""

    call: int
    findings_ref: Ref
    findings: list[int]


class ConflictResult(Compact):
    """Real conflicts among them."""

    conflicts: list[Conflict] = []
    malformed: str = ""
    usage: TokenUsage = TokenUsage()
