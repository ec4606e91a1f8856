"""Payload encryption: AES-256-GCM with key ids, off unless `SUREFOOT_CODEC_KEYS` is set.

An encrypted payload holds a whole payload: metadata `encoding: binary/encrypted` and
`encryption-key-id: <id>`, data = 12 bytes of nonce, then ciphertext and tag. The key id is bound
in as associated data.

Decoding never raises: what is not encrypted, or cannot be decrypted, passes on unchanged and the
payload converter makes a marker of it (DESIGN, "Input and messages"). An exception here would
leave a run stuck for good.
"""

import base64
import binascii
import os
import re
from collections.abc import Sequence
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from google.protobuf.message import DecodeError
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

from runtime.errors import UsageError

ENCODING: Final = b"binary/encrypted"
KEY_ID: Final = "encryption-key-id"
_NONCE_BYTES: Final = 12  # the length AES-GCM is specified for
_KEY_BYTES: Final = (16, 24, 32)
_KEY_ID_PATTERN: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_EXPECTED: Final = (
    "expected id:base64 pairs separated by commas, each key 16, 24 or 32 bytes "
    "(make one with: openssl rand -base64 32)"
)


def parse_keys(text: str) -> dict[str, bytes]:
    """Keys by id, in order, from `id:base64,id2:base64`.

    Raises:
        UsageError: names the pair (by position and id, never the key) and what is expected.
    """
    keys: dict[str, bytes] = {}
    for position, pair in enumerate(text.split(","), start=1):
        key_id, colon, encoded = pair.strip().partition(":")
        where = f"SUREFOOT_CODEC_KEYS: pair {position}"
        if not colon or not _KEY_ID_PATTERN.fullmatch(key_id):
            raise UsageError(f"{where} has no valid id; {_EXPECTED}")
        if key_id in keys:
            raise UsageError(f"{where}: id {key_id!r} occurs twice; {_EXPECTED}")
        try:
            key = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            raise UsageError(f"{where} ({key_id!r}) is not base64; {_EXPECTED}") from None
        if len(key) not in _KEY_BYTES:
            raise UsageError(f"{where} ({key_id!r}) has {len(key)} bytes; {_EXPECTED}")
        keys[key_id] = key
    return keys


class EncryptionCodec(PayloadCodec):
    """Encrypts with the first key, decrypts with every key."""

    def __init__(self, keys: dict[str, bytes]) -> None:
        """Take keys by id, at least one; the first encrypts."""
        self._key_id = next(iter(keys))
        self._ciphers = {key_id: AESGCM(key) for key_id, key in keys.items()}

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Encrypt each payload whole, metadata included."""
        return [self._encrypt(payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Decrypt what is encrypted with a known key; pass everything else on unchanged."""
        return [self._decrypt(payload) for payload in payloads]

    def _encrypt(self, payload: Payload) -> Payload:
        nonce = os.urandom(_NONCE_BYTES)
        key_id = self._key_id.encode()
        sealed = self._ciphers[self._key_id].encrypt(nonce, payload.SerializeToString(), key_id)
        return Payload(metadata={"encoding": ENCODING, KEY_ID: key_id}, data=nonce + sealed)

    def _decrypt(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != ENCODING:
            return payload
        key_id = payload.metadata.get(KEY_ID, b"")
        cipher = self._ciphers.get(key_id.decode("utf-8", "replace"))
        if cipher is None or len(payload.data) <= _NONCE_BYTES:
            return payload
        nonce, sealed = payload.data[:_NONCE_BYTES], payload.data[_NONCE_BYTES:]
        try:
            return Payload.FromString(cipher.decrypt(nonce, sealed, key_id))
        except (InvalidTag, DecodeError, ValueError):
            return payload
