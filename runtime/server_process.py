"""The process of an embedded server: its record, its ports, starting, recognising, stopping.

`server.json` of the state directory is the record. A process is ours only if pid, start time and
the database on its command line all fit: pids are reused.
"""

import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import psutil
from pydantic import BaseModel, Field, ValidationError

from runtime.errors import ServerError
from workflows.contracts import names

LOOPBACK: Final = "127.0.0.1"
UI_OFFSET: Final = 1000
_HTTP_OFFSET: Final = 2000
_METRICS_OFFSET: Final = 3000
# Below the ephemeral range of every common system, so that no outgoing connection sits on a
# recorded port when the server is to be restarted on it.
_PORTS: Final = range(20_000, 28_000)
_START_TIME_SLACK: Final = 2.0  # seconds: psutil computes it from a boot time that may be adjusted
_LAST_PORT: Final = 65_535
_STOP_SECONDS: Final = 10.0
_LOG_LIMIT: Final = 5_000_000
_TAIL_LINES: Final = 12
_TAIL_CHARACTERS: Final = 1500
# The server needs none of these, and its environment can be read by others of the same user.
_NOT_INHERITED: Final = ("TEMPORAL_", "OPENAI_", "SUREFOOT_")
_DETACHED: Final = (
    subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.DETACHED_PROCESS
    if sys.platform == "win32"
    else 0
)

# Children must be kept to be reaped; a server outlives the session object that started it.
_children: list[subprocess.Popen[bytes]] = []


class ServerRecord(BaseModel):
    """What `server.json` holds.

    Attributes:
        pid: 0 when the server was stopped; the port is then where it is started next, if free.
        start_time: seconds since the epoch, as psutil reports it.
        fixed: the port was asked for by name (`serve`); later sessions do not want it again.
    """

    pid: int = Field(default=0, ge=0)
    start_time: float = 0.0
    port: int = Field(ge=0, le=_LAST_PORT)
    ui_port: int = Field(ge=0, le=_LAST_PORT)
    fixed: bool = False
    binary: str = ""


class Paths(NamedTuple):
    """Files of the embedded server in a state directory."""

    record: Path
    db: Path
    log: Path
    sessions: Path
    starting: Path

    @classmethod
    def of(cls, home: Path) -> "Paths":
        """The files of one state directory."""
        return cls(
            record=home / "server.json",
            db=home / "temporal.db",
            log=home / "server.log",
            sessions=home / "sessions.lock",
            starting=home / "start.lock",
        )


