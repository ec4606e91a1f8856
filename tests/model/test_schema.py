"""The schema that is sent: strict, normalised, from the model that validates."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from activities.model.schema import SchemaError, strict_schema
from tests.case_files import departs, load
from workflows.contracts.decision import Answer, NextAction

ALLOWED = {"type", "properties", "required", "items", "enum", "anyOf", "additionalProperties"}


def lint(node: Any) -> None:
    """What the strictest servers refuse (B21)."""
    if isinstance(node, list):
        for each in node:  # pyright: ignore[reportUnknownVariableType] - any JSON
            lint(each)
    elif isinstance(node, dict):
        assert set(node) <= ALLOWED  # pyright: ignore[reportUnknownArgumentType] - any JSON
        if node.get("type") == "object":  # pyright: ignore[reportUnknownMemberType] - any JSON
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])  # pyright: ignore[reportUnknownArgumentType] - any JSON
            lint(list(node["properties"].values()))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType] - any JSON
        lint(node.get("items"))  # pyright: ignore[reportUnknownMemberType] - any JSON
        lint(node.get("anyOf"))  # pyright: ignore[reportUnknownMemberType] - any JSON


class Inner(BaseModel):
    """An inner object, with a docstring."""

    when: Annotated[str, Field(pattern=r"\d+")] = "0"
    kind: Literal["one"] = "one"


class Outer(BaseModel):
    """Every kind of field."""

    inner: Inner = Inner()
    many: Annotated[list[Inner], Field(max_length=3)] = []
    maybe: int | None = None


@pytest.mark.parametrize("model", [NextAction, Answer, Outer])
def test_every_schema_passes_the_strictest_server(model: type[BaseModel]) -> None:
    lint(strict_schema(model))


def test_definitions_are_inlined_and_optional_fields_required() -> None:
    schema = strict_schema(Outer)
    assert schema["required"] == ["inner", "many", "maybe"]
    assert schema["properties"]["inner"]["properties"]["kind"] == {
        "type": "string",
        "enum": ["one"],
    }
    assert schema["properties"]["maybe"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}


class Recursive(BaseModel):
    """Contains itself."""

    children: "list[Recursive]" = []


class FreeForm(BaseModel):
    """An object without known properties."""

    anything: dict[str, Any]


class Untyped(BaseModel):
    """A value of any type."""

    anything: Any


@pytest.mark.parametrize("model", [Recursive, FreeForm, Untyped])
def test_what_cannot_be_strict_is_an_error(model: type[BaseModel]) -> None:
    with pytest.raises(SchemaError):
        strict_schema(model)


@pytest.mark.cases("control_flow_cases.json")
def test_next_action_is_the_recorded_schema(request: pytest.FixtureRequest) -> None:
    shape = load("control_flow_cases.json")["request_shape"]
    schema = strict_schema(NextAction)
    assert sorted(schema["required"]) == shape["schema_required"]
    assert schema["additionalProperties"] is shape["additionalProperties"]
    expected = shape["schema_properties"]
    if any("minItems" in each or "maxItems" in each for each in expected.values()):
        departs(request, "C43")
        expected = {
            name: {k: v for k, v in each.items() if k not in ("minItems", "maxItems")}
            for name, each in expected.items()
        }
    assert schema["properties"] == expected
