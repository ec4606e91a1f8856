"""What goes out is JSON, and whatever comes in becomes a value or a marker.

How it can go wrong: an exception while decoding an input or a message leaves a run stuck for good.
"""

import asyncio
import dataclasses
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import pytest_asyncio
from pydantic import BaseModel, Field
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.worker import Worker

from runtime.binary import find_binary
from runtime.connect import connect
from runtime.converter import UNDECODABLE, data_converter
from runtime.embedded import EmbeddedServer
from tests.runtime.echo import Echo
from workflows.contracts.base import Mutable

NAN = float("nan")
ENCRYPTED = "encoding=binary/encrypted"
REFERENCE = "encoding=json/external-storage-reference"
BYTES = ("--input-base64", "--input-meta", "encoding=binary/plain")


class Loose(BaseModel):
    """A model that lets NaN in."""

    value: float | None = None
    more: dict[str, Any] = {}


class Ours(Mutable):
    """One of ours with an open field, in which a NaN could hide."""

    more: dict[str, Any] = Field(default_factory=dict)
    value: float | None = None


@dataclasses.dataclass
class Data:
    """The same as a dataclass."""

    value: float


def _encode(value: Any) -> bytes:
    return data_converter(None).payload_converter.to_payload(value).data


def _decode(data: bytes, encoding: str = "json/plain", **metadata: str) -> Any:
    fields = {"encoding": encoding, **metadata}
    payload = Payload(metadata={k: v.encode() for k, v in fields.items()}, data=data)
    return data_converter(None).payload_converter.from_payloads([payload])[0]


def test_json_is_compact_and_keeps_chinese() -> None:
    assert _encode({"a": [1, "中文"], "b": None}) == '{"a":[1,"中文"],"b":null}'.encode()
    assert _encode(Loose(value=1.5)) == b'{"value":1.5,"more":{}}'


@pytest.mark.parametrize(
    "value",
    [NAN, [1.0, float("inf")], {"a": {"b": -float("inf")}}, Loose(value=NAN),
     Loose(more={"x": [NAN]}), [Loose(value=NAN)], Data(NAN), Ours(more={"x": [NAN]}),
     Ours.model_construct(value=NAN, more={}), [Ours(more={"x": -float("inf")})]],
)  # fmt: skip
def test_what_has_no_number_in_json_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="has no JSON: it holds NaN or an infinity"):
        _encode(value)


@pytest.mark.parametrize("value", ["\ud800", {"a\udfff": 1}, Loose(more={"x": "\ud800"})])
def test_lone_surrogates_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="has no JSON"):
        _encode(value)


def test_null_and_the_words_null_and_nan_are_no_reason_to_refuse() -> None:
    assert _encode(Loose(value=None, more={"null": "NaN Infinity"}))
    assert _encode(Ours(more={"null": "NaN Infinity"}))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "EOF"),
        (b"{", "EOF"),
        (b"NaN", "expected value"),
        (b"[1e400]", "out of range"),
        (b'"\\ud800"', "hex escape"),
        (b'"\xff"', "invalid JSON"),
        (b"[" * 100_000, "recursion limit"),
        (b"1 2", "trailing"),
    ],
)
def test_bad_json_becomes_a_marker(data: bytes, reason: str) -> None:
    marker = _decode(data)
    assert reason in marker[UNDECODABLE]
    assert marker["bytes"] == len(data)


@pytest.mark.parametrize(
    "encoding",
    ["", "json/nonsense", "binary/plain", "binary/protobuf", "json/protobuf", "binary/encrypted",
     "json/external-storage-reference"],
)  # fmt: skip
def test_other_encodings_become_markers(encoding: str) -> None:
    marker = _decode(b"{}", encoding, messageType="temporal.api.common.v1.Payload")
    assert marker["encoding"] == encoding
    assert UNDECODABLE in marker


