"""What a worker offers besides the search: specifications and functions of tools."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import jsonschema_rs

from workflows.contracts.base import JsonObject
from workflows.contracts.task import ToolSpec

SEARCH = ToolSpec(
    name="search",
    description="Search the collections of the run for passages.",
    schema_={
        "type": "object",
        "properties": {"query": {"type": "string", "minLength": 1, "maxLength": 80}},
        "required": ["query"],
        "additionalProperties": False,
    },
)
_PROBLEMS = 3


@dataclass(frozen=True)
class Tool:
    """A tool: what a run knows of it, and what runs.

    `run` is handed the arguments and gives plain JSON; it may block (it runs in a thread) or be a
    coroutine function.
    """

    spec: ToolSpec
    run: Callable[[JsonObject], Any]


class ArgumentsError(ValueError):
    """Arguments that the tool's schema refuses; the message says what is expected."""


class Registry:
    """The tools of a worker by name; `search` is the backend's and always there."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._validators = {
            spec.name: jsonschema_rs.validator_for(spec.schema_)
            for spec in (SEARCH, *self.specs())
            if spec.schema_
        }

    def get(self, name: str) -> Tool | None:
        """The tool of a name, None if there is none."""
        return self._tools.get(name)

    def specs(self) -> list[ToolSpec]:
        """Specifications in the order of registration."""
        return [tool.spec for tool in self._tools.values()]

    def check(self, name: str, arguments: JsonObject) -> None:
        """Refuse arguments that the schema does not allow.

        Raises:
            ArgumentsError: with the first problems, each with its place.
        """
        validator = self._validators.get(name)
        if validator is None:
            return
        found = [
            f"{'.'.join(map(str, error.instance_path)) or 'arguments'}: {error.message}"
            for error, _ in zip(validator.iter_errors(arguments), range(_PROBLEMS), strict=False)
        ]
        if found:
            raise ArgumentsError("; ".join(found)[:500])
