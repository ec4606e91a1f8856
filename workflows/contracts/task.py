"""Task, the input of AgentRun (INTERFACE, "Task"), and ResolvedTask, what `prepare` makes of it."""

from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
    model_validator,
)

from workflows.contracts.base import (
    JsonObject,
    Line,
    Name,
    NonNegative,
    Positive,
    Ref,
    Strict,
    Wire,
    not_blank,
)
from workflows.contracts.plan import Plan
from workflows.contracts.price import MoneyText, RolePrices

Strategy = Literal["plan", "react", "direct"]
Goal = Annotated[str, StringConstraints(min_length=1, max_length=2000), AfterValidator(not_blank)]
Calls = Annotated[int, Field(ge=0, le=2000)]
CallsAtLeastOne = Annotated[int, Field(ge=1, le=2000)]
_APPROVER_BYTES: Final = 4000  # every open request names them


def _few(names: list[str]) -> list[str]:
    size = sum(len(name.encode("utf-8", "replace")) for name in names)
    if size > _APPROVER_BYTES:
        raise ValueError(f"expected at most {_APPROVER_BYTES} bytes in all, found {size}")
    return names


class _NoNull(Strict):
    """Leaving a field out means its default; `null` is refused."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_null(cls, value: Any) -> Any:
        if isinstance(value, dict):
            empty = [str(k) for k, v in value.items() if v is None]  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
            if empty:
                raise ValueError(f"null is refused for {', '.join(empty)}: leave the field out")
        return value  # pyright: ignore[reportUnknownVariableType]

    @model_serializer(mode="wrap")
    def _leave_out(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in handler(self).items() if value is not None}


class Topic(Strict):
    """A required topic: an id and the question it stands for."""

    id: Line
    question: Annotated[str, StringConstraints(min_length=1, max_length=500)]


class Limits(_NoNull):
    """Hard budgets as a caller gives them; what is left out is the strategy's default.

    `max_cost` is in US dollars.
    """

    max_model_calls: CallsAtLeastOne | None = None
    max_tool_calls: Calls | None = None
    max_tool_calls_per_step: Calls | None = None
    max_no_progress: CallsAtLeastOne | None = None
    max_steps: Annotated[int, Field(ge=0, le=100)] | None = None
    max_rounds: Calls | None = None
    max_replans: Calls | None = None
    max_local_retries: Calls | None = None
    max_concurrency: Annotated[int, Field(ge=0, le=64)] | None = None
    max_tokens: NonNegative | None = None
    max_cost: Annotated[float, Field(ge=0, le=1_000_000_000)] | None = None
    max_active_seconds: Annotated[float, Field(gt=0, le=2_592_000)] | None = None


class Approvals(_NoNull):
    """Who is asked, and when; `questions` lets the model ask the user what only they know."""

    plan: bool = False
    report: bool = False
    tools: Literal["effects", "all"] = "effects"
    questions: bool = False
    approvers: Annotated[list[Line], Field(max_length=50), AfterValidator(_few)] = []
    expires_after_seconds: Annotated[float, Field(gt=0, le=31_536_000)] | None = None


class ModelNames(_NoNull):
    """Names of model profiles of the worker; never keys."""

    planner: Name | None = None
    executor: Name | None = None
    judge: Name | None = None


class Task(_NoNull):
    """What `AgentRun` is started with: one JSON object."""

    goal: Goal
    required_topics: Annotated[list[Line | Topic], Field(max_length=20)] = []
    strategy: Strategy | None = None
    plan: Plan | None = None
    corpora: Annotated[list[Name], Field(max_length=20)] = ["default"]
    tools: Annotated[list[Name], Field(max_length=50)] | None = None
    datasets: Annotated[list[Name], Field(max_length=50)] | None = None
    language: (
        Annotated[
            str, StringConstraints(max_length=35, pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")
        ]
        | None
    ) = None
    limits: Limits = Limits()
    approvals: Approvals = Approvals()
    models: ModelNames = ModelNames()
    tenant: Annotated[str, StringConstraints(max_length=200)] = ""

    @model_validator(mode="after")
    def _unique_topics(self) -> "Task":
        ids = [t if isinstance(t, str) else t.id for t in self.required_topics]
        twice = sorted({i for i in ids if ids.count(i) > 1})
        if twice:
            raise ValueError(
                f"required_topics: ids must be unique, found twice: {', '.join(twice)}"
            )
        return self


class ResolvedLimits(Wire):
    """Every budget of a run as a number; None only where the strategy has no such limit."""

    max_model_calls: Positive
    max_tool_calls: NonNegative
    max_no_progress: Positive
    max_tokens: NonNegative | None = None
    max_cost: MoneyText | None = None
    max_active_seconds: float
    max_tool_calls_per_step: NonNegative = 1
    max_steps: NonNegative = 1
    max_rounds: NonNegative = 1
    max_replans: NonNegative = 0
    max_local_retries: NonNegative = 0
    max_concurrency: Positive = 1


class ResolvedApprovals(Wire):
    """Who is asked, and when; seconds to answer, None for no deadline."""

    plan: bool = False
    report: bool = False
    tools: Literal["effects", "all"] = "effects"
    questions: bool = False
    approvers: list[str] = []
    expires_after_seconds: float | None = None


class ToolSpec(Wire):
    """A tool as a run knows it (REQUIREMENTS 158); `schema_` is JSON schema of its arguments."""

    name: str
    description: str = ""
    schema_: JsonObject = {}
    effect: Literal["read", "write", "irreversible"] = "read"
    seconds: float = 60.0


class ResolvedTopic(Wire):
    """A topic with what the rules need of it.

    Attributes:
        id: as the caller gave it.
        question: the question it stands for (its id where the caller gave a text only).
        query: the question without stop words, at most 80 characters (extractive model).
        names: names and identifiers in the question that a covering text must hold.
    """

    id: str
    question: str
    query: str = ""
    names: list[str] = []


class Settings(Wire):
    """Worker settings resolved once per run, so that a changed default never touches a run.

    Attributes:
        attempts: attempts per act, at least 1.
        model_seconds: start-to-close timeout of one model attempt.
        search_seconds: start-to-close timeout of one search attempt.
        heartbeat_seconds: heartbeat timeout of model calls and searches.
        min_cover: share of a query's IDF a passage must hold to count as found, 0..1.
        topic_cover: share of a topic's IDF a passage must hold to cover it, 0..1.
        search_attributes: which of ours the server has registered.
        cli: what a `temporal` command needs besides the run's id to reach this server.
    """

    attempts: Positive = 4
    model_seconds: float = 120.0
    search_seconds: float = 60.0
    heartbeat_seconds: float = 30.0
    min_cover: float = 0.0
    topic_cover: float = 0.35
    search_attributes: list[str] = []
    cli: str = ""


class ResolvedTask(Wire):
    """Everything a run needs to know that does not change while it runs.

    Attributes:
        model: display name of the planner's model, as results and reports name it.
        planner, executor, judge: profiles of the roles; "" for the planner's.
        rules: version of the loop's rules that this run keeps to; 2: a step's first decision is
            kept back like its write, and nothing is written from nothing for want of a budget;
            3: what is cut off when a plan ends is waited for, and a plan that never came blames no
            step.
        prices: of the roles' models, where this worker knows them.
        judge_extractive: whether nothing judges; then claims are verbatim quotes.
        plan: the caller's own plan, None if the planner makes one.
        specs: the tools of this run.
        extractive: whether the built-in extractive model works.
        search_order: indexes of topics in the order in which the extractive model searches them;
            empty for the caller's order.
    """

    goal: str
    topics: list[ResolvedTopic]
    own_topics: bool = True
    strategy: Strategy
    corpora: list[str]
    tools: list[str]
    language: str
    limits: ResolvedLimits
    planner: str
    model: str
    extractive: bool
    executor: str = ""
    judge: str = ""
    rules: Positive = 1
    prices: RolePrices = RolePrices()
    judge_extractive: bool = True
    plan: Plan | None = None
    specs: list[ToolSpec] = []
    search_order: list[int] = []
    approvals: ResolvedApprovals = ResolvedApprovals()
    settings: Settings = Settings()
    tenant: str = ""


class Prepared(Wire):
    """Result of `prepare`.

    Attributes:
        problems: names that no worker knows, one sentence each; the run closes as
            `invalid_input` when there are any.
        plan_problems: what is wrong with the caller's own plan; the run closes as `plan_invalid`.
        task_ref: where the task lies in the evidence store, for later activities.
    """

    task: ResolvedTask
    task_ref: Ref
    store_id: str
    problems: list[str] = []
    plan_problems: list[str] = []
    prepared_at: str = ""