def test_null_is_none_but_null_with_data_is_a_marker() -> None:
    assert _decode(b"", "binary/null") is None
    assert _decode(b"null") is None
    assert UNDECODABLE in _decode(b"x", "binary/null")


def test_typed_targets_still_raise() -> None:
    converter = data_converter(None).payload_converter
    bad = Payload(metadata={"encoding": b"json/plain"}, data=b'{"value": "x"}')
    with pytest.raises(ValueError, match="validation error"):
        converter.from_payload(bad, Loose)
    unknown = Payload(metadata={"encoding": b"json/nonsense"}, data=b"{}")
    with pytest.raises(KeyError, match="json/nonsense"):
        converter.from_payload(unknown, Loose)
    assert converter.from_payload(converter.to_payload(b"\xff"), bytes) == b"\xff"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def client(server: EmbeddedServer) -> AsyncGenerator[Client]:
    connected = await connect(data_converter(None), server.address)
    async with Worker(connected, task_queue="echo", workflows=[Echo]):
        yield connected


async def _cli(client: Client, *args: str) -> str:
    """The real command line, as people use it."""
    process = await asyncio.create_subprocess_exec(
        str(find_binary()),
        *args,
        *("--address", client.service_client.config.target_host),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


async def _start(client: Client, workflow_id: str, *args: str) -> None:
    await _cli(
        client,
        *("workflow", "start", "--type", "Echo", "--task-queue", "echo"),
        *("--workflow-id", workflow_id, *args),
    )


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("none", [], []),
        ("two", ["--input", '{"a": 1}', "--input", '"zwei 二"'], [{"a": 1}, "zwei 二"]),
        ("null", ["--input", "null"], [None]),
        ("list", ["--input", "[1, null]"], [[1, None]]),
        ("number", ["--input", "4.0"], [4.0]),
        ("unknown", ["--input", "{}", "--input-meta", "encoding=json/nonsense"], ["json/nonsense"]),
        ("encrypted", ["--input", "{}", "--input-meta", ENCRYPTED], ["binary/encrypted"]),
        ("reference", ["--input", "{}", "--input-meta", REFERENCE], [REFERENCE[9:]]),
        (
            "marked",
            ["--input", "{}", "--input-meta", "__temporal_external_storage_reference=true"],
            [{}],
        ),
        ("bytes", ["--input", "/w==", *BYTES], ["binary/plain"]),
    ],
)
async def test_any_input_of_the_command_line_reaches_the_workflow(
    client: Client, name: str, args: list[str], expected: list[Any]
) -> None:
    await _start(client, f"in-{name}", *args)
    async with asyncio.timeout(10):
        result: Any = await client.get_workflow_handle(f"in-{name}").result()
    assert result["initial"] == result["input"]
    shown = [v["encoding"] if _is_marker(v) else v for v in result["input"]]
    assert shown == expected


def _is_marker(value: Any) -> bool:
    return isinstance(value, dict) and UNDECODABLE in value


async def test_any_message_of_the_command_line_reaches_the_workflow(client: Client) -> None:
    await _start(client, "messages", "--input", '"wait"')
    async with asyncio.timeout(20):
        to = ("--workflow-id", "messages")
        query = ("workflow", "query", *to, "--type", "show", "--output", "json")
        asked = await _cli(client, *query, "--input", "{", "--input-meta", "encoding=x")
        [found] = json.loads(asked)["queryResult"]
        assert found[0]["encoding"] == "x"
        update = ("workflow", "update", "execute", *to, "--name", "change", "--output", "json")
        changed = await _cli(client, *update, "--input", "1", "--input", "null")
        assert json.loads(changed)["result"] == [1, None]
        signal = ("workflow", "signal", *to, "--name", "note")
        await _cli(client, *signal, "--input", "/w==", *BYTES)
        result: Any = await client.get_workflow_handle("messages").result()
    [[marker]] = result["signals"]
    assert UNDECODABLE in marker
