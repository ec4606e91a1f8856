"""The two kinds of contract model and the text type they share.

`Strict` is for what people write: unknown fields and wrong types are refused, nothing is
converted (REQUIREMENTS 4). `Wire` is for what workers exchange: unknown fields are ignored, so
that workers of two versions can run side by side (DESIGN, "State and history"); types stay strict.
Both refuse NaN, infinities and lone surrogates, so that every value round-trips as plain JSON
(REQUIREMENTS 185).
"""

from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
)


class Strict(BaseModel):
    """A model for what people write."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, ser_json_inf_nan="constants"
    )


class Wire(BaseModel):
    """A model for what workers exchange."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", strict=True, allow_inf_nan=False, ser_json_inf_nan="constants"
    )


class Compact(Wire):
    """A model that stands in history again and again: fields at their defaults are left out.

    A default of such a model never changes: a field that was left out means the default it had.
    """

    @model_serializer(mode="wrap")
    def _without_defaults(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        return {
            name: value
            for name, value in handler(self).items()
            if fields[name].is_required() or getattr(self, name) != fields[name].default
        }


class Mutable(BaseModel):
    """A model of a run's state: plain JSON, changed in place by the workflow only."""

    model_config = ConfigDict(
        extra="ignore", strict=True, allow_inf_nan=False, ser_json_inf_nan="constants"
    )


def not_blank(value: str) -> str:
    """Refuse a text of white space only; full-width blanks count as white space."""
    if not value.strip():
        raise ValueError("must not be blank")
    return value


def cut_bytes(text: str, limit: int) -> str:
    """Cut a text to at most `limit` bytes of UTF-8, never inside a character."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= limit else data[: limit - 3].decode("utf-8", "ignore") + "…"


NAME_PATTERN: Final = r"^[\w][\w.-]{0,63}$"
REF_PATTERN: Final = r"^sha256:[0-9a-f]{64}$"

Line = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(not_blank)]
Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
Ref = Annotated[str, StringConstraints(pattern=REF_PATTERN)]
JsonObject = dict[str, Any]

NonNegative = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
