"""The payload converter: pydantic JSON, with a marker for what cannot be decoded.

Where a target has no type hint, or `Any` (workflow input and messages: `*args: Any`), whatever
cannot be read becomes `{"$undecodable": reason, "encoding": ..., "bytes": n}` instead of an
exception: an exception there leaves a run stuck for good (DESIGN, "Input and messages"). Typed
targets, which only our own workers write, still raise.

Going out, NaN, infinities and lone surrogates are refused: they have no JSON (REQUIREMENTS 185).
"""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

import temporalio.api.failure.v1
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, from_json, to_json
from temporalio.api.common.v1 import Payload, Payloads
from temporalio.common import RawValue
from temporalio.contrib.pydantic import PydanticJSONPlainPayloadConverter
from temporalio.converter import (
    BinaryNullPayloadConverter,
    BinaryPlainPayloadConverter,
    CompositePayloadConverter,
    DataConverter,
    DefaultFailureConverter,
    JSONProtoPayloadConverter,
    PayloadConverter,
)

from runtime.codec import ENCODING, KEY_ID, EncryptionCodec, parse_keys
from workflows.contracts.base import Mutable, Strict, Wire

UNDECODABLE: Final = "$undecodable"
_OPEN_HINTS: Final = (None, Any, object)
_MAX_MESSAGE: Final = 8_000  # characters; a failure of 2.5 MB hangs the attempt (FIELD-NOTES)
_MAX_TRACE: Final = 16_000
_CONSTANTS: Final = (b"NaN", b"Infinity")
_SUSPICIOUS: Final = (b"null", *_CONSTANTS)  # what a non-finite float can have become


