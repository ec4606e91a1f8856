"""Mistakes at the keyboard: exit code 2, one line that says what to do, nothing on stdout."""

import socket
from pathlib import Path

import pytest

from tests.cli.console import Console


def _refused(console: Console, *arguments: str) -> str:
    done = console.run(*arguments)
    assert done.code == 2, done
    assert done.out == ""
    return done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run",), "GOAL"),
        (("run", "goal", "--strategy", "fast"), "fast"),
        (("run", "goal", "--max-model-calls", "many"), "--max-model-calls"),
        (("nonsense",), "nonsense"),
        (("serve", "--port", "70000"), "--port"),
    ],
)
def test_wrong_arguments(console: Console, arguments: tuple[str, ...], said: str) -> None:
    assert said in _refused(console, *arguments)
    assert not console.home.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", " "), "goal"),
        (("run", "　"), "goal"),
        (("start", ""), "goal"),
        (("run", "goal", "--topic", "a", "--topic", "a"), "unique"),
        (("run", "goal", "--max-model-calls", "0"), "max_model_calls"),
        (("run", "goal", "--strategy", "direct", "--approve", "plan"), "approvals.plan"),
        (("run", "goal", "--approve", "everything"), "everything"),
        (("run", "goal", "--approve", "plan", "--expires-after", "soon"), "90s, 30m, 12h or 3d"),
        (("run", "goal", "--approve", "plan", "--expires-after", "0s"), "expires_after_seconds"),
        (("run", "goal", "--approve", "plan", "--approver", ""), "approvers"),
        (("run", "goal", "--strategy", "react", "--ask"), "approvals.questions"),
        (("run", "goal", "--id", " "), "--id"),
        (("stop", "run-1", "--reason", "x" * 3000), "reason"),
    ],
)
def test_wrong_tasks_start_nothing(console: Console, arguments: tuple[str, ...], said: str) -> None:
    assert said in _refused(console, *arguments)
    assert not (console.home / "server.json").exists()


def test_no_corpus_and_no_default_says_how_to_index(console: Console) -> None:
    said = _refused(console, "run", "goal")
    assert "--name default" in said
    assert "--corpus PATH" in said


def test_neither_path_nor_collection(kept: Console, folder: Path) -> None:
    assert "neither" in _refused(kept, "run", "goal", "--corpus", "no-such")
    assert kept.run("index", str(folder), "--name", "内存").code == 0
    assert "内存" in _refused(kept, "run", "goal", "--corpus", "no-such")


def test_index_refuses_what_is_not_there(console: Console, folder: Path) -> None:
    assert "no such" in _refused(console, "index", str(folder / "nothing"))
    assert "--name" in _refused(console, "index", str(folder), "--name", "a/b")


@pytest.mark.parametrize(
    "extra",
    [
        {"OPENAI_API_KEY": "sk-test-0123456789"},
        {"OPENAI_MODEL": "some-model"},
        {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"},
        {"SUREFOOT_CODEC_KEYS": "nonsense"},
        {"SUREFOOT_ATTEMPTS": "none"},
        {"SUREFOOT_STORE": "s3://bucket/prefix"},
    ],
)
def test_a_wrong_environment_is_named(
    console: Console, folder: Path, extra: dict[str, str]
) -> None:
    console.extra.update(extra)
    said = _refused(console, "run", "goal", "--corpus", str(folder))
    assert next(iter(extra)).removesuffix("_STORE").removesuffix("_CODEC_KEYS") in said
    assert "sk-test" not in said


def test_a_configured_server_that_does_not_answer(console: Console) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        console.extra["TEMPORAL_ADDRESS"] = address
        assert address in _refused(console, "run", "goal", "--corpus", "notes")
        assert address in _refused(console, "list")
    assert not (console.home / "server.json").exists()


def test_unknown_runs(kept: Console) -> None:
    for command in ("show", "watch", "stop", "requests", "resume"):
        assert "not found" in _refused(kept, command, "no-such-run")
