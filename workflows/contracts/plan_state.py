"""The part of RunState that a plan needs: steps, results, dead ends, what the topic calls said."""

from typing import Literal

from workflows.contracts.base import Mutable, Wire
from workflows.contracts.claim import ClaimCounts
from workflows.contracts.observation import Observation
from workflows.contracts.plan import Plan, StepStatus
from workflows.contracts.result import StopReason
from workflows.contracts.verdict import Verdict

TopicState = Literal["declared", "answered", "partly", "no"]
REASONS_KEPT = 20


class StepState(Mutable):
    """One step of the current plan.

    Attributes:
        attempts: rounds of it, over all plan versions that kept it.
        local_failures: local failures in a row; more than the limit become global.
        reason: why its last attempt failed, for the next one.
        best_ref, best_score: the best-scored record so far, -1 for none.
        page_ref, page_numbers: its newest index page, and the numbers of what is new on it.
        numbers: evidence numbers it has seen.
        queries: the queries it tried, newest last.
        looked: what the collection holds, once that was asked.
        effected: whether a call with effects was carried out for it.
        answers: what people answered to its questions, question and answer in one text each.
    """

    status: StepStatus = "PENDING"
    attempts: int = 0
    local_failures: int = 0
    reason: str = ""
    verdict: Verdict | None = None
    best_ref: str = ""
    best_score: float = -1.0
    page_ref: str = ""
    page_numbers: list[int] = []
    numbers: list[int] = []
    queries: list[str] = []
    fruitless: int = 0
    tool_calls: int = 0
    widened: bool = False
    looked: str = ""
    observation: Observation | None = None
    reused: str = ""
    claims: ClaimCounts = ClaimCounts()
    answers: list[str] = []
    effected: bool = False


class KeptResult(Wire):
    """A result that survives a replan, by `<version>/<step>` (C12)."""

    step: str
    goal: str
    accept: str
    passed: bool
    score: float
    ref: str
    topics: list[str] = []
    numbers: list[int] = []


class StepPages(Wire):
    """The newest index page of a step of a plan before, with the numbers of what is new on it."""

    ref: str
    numbers: list[int] = []


class FailedPlan(Wire):
    """A plan that failed globally: fingerprint, goals, and why in words (REQUIREMENTS 183)."""

    fingerprint: str
    goals: list[str]
    reason: str


class Conflict(Wire):
    """Two findings, by number, that cannot both hold."""

    one: int
    other: int
    about: str = ""


class PlanState(Mutable):
    """Plan, steps and results of a run with `strategy: plan`.

    Attributes:
        version: of the plan; 0 before there is one (REQUIREMENTS 39).
        old_pages: index pages of the steps of plans before.
        failures: reasons of failures, newest last; the planner sees the last five.
        ending: set when no new round may start: what the run closes with.
        answers: topic index (as text: JSON) to what the topic call or a declaration said.
        topic_findings: topic index to numbers of the findings that answer it.
        repeats: equivalent fruitless acts to how often, since the last news (stall rule).
        approved: version of the plan that a person approved, 0 for none.
        denied: attempts to use a tool beyond the run's rights (REQUIREMENTS 228).
    """

    version: int = 0
    plan: Plan | None = None
    steps: dict[str, StepState] = {}
    kept: dict[str, KeptResult] = {}
    old_pages: list[StepPages] = []
    dead_ends: list[FailedPlan] = []
    failures: list[str] = []
    rounds: int = 0
    replans: int = 0
    ending: StopReason | None = None
    ending_detail: str = ""
    findings_ref: str = ""
    answers: dict[str, TopicState] = {}
    topic_findings: dict[str, list[int]] = {}
    conflicts: list[Conflict] = []
    compared: bool = False
    repeats: dict[str, int] = {}
    stalls: int = 0
    denied: int = 0
    approved: int = 0
