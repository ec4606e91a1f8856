"""Options of the commands as dataclasses, and how typer is made to read them.

`run` and `start` share some twenty options. A dataclass holds them once, with their help texts, and
reaches the command as one argument.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

import typer

_O = TypeVar("_O")

_RUN = "What is wanted"
_PEOPLE = "People"
_LIMITS = "Limits"
_OUTPUT = "Output"


def takes(options: type[_O]) -> Callable[[Callable[[_O], None]], Callable[..., None]]:
    """Make a typer command of a function that takes one dataclass of options."""

    def decorate(function: Callable[[_O], None]) -> Callable[..., None]:
        @functools.wraps(function)
        def command(**values: Any) -> None:
            function(options(**values))

        hints = get_type_hints(options, include_extras=True)
        signature = inspect.Signature(
            [
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=_default(field),
                    annotation=hints[field.name],
                )
                for field in dataclasses.fields(options)  # pyright: ignore[reportArgumentType] - always a dataclass
            ]
        )
        # typer reads both: the signature for the order and defaults, the annotations for types.
        command.__dict__["__signature__"] = signature
        command.__annotations__ = hints
        return command

    return decorate


def _default(field: "dataclasses.Field[Any]") -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return inspect.Parameter.empty


@dataclasses.dataclass(frozen=True, kw_only=True)
class Output:
    """How a command answers."""

    json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="One JSON document on standard output, nothing else.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Follow(Output):
    """How a command that follows a run answers."""

    events: Annotated[
        bool,
        typer.Option(
            "--events",
            help="Events as JSON lines on standard error, instead of progress.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Exit with 3, not 0, when the run succeeded only in part.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class TaskOptions:
    """Everything that becomes the task of a run."""

    goal: Annotated[str, typer.Argument(help="What is wanted, 1-2000 characters.", metavar="GOAL")]
    topic: Annotated[
        list[str],
        typer.Option(
            "--topic",
            help="A topic that must be covered; may be given up to 20 times. "
            "Without any, the goal is the one topic.",
            rich_help_panel=_RUN,
        ),
    ] = dataclasses.field(default_factory=list[str])
    corpus: Annotated[
        list[str],
        typer.Option(
            "--corpus",
            help="A folder or file, which is indexed first, or the name of a collection; may be "
            "given several times. Without any: the collection `default`.",
            metavar="PATH|NAME",
            rich_help_panel=_RUN,
        ),
    ] = dataclasses.field(default_factory=list[str])
    strategy: Annotated[
        Literal["plan", "react", "direct"] | None,
        typer.Option(
            "--strategy",
            help="How to work: plan (steps in parallel), react (one loop), direct (one search).",
            rich_help_panel=_RUN,
        ),
    ] = None
    approve: Annotated[
        str | None,
        typer.Option(
            "--approve",
            help="What a person is asked for before it counts: plan, report, tools (every call, "
            "not only those with effects), separated by commas.",
            metavar="plan,report",
            rich_help_panel=_PEOPLE,
        ),
    ] = None
    approver: Annotated[
        list[str],
        typer.Option(
            "--approver",
            help="Who may decide; may be given several times. Without any: anyone.",
            metavar="NAME",
            rich_help_panel=_PEOPLE,
        ),
    ] = dataclasses.field(default_factory=list[str])
    expires_after: Annotated[
        str | None,
        typer.Option(
            "--expires-after",
            help="How long a request waits, such as 90s, 30m, 12h or 3d; silence never grants. "
            "Without it: as long as it takes.",
            metavar="TIME",
            rich_help_panel=_PEOPLE,
        ),
    ] = None
    ask: Annotated[
        bool,
        typer.Option(
            "--ask",
            help="Let a model ask you what only a person can know.",
            rich_help_panel=_PEOPLE,
        ),
    ] = False
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            help="Language of the report, such as en or zh. Default: that of the goal.",
            rich_help_panel=_RUN,
        ),
    ] = None
    id: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="Id of the run, for watch, show, stop and the Web UI. Default: a new one.",
            rich_help_panel=_RUN,
        ),
    ] = None
    max_model_calls: Annotated[
        int | None,
        typer.Option("--max-model-calls", help="Model calls, at least 1.", rich_help_panel=_LIMITS),
    ] = None
    max_tool_calls: Annotated[
        int | None,
        typer.Option(
            "--max-tool-calls", help="Searches and tool calls; 0: none.", rich_help_panel=_LIMITS
        ),
    ] = None
    max_no_progress: Annotated[
        int | None,
        typer.Option(
            "--max-no-progress",
            help="Turns in a row without news, at least 1.",
            rich_help_panel=_LIMITS,
        ),
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", help="Tokens in all; 0: none.", rich_help_panel=_LIMITS),
    ] = None
    max_cost: Annotated[
        float | None,
        typer.Option(
            "--max-cost",
            help="US dollars in all, by the prices in SUREFOOT_PRICES; 0: none.",
            rich_help_panel=_LIMITS,
        ),
    ] = None
    max_active_seconds: Annotated[
        float | None,
        typer.Option(
            "--max-active-seconds",
            help="Working time in seconds, above 0; waiting for people is not counted.",
            rich_help_panel=_LIMITS,
        ),
    ] = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunOptions(Follow, TaskOptions):
    """Options of `run`."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class StartOptions(Output, TaskOptions):
    """Options of `start`."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class DemoOptions(Follow):
    """Options of `demo`."""

    include_recovery: Annotated[
        bool,
        typer.Option(
            "--include-recovery",
            help="Also require the topic `recovery`, on which there is no note.",
        ),
    ] = False
    goal: Annotated[
        str | None,
        typer.Option("--goal", help="Another goal, in English or Chinese; topics stay the same."),
    ] = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class DecideOptions(Output):
    """What `approve`, `reject` and `answer` share."""

    run_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the run.")]
    request: Annotated[
        str | None,
        typer.Argument(
            metavar="[REQUEST]", help="Id of the request; without it, the only one that is open."
        ),
    ] = None
    by: Annotated[
        str | None, typer.Option("--by", help="Who decides; default: the name of the user.")
    ] = None
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before it is sent.")] = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class RejectOptions(DecideOptions):
    """Options of `reject`."""

    comment: Annotated[
        str | None,
        typer.Option(
            "--comment",
            help="What should change: it is mended once and asked again. Without it the run ends.",
        ),
    ] = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class ApproveOptions(DecideOptions):
    """Options of `approve`."""

    comment: Annotated[str | None, typer.Option("--comment", help="Kept beside it.")] = None
    edits: Annotated[
        str | None,
        typer.Option(
            "--edits",
            help="What replaces what is asked: a JSON object, of a report its text; @FILE holds "
            "it.",
            metavar="JSON|@FILE",
        ),
    ] = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class AnswerOptions(DecideOptions):
    """Options of `answer`."""

    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="The answer; without it, you are asked.")
    ] = None
