"""Encryption: keys, rotation, and that decoding never raises."""

import base64

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.exceptions import ApplicationError

from runtime.codec import ENCODING, KEY_ID, EncryptionCodec, parse_keys
from runtime.converter import UNDECODABLE, data_converter
from runtime.errors import UsageError

OLD = "old:" + base64.b64encode(b"o" * 32).decode()
NEW = "new:" + base64.b64encode(b"n" * 32).decode()
TEXT = "geheim 机密 🔑"


def _codec(keys: str) -> EncryptionCodec:
    return EncryptionCodec(parse_keys(keys))


def _payload() -> Payload:
    return Payload(metadata={"encoding": b"json/plain", "x": b"1"}, data=TEXT.encode())


async def test_the_first_key_encrypts_and_every_key_decrypts() -> None:
    plain = _payload()
    [old] = await _codec(OLD).encode([plain])
    [new] = await _codec(f"{NEW}, {OLD}").encode([plain])
    assert (old.metadata[KEY_ID], new.metadata[KEY_ID]) == (b"old", b"new")
    assert "机密".encode() not in old.data + new.data
    assert await _codec(f"{NEW},{OLD}").decode([old, new, plain]) == [plain, plain, plain]


async def test_the_same_payload_never_encrypts_to_the_same_bytes() -> None:
    [one, two] = await _codec(OLD).encode([_payload(), _payload()])
    assert one.data != two.data


@pytest.mark.parametrize(
    "payload",
    [
        Payload(),
        Payload(metadata={"encoding": ENCODING}, data=b""),
        Payload(metadata={"encoding": ENCODING, KEY_ID: b"old"}, data=b"x" * 12),
        Payload(metadata={"encoding": ENCODING, KEY_ID: b"old"}, data=b"x" * 60),
        Payload(metadata={"encoding": ENCODING, KEY_ID: b"\xff\xfe"}, data=b"x" * 60),
        Payload(metadata={"encoding": ENCODING, KEY_ID: b"gone"}, data=b"x" * 60),
        Payload(metadata={"encoding": b"\xff"}, data=b"{}"),
    ],
)
async def test_what_cannot_be_decrypted_passes_on_and_becomes_a_marker(payload: Payload) -> None:
    assert await _codec(OLD).decode([payload]) == [payload]
    [value] = await data_converter(OLD).decode([payload])
    assert set(value) == {UNDECODABLE, "encoding", "bytes"}


async def test_a_damaged_or_relabelled_payload_does_not_decrypt() -> None:
    both = _codec(f"{OLD},{NEW}")
    [sealed] = await both.encode([_payload()])
    flipped = bytes([*sealed.data[:-1], sealed.data[-1] ^ 1])
    damaged = Payload(metadata=dict(sealed.metadata), data=flipped)
    relabelled = Payload(metadata={"encoding": ENCODING, KEY_ID: b"new"}, data=sealed.data)
    assert await both.decode([damaged, relabelled]) == [damaged, relabelled]


async def test_failures_are_encoded_with_details_and_cause() -> None:
    converter = data_converter(OLD)
    failure = Failure()
    error = ApplicationError(TEXT, {"detail": TEXT}, type="ModelError")
    error.__cause__ = ValueError(TEXT)
    await converter.encode_failure(error, failure)
    assert "机密" not in str(failure)
    assert "机密".encode() not in failure.SerializeToString()
    assert failure.application_failure_info.type == "ModelError"  # routing needs it in the clear
    read = await converter.decode_failure(failure)
    assert isinstance(read, ApplicationError)
    assert (read.message, list(read.details)) == (TEXT, [{"detail": TEXT}])
    assert TEXT in str(read.__cause__)


async def test_a_failure_of_a_lost_key_still_reads() -> None:
    failure = Failure()
    await data_converter(OLD).encode_failure(ApplicationError(TEXT, 1), failure)
    read = await data_converter(NEW).decode_failure(failure)
    assert isinstance(read, ApplicationError)
    assert read.message == "Encoded failure"
    assert UNDECODABLE in read.details[0]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("x", "pair 1 has no valid id"),
        (":QUJD", "pair 1 has no valid id"),
        (f"{OLD},", "pair 2 has no valid id"),
        ("a:***", "pair 1 ('a') is not base64"),
        ("a:QUJD", "pair 1 ('a') has 3 bytes"),
        (f"{OLD},{OLD}", "id 'old' occurs twice"),
    ],
)
def test_bad_keys_are_named_without_their_value(keys: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_keys(keys)
    assert said in str(error.value)
    assert "expected id:base64 pairs" in str(error.value)
    assert "QUJD" not in str(error.value)
