"""Whether an embedded server answers, and the one setting that no flag has: its retention."""

import asyncio
import contextlib
from datetime import timedelta
from typing import Final

from google.protobuf.duration_pb2 import Duration
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, UpdateNamespaceRequest
from temporalio.service import ConnectConfig, RPCError, ServiceClient

from runtime.connect import sdk_runtime
from runtime.server_process import LOOPBACK

RETENTION: Final = timedelta(days=90)
_NAMESPACE: Final = "default"
_RPC_SECONDS: Final = timedelta(seconds=5)


async def answers(port: int) -> bool:
    """Whether the server on this port of loopback serves the namespace; sets the retention."""
    if not await _accepts(port):
        return False
    try:
        async with asyncio.timeout(2 * _RPC_SECONDS.total_seconds()):
            config = ConnectConfig(target_host=f"{LOOPBACK}:{port}", runtime=sdk_runtime())
            await _keep_for_retention(await ServiceClient.connect(config))
    except (RPCError, RuntimeError, TimeoutError):  # it listens before its services are up
        return False
    return True


async def _keep_for_retention(service: ServiceClient) -> None:
    found = await service.workflow_service.describe_namespace(
        DescribeNamespaceRequest(namespace=_NAMESPACE), timeout=_RPC_SECONDS
    )
    if found.config.workflow_execution_retention_ttl.ToTimedelta() >= RETENTION:
        return
    duration = Duration()
    duration.FromTimedelta(RETENTION)
    await service.workflow_service.update_namespace(
        UpdateNamespaceRequest(
            namespace=_NAMESPACE,
            config=NamespaceConfig(workflow_execution_retention_ttl=duration),
        ),
        timeout=_RPC_SECONDS,
    )


async def _accepts(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(LOOPBACK, port)
    except OSError:
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True
