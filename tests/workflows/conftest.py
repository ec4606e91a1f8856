"""One real server and one lab for all workflow tests, and one stage for tests of plans."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from temporalio.testing import WorkflowEnvironment

from tests.workflows import lab as labs
from tests.workflows.plan_stage import Stage, staged


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def temporal() -> AsyncIterator[WorkflowEnvironment]:
    """A real Temporal server."""
    async with labs.server() as environment:
        yield environment


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def session_lab(
    temporal: WorkflowEnvironment, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[labs.Lab]:
    """A worker of all roles on it."""
    home: Path = tmp_path_factory.mktemp("home")
    async with labs.lab(temporal, home) as ready:
        yield ready


@pytest.fixture
def lab(session_lab: labs.Lab) -> labs.Lab:
    """The lab with empty scripts."""
    session_lab.model.script([])
    session_lab.search.script("corpus", [])
    return session_lab


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """The stage of plans; files that need another one bring their own."""
    async with staged(tmp_path_factory.mktemp("plans")) as ready:
        yield ready