def _children(value: Any) -> Iterable[Any]:
    """What a value of JSON, a model or a dataclass is made of."""
    if isinstance(value, BaseModel):
        return value.__dict__.values()
    if isinstance(value, Mapping):
        return cast("Mapping[Any, Any]", value).values()
    if isinstance(value, list | tuple | set | frozenset):
        return cast("Iterable[Any]", value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return vars(value).values() if hasattr(value, "__dict__") else ()
    return ()


def _has_non_finite(value: Any) -> bool:
    todo = [value]
    while todo:
        current = todo.pop()
        if isinstance(current, float):
            if not math.isfinite(current):
                return True
        elif not isinstance(current, str | bytes):
            todo.extend(_children(current))
    return False


class _Json(PydanticJSONPlainPayloadConverter):
    """Compact JSON that round-trips exactly, or a clear error."""

    def to_payload(self, value: Any) -> Payload | None:
        """Serialize to compact JSON.

        Raises:
            ValueError: the value holds NaN, an infinity, a lone surrogate or bytes.
        """
        try:
            data = to_json(value, inf_nan_mode="constants")
        except PydanticSerializationError as error:
            raise ValueError(f"{type(value).__name__} has no JSON: {error}") from error
        # Other models write a non-finite float as null without a word; ours write what it is.
        marks = _CONSTANTS if isinstance(value, Strict | Wire | Mutable) else _SUSPICIOUS
        if any(mark in data for mark in marks) and _has_non_finite(value):
            raise ValueError(f"{type(value).__name__} has no JSON: it holds NaN or an infinity")
        return Payload(metadata={"encoding": self.encoding.encode()}, data=data)


def _marker(payload: Payload, reason: str) -> dict[str, Any]:
    encoding = payload.metadata.get("encoding", b"").decode("utf-8", "replace")
    return {UNDECODABLE: reason, "encoding": encoding, "bytes": len(payload.data)}


def _open_json(payload: Payload) -> Any:
    try:
        value = from_json(payload.data, allow_inf_nan=False)
    except ValueError as error:
        return _marker(payload, f"invalid JSON: {error}")
    if _overflows(value):  # 1e400
        return _marker(payload, "invalid JSON: a number is out of range")
    return value


def _overflows(value: Any) -> bool:
    """Whether parsed JSON holds an infinity; in C, for a workflow task must not walk megabytes."""
    told = to_json(value, inf_nan_mode="constants")
    return b"Infinity" in told and told != to_json(value, inf_nan_mode="null")


def _open_value(payload: Payload) -> Any:
    """Decode for a target that takes anything; never raises."""
    encoding = payload.metadata.get("encoding", b"")
    if encoding == b"json/plain":
        return _open_json(payload)
    if encoding == b"binary/null":
        return _marker(payload, "binary/null with data") if payload.data else None
    if encoding == ENCODING:
        key_id = payload.metadata.get(KEY_ID, b"").decode("utf-8", "replace")
        return _marker(payload, f"encrypted, and key {key_id!r} does not open it here")
    name = encoding.decode("utf-8", "replace")
    return _marker(payload, f"encoding {name!r} is not read here; expected 'json/plain'")


class MarkingPayloadConverter(CompositePayloadConverter):
    """Null, bytes, pydantic JSON, and protobuf, in which the SDK gives a run's current details."""

    def __init__(self) -> None:
        """Nullary, as the SDK demands of a converter class."""
        super().__init__(
            BinaryNullPayloadConverter(),
            BinaryPlainPayloadConverter(),
            JSONProtoPayloadConverter(),
            _Json(),
        )

    def from_payloads(
        self, payloads: Sequence[Payload], type_hints: list[type] | None = None
    ) -> list[Any]:
        """Decode each payload for its hint, with a marker where there is none.

        Raises:
            KeyError, RuntimeError, ValidationError: a typed target that does not fit.
        """
        hints: Sequence[Any] = type_hints or [None] * len(payloads)
        return [self._decode(payload, hint) for payload, hint in zip(payloads, hints, strict=True)]

    def _decode(self, payload: Payload, hint: Any) -> Any:
        if hint is RawValue:
            return RawValue(payload)
        if hint in _OPEN_HINTS:
            return _open_value(payload)
        return super().from_payloads([payload], [hint])[0]


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + f"… ({len(text) - limit} more)"


class CuttingFailureConverter(DefaultFailureConverter):
    """A net under the activities' own cuts: failures stay small enough to be recorded."""

    encoded = False

    def to_failure(
        self,
        exception: BaseException,
        payload_converter: PayloadConverter,
        failure: temporalio.api.failure.v1.Failure,
    ) -> None:
        """Convert, with message and stack trace cut; called for each cause as well."""
        super().to_failure(exception, payload_converter, failure)
        failure.message = _cut(failure.message, _MAX_MESSAGE)
        failure.stack_trace = _cut(failure.stack_trace, _MAX_TRACE)
        if self.encoded:
            attributes = {"message": failure.message, "stack_trace": failure.stack_trace}
            failure.encoded_attributes.CopyFrom(payload_converter.to_payload(attributes))
            failure.message = "Encoded failure"
            failure.stack_trace = ""


class EncodedFailureConverter(CuttingFailureConverter):
    """Message and stack trace go through the codec as well (`encode_common_attributes`).

    Done here and not by the SDK's flag, because what is encoded can no longer be cut.
    """

    encoded = True


class SurefootDataConverter(DataConverter):
    """A data converter that takes a forged reference to external storage as any other payload.

    Without external storage the SDK raises on such a payload before any converter sees it, which
    leaves the run stuck: `--input-meta encoding=json/external-storage-reference` would do it.
    """

    async def _decode_reference_payload_sequence(
        self, payloads: Sequence[Payload]
    ) -> list[Payload]:
        if self.external_storage:
            return await super()._decode_reference_payload_sequence(payloads)
        return list(payloads)

    async def _external_retrieve_payload_sequence(
        self, payloads: Sequence[Payload]
    ) -> list[Payload]:
        if self.external_storage:
            return await super()._external_retrieve_payload_sequence(payloads)
        return list(payloads)

    async def _transform_inbound_payloads(self, payloads: Payloads) -> None:
        if self.external_storage:
            await super()._transform_inbound_payloads(payloads)
        elif self.payload_codec:
            await self.payload_codec.decode_wrapper(payloads)


def data_converter(codec_keys: str | None) -> DataConverter:
    """The data converter of every client and worker.

    Args:
        codec_keys: `SUREFOOT_CODEC_KEYS`, None for no encryption.

    Raises:
        UsageError: the keys are malformed.
    """
    codec = EncryptionCodec(parse_keys(codec_keys)) if codec_keys else None
    return SurefootDataConverter(
        payload_converter_class=MarkingPayloadConverter,
        payload_codec=codec,
        failure_converter_class=EncodedFailureConverter if codec else CuttingFailureConverter,
    )
