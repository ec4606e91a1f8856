"""Strict JSON schema from the pydantic model that validates the reply (REQUIREMENTS 218, 219).

Servers refuse strict schemas that hold more than the common subset: every property required, no
additional ones, none of default, minLength, pattern and the like (FIELD-NOTES; B21). What is left
out here is still checked locally: what a server enforces is never trusted.
"""

from functools import cache
from typing import Any, Final, cast

from pydantic import BaseModel

from workflows.contracts.base import JsonObject

_COPIED: Final = ("type", "enum")
_CHOICES: Final = ("anyOf", "oneOf")
_DEFINITION: Final = "#/$defs/"


class SchemaError(ValueError):
    """The model cannot be written as a strict schema; an error of the program, not of input."""


@cache
def strict_schema(model: type[BaseModel]) -> JsonObject:
    """The normalised schema of a model, definitions inlined; made once, so it is not to be changed.

    Raises:
        SchemaError: the model is recursive or has objects of free form.
    """
    raw = model.model_json_schema()
    return _strict(raw, raw.get("$defs", {}), ())


def _strict(node: JsonObject, definitions: JsonObject, inside: tuple[str, ...]) -> JsonObject:
    if "$ref" in node:
        name = str(node["$ref"]).removeprefix(_DEFINITION)
        if name in inside:
            raise SchemaError(f"{name} contains itself: a strict schema cannot")
        return _strict(definitions[name], definitions, (*inside, name))
    strict: JsonObject = {key: node[key] for key in _COPIED if key in node}
    if "const" in node:
        strict["enum"] = [node["const"]]
    if "items" in node:
        strict["items"] = _strict(node["items"], definitions, inside)
    for key in _CHOICES:
        if key in node:
            choices = cast("list[JsonObject]", node[key])
            strict["anyOf"] = [_strict(choice, definitions, inside) for choice in choices]
    if node.get("type") == "object":
        strict |= _object(node, definitions, inside)
    if not strict:
        raise SchemaError("a value of any type cannot stand in a strict schema")
    return strict


def _object(node: JsonObject, definitions: JsonObject, inside: tuple[str, ...]) -> JsonObject:
    properties = cast("dict[str, dict[str, Any]]", node.get("properties", {}))
    if not properties:
        raise SchemaError("an object of free form cannot stand in a strict schema")
    return {
        "properties": {
            name: _strict(value, definitions, inside) for name, value in properties.items()
        },
        "required": list(properties),
        "additionalProperties": False,
    }
