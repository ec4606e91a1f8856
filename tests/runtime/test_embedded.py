"""The embedded server: who starts it, who stops it, and what survives which death.

How it can go wrong: two servers on one database, a server that nobody stops, a foreign process
killed for its pid, runs lost with a port.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest

from runtime.connect import connect, registered_search_attributes
from runtime.converter import data_converter
from runtime.embedded import EmbeddedServer
from runtime.errors import ServerError
from runtime.server_process import Paths, free_port, read_record
from workflows.contracts import names

REPOSITORY = Path(__file__).parents[2]


class Session:
    """A session in another process."""

    def __init__(self, process: asyncio.subprocess.Process, said: dict[str, Any]) -> None:
        self.process = process
        self.pid: int = said["pid"]
        self.address: str = said["address"]

    async def leave(self) -> None:
        """End its input and wait for it."""
        assert self.process.stdin
        self.process.stdin.close()
        assert await self.process.wait() == 0

    async def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        await self.process.wait()


@contextlib.asynccontextmanager
async def _session(home: Path) -> AsyncGenerator[Session]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.runtime.session_process", str(home)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=REPOSITORY,
    )
    assert process.stdout
    try:
        yield Session(process, json.loads(await process.stdout.readline()))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110  # it is about other processes: there is no event
            await asyncio.sleep(0.05)


def _alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_the_last_one_out_stops_it(tmp_path: Path) -> None:
    first = await EmbeddedServer.join(tmp_path)
    second = await EmbeddedServer.join(tmp_path)
    assert (first.pid, first.address) == (second.pid, second.address)
    await first.leave()
    await first.leave()
    assert _alive(second.pid)
    await second.leave()
    assert not _alive(second.pid)
    record = read_record(Paths.of(tmp_path))
    assert record is not None
    assert record.pid == 0


async def test_sessions_that_join_at_once_share_one_server(tmp_path: Path) -> None:
    async with (
        contextlib.AsyncExitStack() as stack,
        asyncio.timeout(60),
    ):
        sessions = await asyncio.gather(
            *(stack.enter_async_context(_session(tmp_path)) for _ in range(3))
        )
        assert len({session.pid for session in sessions}) == 1
        await asyncio.gather(*(session.leave() for session in sessions))
        assert not _alive(sessions[0].pid)


async def test_a_killed_server_comes_back_on_its_port_with_its_runs(tmp_path: Path) -> None:
    async with await EmbeddedServer.join(tmp_path) as server:
        client = await connect(data_converter(None), server.address)
        await client.start_workflow("Waiting", "中文", id="kept", task_queue="nobody")
        pid, address = server.pid, server.address
        os.kill(pid, signal.SIGKILL)
        await _until(lambda: server.pid != pid)
        assert server.address == address
        async with asyncio.timeout(30):
            while True:
                with contextlib.suppress(Exception):
                    described = await client.get_workflow_handle("kept").describe()
                    break
        assert described.workflow_type == "Waiting"
        await _until(lambda: _alive(server.pid))
    assert not _alive(server.pid)


async def test_every_session_learns_of_the_new_server(tmp_path: Path) -> None:
    async with (
        await EmbeddedServer.join(tmp_path) as one,
        await EmbeddedServer.join(tmp_path) as two,
    ):
        pid = one.pid
        os.kill(pid, signal.SIGKILL)
        await _until(lambda: pid not in (one.pid, two.pid))
        assert one.pid == two.pid


async def test_a_killed_session_leaves_its_server_to_the_next(tmp_path: Path) -> None:
    async with _session(tmp_path) as killed:
        await killed.kill()
        assert _alive(killed.pid)
        async with await EmbeddedServer.join(tmp_path) as server:
            assert (server.pid, server.address) == (killed.pid, killed.address)
        await _until(lambda: not _alive(killed.pid))


async def test_both_killed_the_next_session_finds_the_runs(tmp_path: Path) -> None:
    async with _session(tmp_path) as killed:
        client = await connect(data_converter(None), killed.address)
        await client.start_workflow("Waiting", id="kept", task_queue="nobody")
        await killed.kill()
        os.kill(killed.pid, signal.SIGKILL)
    async with await EmbeddedServer.join(tmp_path) as server:
        client = await connect(data_converter(None), server.address)
        assert (await client.get_workflow_handle("kept").describe()).id == "kept"


@pytest.mark.parametrize("start_time", [0.0, None])
async def test_a_foreign_process_with_the_recorded_pid_is_left_alone(
    tmp_path: Path, start_time: float | None
) -> None:
    foreign = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=-1)
    try:
        started = psutil.Process(foreign.pid).create_time() if start_time is None else start_time
        port = free_port()
        record = {"pid": foreign.pid, "start_time": started, "port": port, "ui_port": port + 1000}
        (tmp_path / "server.json").write_text(json.dumps(record))
        async with await EmbeddedServer.join(tmp_path) as server:
            assert server.pid != foreign.pid
            assert server.address.endswith(f":{port}")
        assert foreign.returncode is None
        assert _alive(foreign.pid)
    finally:
        foreign.kill()
        await foreign.communicate()


@pytest.mark.parametrize("damage", ['{"pid": "x"}', None])
async def test_a_lost_record_does_not_start_a_second_server(
    tmp_path: Path, damage: str | None
) -> None:
    async with _session(tmp_path) as killed:
        await killed.kill()
    if damage is None:
        (tmp_path / "server.json").unlink()
    else:
        (tmp_path / "server.json").write_text(damage)
    async with await EmbeddedServer.join(tmp_path) as server:
        assert (server.pid, server.address) == (killed.pid, killed.address)
    assert not _alive(killed.pid)


async def test_a_server_that_hangs_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _session(tmp_path) as killed:
        await killed.kill()
    os.kill(killed.pid, signal.SIGSTOP)
    monkeypatch.setattr("runtime.embedded._READY_SECONDS", 1)
    joining = asyncio.create_task(EmbeddedServer.join(tmp_path))
    await _until(lambda: not _alive(killed.pid))
    monkeypatch.undo()
    async with await joining as server:
        assert server.address == killed.address
        assert server.pid != killed.pid


async def test_a_wanted_port_is_used_and_not_wanted_again(tmp_path: Path) -> None:
    port = free_port()
    async with await EmbeddedServer.join(tmp_path, port=port) as server:
        assert server.address == f"127.0.0.1:{port}"
        assert server.ui_url == f"http://127.0.0.1:{port + 1000}"
        async with await EmbeddedServer.join(tmp_path) as other:
            assert other.pid == server.pid
            with pytest.raises(ServerError, match=rf"runs on port {port} and other"):
                await EmbeddedServer.join(tmp_path, port=free_port())
    async with await EmbeddedServer.join(tmp_path) as server:
        assert not server.address.endswith(f":{port}")


async def test_a_wanted_port_moves_a_server_that_nobody_uses(tmp_path: Path) -> None:
    async with _session(tmp_path) as killed:
        await killed.kill()
    port = free_port()
    async with await EmbeddedServer.join(tmp_path, port=port) as server:
        assert server.address == f"127.0.0.1:{port}"
        assert not _alive(killed.pid)


@pytest.mark.parametrize("offset", [0, 1000])
async def test_a_taken_port_is_named(tmp_path: Path, offset: int) -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port + offset)):
        with pytest.raises(ServerError, match=f"port {port + offset} .*is taken"):
            await EmbeddedServer.join(tmp_path, port=port)
        async with await EmbeddedServer.join(tmp_path) as server:  # the failure left nothing held
            assert not server.address.endswith(f":{port}")


@pytest.mark.parametrize("port", [0, -1, 65_000])
async def test_a_port_out_of_range_is_named(tmp_path: Path, port: int) -> None:
    with pytest.raises(ServerError, match=rf"port {port}: expected 1 to 64535"):
        await EmbeddedServer.join(tmp_path, port=port)


async def test_a_damaged_database_shows_the_servers_own_words(tmp_path: Path) -> None:
    (tmp_path / "temporal.db").write_text("this is no database " * 100)
    with pytest.raises(ServerError, match="file is not a database") as error:
        await EmbeddedServer.join(tmp_path)
    assert "ended with code 1 before it was ready" in str(error.value)
    assert str(tmp_path / "server.log") in str(error.value)


async def test_a_missing_binary_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPORAL_CLI", "no-such-temporal")
    with pytest.raises(ServerError, match="TEMPORAL_CLI: 'no-such-temporal' is no executable"):
        await EmbeddedServer.join(tmp_path)


async def test_a_binary_that_is_something_else_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_CLI", sys.executable)
    with pytest.raises(ServerError, match="ended with code 2 before it was ready"):
        await EmbeddedServer.join(tmp_path)


async def test_a_state_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ServerError, match=r"file/home.*cannot be written.*SUREFOOT_HOME"):
        await EmbeddedServer.join(tmp_path / "file" / "home")


async def test_it_is_set_up_as_the_design_says(
    server: EmbeddedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await connect(data_converter(None), server.address)
    assert await registered_search_attributes(client) == list(names.SEARCH_ATTRIBUTES)
    found = await client.workflow_service.describe_namespace(
        DescribeNamespaceRequest(namespace="default")
    )
    assert found.config.workflow_execution_retention_ttl.ToTimedelta().days == 90
    assert os.stat(server.home).st_mode & 0o077 in (0, 0o055)  # pytest made it, or we did
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-the-server")
    async with await EmbeddedServer.join(tmp_path / "新") as other:
        process = psutil.Process(other.pid)
        assert "OPENAI_API_KEY" not in process.environ()
        assert os.getsid(other.pid) == other.pid
        assert {c.laddr.ip for c in process.net_connections() if c.status == "LISTEN"} == {
            "127.0.0.1"
        }
