"""A real store, and the activities of a plan whose model is the test server."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from pytest_httpserver import HTTPServer

from activities.model.gateway import Gateway
from activities.model.judge_activities import JudgeActivities
from activities.model.plan_activities import PlanActivities
from activities.model.profiles import profiles_from
from activities.store.files import open_store
from activities.store.records import Records
from tests.model.wire import profiles_at


@pytest.fixture
def records(tmp_path: Path) -> Records:
    """An empty evidence store."""
    return Records(open_store(str(tmp_path)))


@pytest_asyncio.fixture
async def gateway(httpserver: HTTPServer) -> AsyncGenerator[Gateway]:
    """To the test server."""
    made = Gateway(profiles_at(httpserver))
    yield made
    await made.close()


@pytest.fixture
def acts(records: Records, gateway: Gateway) -> PlanActivities:
    """Planner and executor."""
    return PlanActivities(records, gateway)


@pytest.fixture
def judge(records: Records, gateway: Gateway) -> JudgeActivities:
    """The judge."""
    return JudgeActivities(records, gateway)


@pytest.fixture
def nobody(records: Records) -> JudgeActivities:
    """The extractive model, which judges nothing."""
    return JudgeActivities(records, Gateway(profiles_from()))
