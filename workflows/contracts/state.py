"""RunState: everything mutable of a run, plain JSON, under 512 KB (DESIGN, "State and history").

Queries show it, continue-as-new carries it, nothing else remembers anything.
"""

from typing import Any, Literal

from pydantic import Field

from workflows.contracts.base import Mutable
from workflows.contracts.decision import NextAction
from workflows.contracts.evidence import LedgerEntry
from workflows.contracts.messages import RecordedMessage
from workflows.contracts.observation import Observation
from workflows.contracts.plan_state import PlanState
from workflows.contracts.requests import Request
from workflows.contracts.result import Failure, Status, StopReason
from workflows.contracts.task import Prepared

Phase = Literal[
    "preparing", "planning", "awaiting_plan", "researching", "writing", "awaiting_report",
    "closing", "finished",
]  # fmt: skip

LEDGER_ENTRIES = 1500  # sources of one run: beyond that a source is not taken in (state < 512 KB)
SEEN_RANGES = 6000  # ranges of passages of one run
EVENTS_KEPT = 200
EVENTS_MOST = 1000  # of a plan, while the store does not take the older ones
QUERIES_KEPT = 50


class UsageState(Mutable):
    """Counters; acts are counted when they are reserved (REQUIREMENTS 118, 119).

    `cost` is in US dollars, "0" also where a price is not known.
    """

    model_calls: int = 0
    model_attempts: int = 0
    tool_calls: int = 0
    searches: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tokens_estimated: bool = False
    cost: str = "0"
    active_seconds: float = 0.0
    waiting_seconds: float = 0.0


class QueryTried(Mutable):
    """A query that went to the search, and how many passages it brought (-1: it failed)."""

    query: str
    passages: int


class Closed(Mutable):
    """How the run ended, kept for queries."""

    status: Status
    stop_reason: StopReason
    report_ref: str = ""


class RunState(Mutable):
    """Everything mutable of a run.

    Attributes:
        prepared: the resolved task; None before `prepare` has answered.
        plan: the advisory plan of the newest decision (`react`).
        ledger: evidence in order of its numbers: `ledger[0]` is E1.
        seen: ranges of passages by evidence number (as text: JSON), half-open, merged.
        covered: topic index (as text: JSON) to how: `declared` or `cover`.
        query_keys: first 16 hex digits of the SHA-256 of each query key that was tried.
        page_ref: newest index page in the evidence store, "" before the first search.
        page_first: number of the first evidence that is new on that page and has no number there.
        events: the newest events, each with a sequence number `seq`; with a plan all those that the
            store has not taken yet.
        older_events: where the ones before lie in the store (`strategy: plan`), "" if nowhere.
        goal: as the caller gave it, known before `prepared` is.
        dag: plan, steps and results of `strategy: plan`.
        draft, sufficient: what the model wrote when it finished by itself (`react`: the finish
            decision, `direct`: the answer), and whether it says that this is enough.
        requests: what people were asked, the open ones and the newest ended ones.
        repairs: what was sent back with a comment, how often (one bounded repair each).
        stop_reason: set once, by whatever ends the run first; only a person's word on the finished
            report replaces it.
    """

    goal: str = ""
    prepared: Prepared | None = None
    phase: Phase = "preparing"
    plan: list[str] = []
    decision: NextAction | None = None
    observation: Observation | None = None
    no_progress: int = 0
    ledger: list[LedgerEntry] = []
    seen: dict[str, list[list[int]]] = {}
    covered: dict[str, str] = {}
    query_keys: list[str] = []
    queries: list[QueryTried] = []
    page_ref: str = ""
    page_first: int = 0
    draft: str = ""
    sufficient: bool = False
    dag: PlanState = Field(default_factory=PlanState)
    usage: UsageState = Field(default_factory=UsageState)
    failures: list[Failure] = []
    notes: list[str] = []
    messages: list[RecordedMessage] = []
    requests: list[Request] = []
    request_count: int = 0
    repairs: dict[str, int] = {}
    events: list[dict[str, Any]] = []
    older_events: str = ""
    event_count: int = 0
    stop_reason: StopReason | None = None
    stop_detail: str = ""
    degraded: bool = False
    started_at: str = ""
    last_tick: float = 0.0
    closed: Closed | None = None
