"""The embedded Temporal server of a state directory (DESIGN, "Embedded server").

The server belongs to the directory, not to a session. Sessions join it and hold a shared file
lock while they use it; whoever finds it dead restarts it, on the same port and database, under a
start lock; whoever leaves and gets the sessions' lock exclusively was the last, and stops it. A
session that is killed leaves the server running for the next one.
"""

import asyncio
import contextlib
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import psutil
import structlog

from runtime.binary import get_binary
from runtime.errors import ServerError
from runtime.locks import FileLock
from runtime.readiness import answers
from runtime.server_process import (
    LOOPBACK,
    UI_OFFSET,
    Paths,
    ServerRecord,
    check_free,
    command_line,
    find_stray,
    free_port,
    is_free,
    log_size,
    log_tail,
    process_of,
    read_record,
    spawn,
    stop,
    write_record,
)

_LOCK_SECONDS: Final = 90.0  # longer than the slowest start
_READY_SECONDS: Final = 30.0
_PORT_TRIES: Final = 50  # tenths of a second for the port of a killed server to be free again
_STARTS: Final = 3
_WATCH_SECONDS: Final = 1.0
_HEALTH_TICKS: Final = 5  # every fifth look also asks the server how it is
_HUNG_CHECKS: Final = 6  # a pause of half a minute is a busy machine, not a dead server

_log = structlog.get_logger(__name__)


