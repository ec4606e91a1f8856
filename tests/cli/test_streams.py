"""Closed and full outputs, damaged records: one line, never a traceback.

How it can go wrong: a full disk looks like a defect; a closed stream ends a command; a damaged
record hides a run that the server still knows.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.records import opened_store, stored_result
from runtime.server_process import Paths, read_record
from runtime.settings import Env

REPOSITORY = Path(__file__).parents[2]


def shell(line: str, home: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    """A command line as a shell runs it; `starter` stands for our program."""
    program = f"{sys.executable} {REPOSITORY / 'starter.py'}"
    return subprocess.run(
        ["/bin/sh", "-c", line.replace("starter", program)],
        capture_output=True,
        text=True,
        env={**os.environ, "SUREFOOT_HOME": str(home), **extra},
        timeout=60,
        check=False,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    done = shell("starter corpora > /dev/full", tmp_path)
    assert done.returncode == 1
    assert done.stderr == "error: [Errno 28] No space left on device\n"


@pytest.mark.parametrize("closing", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_stream_ends_nothing(tmp_path: Path, closing: str) -> None:
    done = shell(f"starter corpora {closing}", tmp_path)
    assert done.returncode == 0
    assert "Traceback" not in done.stdout + done.stderr


def test_a_home_that_is_none_is_named(tmp_path: Path) -> None:
    done = shell("starter list", tmp_path, SUREFOOT_HOME="~no-such-user/x")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "~no-such-user/x" in done.stderr


async def test_a_damaged_record_is_as_good_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUREFOOT_HOME", str(tmp_path))
    env = Env()  # pyright: ignore[reportCallIssue]

    for damaged in (b"{not json", b"[1]", b"\xff\xfe"):
        await opened_store(env).put_record("result", "run-1", damaged)
        assert await stored_result(env, "run-1") is None


@pytest.mark.parametrize("port", [-1, 70_000, 10**30])
def test_an_impossible_port_is_no_record(tmp_path: Path, port: int) -> None:
    paths = Paths.of(tmp_path)
    paths.record.write_text(f'{{"pid": 1, "port": {port}, "ui_port": 8233}}')
    assert read_record(paths) is None
