"""One embedded server for the tests of this folder that only need some server."""

import os
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from runtime.embedded import EmbeddedServer


@pytest.fixture(autouse=True)
def _no_configuration(  # pyright: ignore[reportUnusedFunction]  # autouse
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Tests see neither the developer's variables nor a profile of theirs."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "SUREFOOT_", "TEMPORAL_")):
            monkeypatch.delenv(name)
    nowhere = tmp_path_factory.getbasetemp() / "no-such-profiles.toml"
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(nowhere))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncGenerator[EmbeddedServer]:
    async with await EmbeddedServer.join(tmp_path_factory.mktemp("home")) as joined:
        yield joined