class EmbeddedServer:
    """One session's membership; use `join`, then `leave` or `async with`."""

    def __init__(self, home: Path, extra_args: Sequence[str]) -> None:
        """Use `join`."""
        self.home = home
        self._paths = Paths.of(home)
        self._extra = tuple(extra_args)
        self._sessions = FileLock(self._paths.sessions)
        self._record = ServerRecord(port=0, ui_port=0)
        self._watchdog: asyncio.Task[None] | None = None

    @classmethod
    async def join(
        cls, home: Path, *, port: int | None = None, extra_args: Sequence[str] = ()
    ) -> Self:
        """Join the server of a state directory; start it if it does not run.

        Args:
            home: state directory; created if missing.
            port: the port it must listen on (`serve`); None for the recorded or a free one.
            extra_args: further flags of `temporal server start-dev`, used if it is started here.

        Raises:
            ServerError: it cannot be started or joined; says why, with the server's own words.
        """
        server = cls(_prepared(home), extra_args)
        async with FileLock(server._paths.starting).exclusive(_LOCK_SECONDS):
            alone = server._sessions.try_lock()
            server._sessions.try_lock(shared=True)  # nobody holds it alone but under this lock
            try:
                await server._ensure(port, alone=alone)
            except BaseException:
                await server._leave_locked()
                raise
        server._watchdog = asyncio.create_task(server._watch(), name="embedded server watchdog")
        return server

    @property
    def address(self) -> str:
        """`host:port` for clients."""
        return f"{LOOPBACK}:{self._record.port}"

    @property
    def ui_url(self) -> str:
        """Address of the Web UI."""
        return f"http://{LOOPBACK}:{self._record.ui_port}"

    @property
    def pid(self) -> int:
        """Process id of the server as this session last saw it."""
        return self._record.pid

    async def leave(self) -> None:
        """Leave; the last one out stops the server. Leaving twice is leaving once."""
        if self._watchdog is None:
            return
        watchdog, self._watchdog = self._watchdog, None
        watchdog.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watchdog
        async with FileLock(self._paths.starting).exclusive(_LOCK_SECONDS):
            await self._leave_locked()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.leave()

    async def _ensure(self, port: int | None, *, alone: bool) -> None:
        """Find or start the server; the start lock is held."""
        record = read_record(self._paths)
        process = process_of(record, self._paths)
        if process is None and (stray := find_stray(self._paths)) is not None:
            write_record(self._paths, stray)
            record, process = stray, process_of(stray, self._paths)
        if record is not None and process is not None:
            if port in (None, record.port):
                await self._adopt(record)
                return
            if not alone:
                raise ServerError(
                    f"the server of {self.home} already runs on port {record.port} and other "
                    f"sessions use it; end them first, or use --port {record.port}"
                )
            await asyncio.to_thread(stop, process)
        if port is not None:
            check_free(port)
            await self._start(port, fixed=True)
        elif record is not None and not alone:
            await self._restart(record)
        else:
            await self._start(_wanted(record), fixed=False)

    async def _adopt(self, record: ServerRecord) -> None:
        """Use a running server, restarting it if it runs but does not answer."""
        self._record = record
        try:
            async with asyncio.timeout(_READY_SECONDS):
                while not await answers(self._record.port):
                    if process_of(record, self._paths) is None:
                        break
                    await asyncio.sleep(0.05)
                else:
                    return
        except TimeoutError:
            _log.warning("embedded server does not answer and is restarted", pid=record.pid)
        await self._restart(record)

    async def _restart(self, record: ServerRecord) -> None:
        """Start it again on the port it had: clients of other sessions know no other."""
        process = process_of(record, self._paths)
        if process is not None:
            await asyncio.to_thread(stop, process, at_once=True)
        for _ in range(_PORT_TRIES):
            if is_free(record.port):
                break
            await asyncio.sleep(0.1)
        check_free(record.port)
        await self._start(record.port, fixed=record.fixed)

    async def _start(self, port: int, *, fixed: bool) -> None:
        binary = await get_binary(self.home)
        for left in reversed(range(_STARTS)):
            start = log_size(self._paths)
            command = command_line(binary, self._paths, port, self._extra)
            child = spawn(command, self._paths)
            record = _record_of(child, port, fixed=fixed, binary=binary)
            self._record = record
            write_record(self._paths, record)
            failure = await self._ready(child)
            if failure is None:
                return
            process = process_of(record, self._paths)
            if process is not None:
                await asyncio.to_thread(stop, process, at_once=True)
            write_record(self._paths, record.model_copy(update={"pid": 0}))
            tail = log_tail(self._paths, start)
            # It picks further ports of its own at random; two starts at once can pick the same.
            if left and "address already in use" in tail and is_free(port):
                continue
            raise ServerError(
                f"the Temporal server of {self.home} {failure}. The end of its log "
                f"({self._paths.log}):\n{tail}"
            )

    async def _ready(self, child: "subprocess.Popen[bytes]") -> str | None:
        """Wait until it answers; what went wrong otherwise."""
        deadline = time.monotonic() + _READY_SECONDS
        while time.monotonic() < deadline:
            if child.poll() is not None:
                return f"ended with code {child.returncode} before it was ready"
            if await answers(self._record.port):
                return None
            await asyncio.sleep(0.03)
        return f"did not answer within {_READY_SECONDS:.0f} s"

    async def _leave_locked(self) -> None:
        """Give the membership up, and stop the server if it was the last; start lock is held."""
        last = self._sessions.try_lock()
        try:
            record = read_record(self._paths)
            if not last or record is None:
                return
            process = process_of(record, self._paths)
            if process is not None:
                await asyncio.to_thread(stop, process)
            write_record(self._paths, record.model_copy(update={"pid": 0}))
        finally:
            self._sessions.release()

    async def _watch(self) -> None:
        """Look every second; bring a dead server back."""
        failed, tick = 0, 0
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            tick += 1
            if process_of(self._record, self._paths) is not None:
                if tick % _HEALTH_TICKS:
                    continue
                failed = 0 if await answers(self._record.port) else failed + 1
                if failed < _HUNG_CHECKS:
                    continue
            try:
                await self._revive()
                failed = 0
            except (ServerError, OSError) as error:
                _log.warning("embedded server is down; tried again in a second", error=str(error))

    async def _revive(self) -> None:
        async with FileLock(self._paths.starting).exclusive(_LOCK_SECONDS):
            record = read_record(self._paths) or self._record
            if record.pid != self._record.pid and process_of(record, self._paths) is not None:
                self._record = record  # another session was faster
                return
            _log.warning("embedded server died and is restarted", pid=self._record.pid)
            await self._restart(self._record)


def _prepared(home: Path) -> Path:
    """The state directory, created private to its owner: histories lie there in the clear.

    Raises:
        ServerError: it cannot be created or written.
    """
    home = home.expanduser().resolve()
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        Paths.of(home).starting.open("ab").close()
    except OSError as error:
        raise ServerError(
            f"{home}: the state directory cannot be written ({error.strerror}); "
            "choose another with SUREFOOT_HOME"
        ) from error
    return home


def _wanted(record: ServerRecord | None) -> int:
    """The port of last time, so that the Web UI keeps its address, or a free one."""
    if record is not None and not record.fixed:
        port = record.port
        if is_free(port) and is_free(port + UI_OFFSET):
            return port
    return free_port()


def _record_of(
    child: "subprocess.Popen[bytes]", port: int, *, fixed: bool, binary: Path
) -> ServerRecord:
    try:
        started = psutil.Process(child.pid).create_time()
    except psutil.Error:  # it died at once; `_ready` will say so
        started = time.time()
    return ServerRecord(
        pid=child.pid,
        start_time=started,
        port=port,
        ui_port=port + UI_OFFSET,
        fixed=fixed,
        binary=str(binary),
    )
