"""A configured server beside the embedded one: `serve`, runs on it, and what `doctor` sees."""

import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from temporalio.client import Client

from runtime.embedded import EmbeddedServer
from runtime.server_process import free_port
from tests.cli.console import Console, finished


@pytest.fixture
def serving(console: Console, folder: Path) -> Iterator[tuple[Console, "subprocess.Popen[str]"]]:
    """A running `serve`, whose worker may index the folder, and a console configured for it."""
    port = free_port()
    console.extra["SUREFOOT_ROOTS"] = str(folder)
    process = console.start("serve", "--port", str(port))
    assert process.stdout is not None
    while line := process.stdout.readline():
        if "Ctrl-C" in line:
            break
        told = re.search(r"Temporal server: (\S+)", line)
        assert told is None or told[1] == f"127.0.0.1:{port}"
    assert process.poll() is None, finished(process)
    yield (
        Console(console.home.parent / "client", {"TEMPORAL_ADDRESS": f"127.0.0.1:{port}"}),
        process,
    )
    if process.poll() is None:
        process.kill()
        process.communicate()


def test_runs_on_a_configured_server(
    serving: tuple[Console, "subprocess.Popen[str]"], folder: Path
) -> None:
    client, process = serving
    done = client.run(
        "run", "What does KSM do?", "--topic", "ksm", "--corpus", str(folder), "--json"
    )
    assert done.code == 0, done.err
    source = done.document["evidence"][0]["source_id"]
    assert re.fullmatch(r"memory-notes-[0-9a-f]{6}:ksm\.md", source)
    refused = client.run("run", "goal", "--corpus", str(folder.parent))
    assert refused.code == 2
    assert "SUREFOOT_ROOTS" in refused.err
    unknown = client.run("run", "goal", "--corpus", "no-such", "--json")
    assert unknown.code == 1
    assert unknown.document["stop_reason"] == "invalid_input"
    assert client.run("resume").code == 2
    assert not (client.home / "server.json").exists()
    process.send_signal(signal.SIGTERM)
    ended = finished(process)
    assert ended.code == 0, ended.err


async def test_without_a_worker_a_run_waits_and_everybody_is_told(tmp_path: Path) -> None:
    async with await EmbeddedServer.join(tmp_path / "team") as server:
        client = Console(tmp_path / "home", {"TEMPORAL_ADDRESS": server.address})
        started = client.run("start", "Ziel", "--corpus", "notes", "--id", "waiting")
        assert started.code == 0
        assert started.out.startswith("waiting\n")
        assert "no worker polls" in started.err
        temporal = await Client.connect(server.address)
        described = await temporal.get_workflow_handle("waiting").describe()
        assert await described.static_summary() == "Ziel"  # what the Web UI calls it
        assert "no worker polls" in client.run("stop", "waiting").err
        shown = client.run("show", "waiting", "--json")
        assert shown.document["execution"] == "running"
        assert shown.document["state"] is None
        checks = client.run("doctor", "--json")
        assert checks.code == 1
        states = {check["name"]: check["state"] for check in checks.document}
        assert states["server"] == "ok"
        assert states["worker"] == "broken"


def test_doctor_finds_what_is_broken(console: Console, folder: Path) -> None:
    assert console.run("index", str(folder), "--name", "内存").code == 0
    well = console.run("doctor", "--json")
    assert well.code == 0, well.out
    states = {check["name"]: check["state"] for check in well.document}
    assert set(states.values()) == {"ok"}
    assert "corpus 内存" in states
    occupied = console.home / "a-file"
    occupied.write_text("x")
    damaged = console.home / "corpora" / "damaged.db"
    damaged.write_bytes(b"SQLite format 3\0" + bytes(100))
    console.extra["SUREFOOT_STORE"] = str(occupied)
    ill = console.run("doctor")
    assert ill.code == 1
    assert re.search(r"broken +store", ill.out)


def test_doctor_names_files_that_were_not_fully_read(console: Console, folder: Path) -> None:
    (folder / "half.pdf").write_bytes(b"%PDF-1.7\nand nothing more")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    assert console.run("index", str(folder), "--name", "notes").code == 0
    (check,) = [c for c in console.run("doctor", "--json").document if c["name"] == "corpus notes"]
    assert check["state"] == "warn"
    assert "half.pdf (corrupt: damaged PDF" in check["found"]
    assert "picture.png" not in check["found"]
    assert check["fix"] == "all of them: `uv run starter.py corpora notes`"


def test_corpora_lists_files_with_their_status(console: Console, folder: Path) -> None:
    assert "no collection yet" in console.run("corpora").out
    (folder / "leer.txt").write_text("")
    indexed = console.run("index", str(folder), "--json")
    assert indexed.document["name"] == "memory-notes"
    (info,) = console.run("corpora", "--json").document
    assert (info["name"], info["root"]) == ("memory-notes", str(folder))
    lines = console.run("corpora", "memory-notes").out.splitlines()
    assert "indexed  压缩.md" in lines
    assert any(line.startswith("empty") and "leer.txt" in line for line in lines)
    unknown = console.run("corpora", "no-such")
    assert unknown.code == 2
    assert "memory-notes" in unknown.err