def read_record(paths: Paths) -> ServerRecord | None:
    """The record; None where there is none or it cannot be read, which is the same: no server."""
    try:
        return ServerRecord.model_validate_json(paths.record.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def write_record(paths: Paths, record: ServerRecord) -> None:
    """Replace the record in one step."""
    draft = paths.record.with_suffix(f".{os.getpid()}.tmp")
    draft.write_text(json.dumps(record.model_dump(), indent=1), "utf-8")
    draft.replace(paths.record)


def process_of(record: ServerRecord | None, paths: Paths) -> psutil.Process | None:
    """The living process of a record, or None; never a process that merely has its pid."""
    for child in _children:
        child.poll()  # a child that died is a zombie until someone asks
    if record is None or record.pid <= 0:
        return None
    try:
        process = psutil.Process(record.pid)
        fits = (
            abs(process.create_time() - record.start_time) < _START_TIME_SLACK
            and str(paths.db) in process.cmdline()
            and process.status() != psutil.STATUS_ZOMBIE
        )
    except psutil.Error:
        return None
    return process if fits else None


def find_stray(paths: Paths) -> ServerRecord | None:
    """A server on our database that no record names (the record was lost); to be adopted.

    Two servers on one database make each other 20 times slower (FIELD-NOTES).
    """
    for process in psutil.process_iter(["cmdline", "create_time"]):
        command: list[str] = process.info["cmdline"] or []
        if str(paths.db) in command and "start-dev" in command and "--port" in command:
            port = int(command[command.index("--port") + 1])
            return ServerRecord(
                pid=process.pid,
                start_time=process.info["create_time"],
                port=port,
                ui_port=port + UI_OFFSET,
                binary=command[0],
            )
    return None


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of loopback now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if sys.platform != "win32":  # there it would allow a port that is in use
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def check_free(port: int) -> None:
    """Make sure that a port somebody asked for, and the Web UI's, can be had.

    Raises:
        ServerError: one of them is taken, or out of range.
    """
    if not 0 < port <= _LAST_PORT - UI_OFFSET:
        raise ServerError(f"port {port}: expected 1 to {_LAST_PORT - UI_OFFSET}")
    for number, what in ((port, "the server"), (port + UI_OFFSET, "its Web UI (port + 1000)")):
        if not is_free(number):
            raise ServerError(
                f"port {number} for {what} is taken by another process on this machine; "
                "end it or choose another port"
            )


def free_port() -> int:
    """A random port P of loopback such that P and P + 1000 are free.

    Raises:
        ServerError: none was found.
    """
    for _ in range(200):
        port = secrets.choice(_PORTS)
        if is_free(port) and is_free(port + UI_OFFSET):
            return port
    raise ServerError(f"no free port on {LOOPBACK} between {_PORTS.start} and {_PORTS.stop}")


def command_line(binary: Path, paths: Paths, port: int, extra: Sequence[str]) -> list[str]:
    """How the server is started (DESIGN, "Embedded server")."""
    flags = {"--http-port": port + _HTTP_OFFSET, "--metrics-port": port + _METRICS_OFFSET}
    ports = [
        part
        for flag, number in flags.items()
        if number <= _LAST_PORT and is_free(number)
        for part in (flag, str(number))
    ]
    attributes = [
        part
        for name, kind in names.SEARCH_ATTRIBUTES.items()
        for part in ("--search-attribute", f"{name}={kind}")
    ]
    return [
        *(str(binary), "server", "start-dev", "--ip", LOOPBACK, "--port", str(port)),
        *("--ui-port", str(port + UI_OFFSET), "--ui-disable-news-fetch"),
        *ports,
        *("--db-filename", str(paths.db)),
        *("--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL"),
        *("--dynamic-config-value", "history.transferProcessorMaxPollRPS=10000"),
        *("--log-level", "error"),
        *attributes,
        *extra,
    ]


def spawn(command: list[str], paths: Paths) -> subprocess.Popen[bytes]:
    """Start the server detached: own session, output to the log, none of our secrets.

    Raises:
        ServerError: the binary cannot be run or the log cannot be written.
    """
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_NOT_INHERITED)}
    try:
        if paths.log.exists() and paths.log.stat().st_size > _LOG_LIMIT:
            paths.log.replace(paths.log.with_suffix(".log.1"))
        with paths.log.open("ab") as log:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=paths.db.parent,
                env=kept,
                start_new_session=True,
                creationflags=_DETACHED,
            )
    except OSError as error:
        raise ServerError(f"the Temporal server cannot be started: {error}") from error
    _children.append(child)
    return child


def stop(process: psutil.Process, *, at_once: bool = False) -> None:
    """SIGTERM, and SIGKILL where that is not obeyed; returns when the process is gone."""
    try:
        if not at_once:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except psutil.TimeoutExpired:
                at_once = True
        if at_once:
            process.kill()
            process.wait(_STOP_SECONDS)
    except psutil.NoSuchProcess:
        pass
    except psutil.Error as error:
        raise ServerError(f"the server (pid {process.pid}) cannot be stopped: {error}") from error
    finally:
        for child in _children:
            child.poll()
        _children[:] = [child for child in _children if child.returncode is None]


def log_size(paths: Paths) -> int:
    """Length of the log now, so that a later tail shows only what came after."""
    return paths.log.stat().st_size if paths.log.exists() else 0


def log_tail(paths: Paths, start: int) -> str:
    """The last lines that the server wrote after `start`, for an error message."""
    try:
        data = paths.log.read_bytes()
    except OSError:
        return "(no log)"
    lines = data[start if start <= len(data) else 0 :].decode("utf-8", "replace").splitlines()
    return "\n".join(lines[-_TAIL_LINES:])[-_TAIL_CHARACTERS:].strip() or "(nothing in its log)"
