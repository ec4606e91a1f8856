"""The jobs of docker-compose.yml: the namespace job for real, the schema job against a stand-in.

How it can go wrong: a dollar that Compose eats, a job that fails when it is repeated (each
`docker compose up` does), a retention that is reset, an attribute that is missing afterwards.
"""

import asyncio
import os
import subprocess
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from runtime.binary import find_binary
from runtime.connect import registered_search_attributes
from tests.deploy import files
from workflows.contracts.names import SEARCH_ATTRIBUTES


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def bare() -> AsyncGenerator[str]:
    """The address of a server that knows nothing of ours."""
    environment = await WorkflowEnvironment.start_local(  # pyright: ignore[reportUnknownMemberType]
        dev_server_existing_path=str(find_binary())
    )
    try:
        yield environment.client.service_client.config.target_host
    finally:
        await environment.shutdown()


async def _job(name: str, folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a job's script with the programs of a folder first on the path."""
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    given = {**files.config()["services"][name]["environment"], **variables, "PATH": path}
    return await asyncio.to_thread(
        subprocess.run,
        ["/bin/sh", "-euc", files.script(name)],
        env=files.environment(**given),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


async def _retention(client: Client) -> timedelta:
    request = DescribeNamespaceRequest(namespace=client.namespace)
    found = await client.workflow_service.describe_namespace(request)
    return found.config.workflow_execution_retention_ttl.ToTimedelta()


@pytest.mark.parametrize(("namespace", "days"), [("team", 90), ("default", 1)])
async def test_the_namespace_job_may_be_repeated(bare: str, namespace: str, days: int) -> None:
    """A new namespace is kept for 90 days; one that is there keeps what it has."""
    binary = find_binary()
    assert binary
    client = await Client.connect(bare, namespace=namespace)
    for _ in range(2):
        variables = {"TEMPORAL_ADDRESS": bare, "TEMPORAL_NAMESPACE": namespace}
        done = await _job("namespace", binary.parent, **variables)
        assert done.returncode == 0, done.stdout + done.stderr
        assert await registered_search_attributes(client) == list(SEARCH_ATTRIBUTES)
        assert await _retention(client) == timedelta(days=days)


async def test_the_namespace_job_fails_when_an_attribute_cannot_be_had(tmp_path: Path) -> None:
    """It does not go on to tell the workers that all is well."""
    _stand_in(tmp_path, "temporal", 'case "$*" in *AgentAwaiting*) exit 1;; esac')
    _stand_in(tmp_path, "sleep", "exit 0")
    done = await _job("namespace", tmp_path)
    assert done.returncode == 1


async def test_the_schema_job_updates_both_databases(tmp_path: Path) -> None:
    _stand_in(tmp_path, "temporal-sql-tool", f'echo "$@" >> {tmp_path}/calls')
    done = await _job("schema", tmp_path)
    assert done.returncode == 0, done.stderr
    calls = (tmp_path / "calls").read_text().splitlines()
    common = "--plugin postgres12 --ep postgres -p 5432 -u temporal --db"
    versions = "/etc/temporal/schema/postgresql/v12"
    assert calls == [
        f"{common} temporal create",
        f"{common} temporal setup-schema -v 0.0",
        f"{common} temporal update-schema -d {versions}/temporal/versioned",
        f"{common} temporal_visibility create",
        f"{common} temporal_visibility setup-schema -v 0.0",
        f"{common} temporal_visibility update-schema -d {versions}/visibility/versioned",
    ]


async def test_the_schema_job_stops_at_the_first_failure(tmp_path: Path) -> None:
    _stand_in(
        tmp_path,
        "temporal-sql-tool",
        f'echo x >> {tmp_path}/calls; case "$*" in *-v*) exit 1;; esac',
    )
    assert (await _job("schema", tmp_path)).returncode == 1
    assert len((tmp_path / "calls").read_text().splitlines()) == 2


def _stand_in(folder: Path, name: str, body: str) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
