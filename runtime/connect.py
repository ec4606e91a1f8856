"""A Temporal client from the CLI's profiles and `TEMPORAL_*` variables, or for an address.

What the SDK's core logs goes to Python's logging, never to standard output: that belongs to
results (INTERFACE, "Command line").
"""

import asyncio
import functools
import logging
import os
import re
from datetime import timedelta
from typing import Final

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.converter import DataConverter
from temporalio.envconfig import ClientConfigProfile, ClientConnectConfig
from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)
from temporalio.service import RPCError, RPCStatusCode

from runtime.errors import ConnectError, UsageError
from workflows.contracts import names

DEFAULT_ADDRESS: Final = "localhost:7233"
_SECONDS: Final = 5.0
_NOT_ALLOWED: Final = {
    RPCStatusCode.PERMISSION_DENIED,
    RPCStatusCode.UNAUTHENTICATED,
    RPCStatusCode.UNIMPLEMENTED,
}
_HINT: Final = (
    "Start the server, correct TEMPORAL_ADDRESS or the profile, or unset them to use the "
    "embedded server"
)


@functools.cache
def sdk_runtime() -> Runtime:
    """The SDK's runtime of this process, with its logs forwarded to Python's logging."""
    logging_config = LoggingConfig(
        filter=TelemetryFilter(core_level="WARN", other_level="ERROR"),
        forwarding=LogForwardingConfig(logger=logging.getLogger("temporalio.core")),
    )
    return Runtime(telemetry=TelemetryConfig(logging=logging_config))


def _profile() -> ClientConfigProfile:
    """The profile that the environment names, `TEMPORAL_*` variables applied.

    Raises:
        UsageError: the configuration file or the profile cannot be read.
    """
    # The SDK's core panics on a variable that is not UTF-8, whichever it is.
    for name, value in os.environ.items():
        if not (name + value).isascii() and any("\udc80" <= c <= "\udcff" for c in name + value):
            raise UsageError(f"environment variable {name!a} is not UTF-8: correct or unset it")
    try:
        return ClientConfigProfile.load()
    except (RuntimeError, ValueError) as error:
        raise UsageError(f"Temporal client configuration: {error}") from error


def configured() -> bool:
    """Whether a server is configured: an address by variable or profile, or a profile by name.

    Raises:
        UsageError: the configuration cannot be read.
    """
    return bool(_profile().address or os.environ.get("TEMPORAL_PROFILE", "").strip())


async def connect(converter: DataConverter, address: str | None = None) -> Client:
    """Connect to the configured server, or to an address (the embedded server's).

    With an address, profiles and variables do not count. Fails within about five seconds.

    Raises:
        ConnectError: nothing answers, the server refuses us, or the namespace does not exist.
        UsageError: the configuration cannot be read.
    """
    config = ClientConnectConfig() if address else _profile().to_client_connect_config()
    target = address or config.get("target_host") or DEFAULT_ADDRESS
    if "://" in target:  # the SDK would warn, and guess
        raise ConnectError(f"Temporal address {target!r}: expected host:port without a scheme")
    config["target_host"] = target
    namespace = config.get("namespace") or "default"
    try:
        async with asyncio.timeout(_SECONDS):
            client = await Client.connect(**config, data_converter=converter, runtime=sdk_runtime())
            await _check_namespace(client, target)
    except TimeoutError:
        raise ConnectError(
            f"no Temporal server answers at {target} within {_SECONDS:.0f} s. {_HINT}."
        ) from None
    except (RuntimeError, RPCError, OSError, ValueError) as error:
        raise ConnectError(
            f"no Temporal server answers at {target} (namespace {namespace!r}): "
            f"{_reason(error)}. {_HINT}."
        ) from None
    return client


def _reason(error: Exception) -> str:
    """The words for people in an error of the SDK's core."""
    text = str(error) or type(error).__name__
    inner = re.findall(r'message: "([^"]+)"', text)
    return str(inner[-1]) if inner else text.splitlines()[0][:300].rstrip(".")


async def _check_namespace(client: Client, target: str) -> None:
    try:
        await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=client.namespace),
            timeout=timedelta(seconds=_SECONDS),
        )
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise ConnectError(
                f"the Temporal server at {target} has no namespace {client.namespace!r}; create it "
                f"(temporal operator namespace create -n {client.namespace}) or choose another "
                "with TEMPORAL_NAMESPACE"
            ) from None
        if error.status not in _NOT_ALLOWED:  # not everyone may ask; working is what counts
            raise


async def registered_search_attributes(client: Client) -> list[str]:
    """Those of our search attributes that the namespace has, with the right type.

    An empty list where the server does not let us ask.
    """
    try:
        found = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=client.namespace),
            timeout=timedelta(seconds=_SECONDS),
        )
    except RPCError as error:
        if error.status in _NOT_ALLOWED:
            return []
        raise
    return [
        name
        for name, kind in names.SEARCH_ATTRIBUTES.items()
        if found.custom_attributes.get(name) == _indexed(kind)
    ]


def _indexed(kind: str) -> int:
    return {
        "Keyword": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
        "KeywordList": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
        "Bool": IndexedValueType.INDEXED_VALUE_TYPE_BOOL,
    }[kind]
