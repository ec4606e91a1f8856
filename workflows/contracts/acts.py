"""Inputs and results of activities.

Every input names the run (first execution run id) and the evidence store it must be answered from;
a worker with another store answers `WrongStore` (DESIGN, "Embedded server"). Nothing here may grow
with the length of a run but `CloseInput`, which is sent once.
"""

from workflows.contracts.base import Compact, NonNegative, Ref, Wire
from workflows.contracts.decision import NextAction
from workflows.contracts.evidence import Hit
from workflows.contracts.observation import Observation
from workflows.contracts.result import Status
from workflows.contracts.state import RunState
from workflows.contracts.task import Task


class PrepareInput(Wire):
    """The task as the caller gave it."""

    run_id: str
    workflow_id: str
    task: Task


class ActInput(Compact):
    """What every later input carries."""

    run_id: str
    store_id: str
    task_ref: Ref


class DecideInput(ActInput):
    """Snapshot for one decision; the activity adds excerpts from the index page.

    Attributes:
        call: ordinal of this model call, from 1.
        page_ref: newest index page, "" before the first search.
        page_first: number of the first evidence without a number on that page.
        missing: indexes of topics not covered yet.
    """

    call: int
    page_ref: str = ""
    page_first: NonNegative = 0
    missing: list[int]
    allow_search: bool
    remaining_tool_calls: NonNegative
    no_progress: NonNegative
    previous_plan: list[str] = []
    last_observation: Observation | None = None


class TokenUsage(Compact):
    """Tokens of one model call; `attempt` is the attempt that answered, from 1."""

    prompt_tokens: NonNegative = 0
    completion_tokens: NonNegative = 0
    estimated: bool = False
    attempt: NonNegative = 1


class DecideResult(Compact):
    """A validated decision."""

    decision: NextAction
    usage: TokenUsage = TokenUsage()


class AnswerResult(Wire):
    """The written answer of `direct`, for the same input as a decision."""

    sufficient: bool
    draft: str
    usage: TokenUsage = TokenUsage()


class SearchInput(ActInput):
    """One search.

    Attributes:
        query: literal text; never interpreted as syntax.
        room: how many new sources the ledger can still take in.
        page_numbers: within a plan, the numbers of what is new on the step's newest page.
    """

    query: str
    page_ref: str = ""
    page_first: NonNegative = 0
    page_numbers: list[int] = []
    room: NonNegative = 1500


class SearchResult(Compact):
    """What a search brought; `page_ref` is the next index page.

    Sources that are new stand in `hits` in the order of their numbers: the first source with
    `known == 0` takes the next evidence number, and so on, one number a source. A search that
    worked and found nothing takes one number too (`page_ref` then holds the empty entry).
    """

    ok: bool
    error: str = ""
    hits: list[Hit] = []
    page_ref: str = ""
    note: str = ""
    attempt: NonNegative = 1


class CloseInput(Wire):
    """Everything a report is composed from. No model is called (REQUIREMENTS 204).

    Attributes:
        released: ref of the text that a person released, delivered as it stands; "" for none.
        edited, editor: what a person put in its place, and who.
        original: ref of the text that they had before them, "" if it is composed anew.
    """

    run_id: str
    workflow_id: str
    status: Status
    state: RunState
    closed_at: str = ""
    released: str = ""
    edited: str = ""
    editor: str = ""
    original: str = ""


class RetaskInput(ActInput):
    """A goal that a person changed, to be planned anew."""

    goal: str


class DraftResult(Wire):
    """A composed report that waits to be released: where it lies, its beginning, its outcome."""

    report_ref: str
    opening: str
    bytes: NonNegative
    status: Status


class FailedAct(Wire):
    """Details of the ApplicationError of a failed model call, for the accounts."""

    usage: TokenUsage = TokenUsage()
