"""From whatever a workflow was started with to a Task, or a list of what is wrong with it.

`run` takes `*args`, so that no input, several inputs, `null` and undecodable payloads reach this
one function instead of sticking a workflow task (DESIGN, "Input and messages"; failures A01).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from workflows.contracts.base import cut_bytes
from workflows.contracts.task import Task
from workflows.logic.available import not_available

UNDECODABLE = "$undecodable"
_SHOWN = 60
_EXPLAINED = 500  # errors: to tell a million of them takes longer than a workflow task may
_FIELD = re.compile(r"[a-z_]+")
_M = TypeVar("_M", bound=BaseModel)

# Whole names only: `max_tokens` is a budget, `access_token` is a credential (failures F01).
_CREDENTIAL = re.compile(
    r"^(.*[_-])?(api[_-]?key|apikey|secret|secret[_-]?key|private[_-]?key|password|passwd|token"
    r"|authorization|bearer|credentials?)$",
    re.IGNORECASE,
)


class InvalidTaskError(Exception):
    """The input is no task; `problems` names each wrong field, one sentence each."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("; ".join(problems))


def parse_task(args: Sequence[Any]) -> Task:
    """The task that `AgentRun` was started with.

    Raises:
        InvalidTaskError: with every wrong field, what was found and what is expected; also for
            what this version cannot honour yet.
    """
    task = parse_object(args, Task, "AgentRun", '{"goal": "..."}')
    problems = not_available(task)
    if problems:
        raise InvalidTaskError(problems)
    return task


def parse_object(args: Sequence[Any], model: type[_M], who: str, example: str) -> _M:
    """One JSON object as a model.

    Raises:
        InvalidTaskError: for another count, another shape, or wrong fields.
    """
    wanted = f"{who} takes one JSON object such as {example}; found "
    if len(args) != 1:
        raise InvalidTaskError([wanted + (f"{len(args)} inputs" if args else "no input")])
    value = args[0]
    if not isinstance(value, dict):
        raise InvalidTaskError([wanted + found_text(value)])
    data = cast("dict[str, Any]", value)
    if UNDECODABLE in data:
        reason = str(data[UNDECODABLE])[:200]
        raise InvalidTaskError([f"{wanted}a payload that cannot be decoded ({reason})"])
    credentials = [
        f"{path}: looks like a credential; keys belong in the worker's environment, never in input"
        for path in _credential_fields(data)
    ]
    if credentials:
        raise InvalidTaskError(credentials)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise InvalidTaskError(explain(error)) from None


def explain(error: ValidationError) -> list[str]:
    """Each wrong field once: where, what is expected, what was found."""
    if error.error_count() > _EXPLAINED:
        return [f"{error.title}: {error.error_count()} fields are unknown or wrong"]
    by_field: dict[str, list[str]] = {}
    found: dict[str, str] = {}
    for item in error.errors(include_url=False, include_context=False):
        # Branches of a union stand in the location as `str` or `Topic`; people do not write them.
        *path, last = item["loc"] or ("input",)
        place = [p for p in path if isinstance(p, int) or _FIELD.fullmatch(p)]
        if isinstance(last, int) or item["type"] == "extra_forbidden" or _FIELD.fullmatch(last):
            place.append(last)
        field = cut_bytes(".".join(str(p) for p in place) or "input", 200)
        if item["type"] == "missing":
            message = "is required"
        elif item["type"] == "extra_forbidden":
            message = "is not a known field"
        else:
            message = item["msg"].removeprefix("Value error, ")
            found[field] = found_text(item["input"])
        if message not in by_field.setdefault(field, []):
            by_field[field].append(message)
    return [
        f"{field}: {' or '.join(messages)}" + (f", found {found[field]}" if field in found else "")
        for field, messages in by_field.items()
    ]


def found_text(value: Any) -> str:
    """What was found, named and cut, so that no message repeats a long input."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {str(value)[:_SHOWN]}"
    if isinstance(value, str):
        shown = value[:_SHOWN].encode("utf-8", "replace").decode()
        return f"the text {shown!r}" + ("…" if len(value) > _SHOWN else "")
    if isinstance(value, dict):
        return "an object"
    return "a list"


def _credential_fields(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in cast("dict[Any, Any]", value).items():
            here = f"{path}.{key}" if path else str(key)
            if _CREDENTIAL.match(str(key)):
                yield here
            else:
                yield from _credential_fields(inner, here)
    elif isinstance(value, list):
        for index, inner in enumerate(cast("list[Any]", value)):
            yield from _credential_fields(inner, f"{path}.{index}")
