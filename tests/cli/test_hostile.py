"""What people and their editors hand over, without a process of ours.

How it can go wrong: an empty word grants the unedited original; garbage is a traceback; garbage
costs a question, or the report of the run.
"""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from temporalio.service import RPCError, RPCStatusCode

from cli.asks import Ask
from cli.choosing import changes, edited, edits_of, given, parsed_edits
from cli.execute import CommandError, explained, refuse_bytes
from cli.follow import told
from cli.in_place import InPlace
from cli.plain import plain
from cli.screen import Screen
from cli.sending import RefusedError, decision, unsendable
from cli.session import Session
from cli.task import task_of
from runtime.errors import UsageError
from tests.cli.test_parts import options_with
from workflows.logic.parse import InvalidTaskError

PLAN = Ask("plan-1-00000000", "plan", {"goal": "g", "steps": [{"id": "s1", "goal": "g"}]})
TOOL = Ask("tool-1-00000000", "tool", {"tool": "send", "args": {"to": "ann"}})
REPORT = Ask("report-1-00000000", "report", {"report": "# R\n", "bytes": 4, "status": "x"})
DEEP = "[" * 200_000
BAD_JSON = [
    DEEP, '{"a":' * 200_000, '{"steps": NaN}', '{"a": -Infinity}', '{"a": 1e999}', "[]", "3", "{",
    '{"goal":"\\ud800"}', '{"\\udfff": 1}', '{"a": ' + "9" * 5000 + "}",
]  # fmt: skip


@pytest.mark.parametrize("blank", ["", " ", "\n", "　"])
def test_what_was_given_and_is_blank_is_not_what_was_left_out(blank: str) -> None:
    given({"--edits": None, "--comment": "good"})
    with pytest.raises(UsageError, match="--edits: must not be blank"):
        given({"--comment": None, "--edits": blank})


@pytest.mark.parametrize("changed", [{"approve": ""}, {"approve": " , "}, {"expires_after": ""}])
def test_a_blank_option_about_people_is_no_default(changed: dict[str, str]) -> None:
    with pytest.raises(InvalidTaskError, match="expected"):
        task_of(options_with(**changed), [])


@pytest.mark.parametrize("text", BAD_JSON, ids=lambda text: str(text)[:12])
def test_edits_that_are_none_are_told_in_a_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "edits"
    file.write_text(text, "utf-8")
    for ask in (PLAN, TOOL):
        with pytest.raises(RefusedError, match=r"^malformed: edits") as refused:
            edits_of(ask, f"@{file}")
        assert refused.value.mistake
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 300


def test_files_that_hold_no_edits_are_named(tmp_path: Path) -> None:
    empty, latin, huge, marked = (tmp_path / name for name in ("empty", "latin", "huge", "marked"))
    empty.write_text(" \n")
    latin.write_bytes(b'{"to": "\xe9"}')
    huge.write_bytes(b" " * (4 * 1024 * 1024 + 1))
    for name in (empty, latin, huge, tmp_path, tmp_path / "no-such", ""):
        with pytest.raises(UsageError, match=f"--edits: {name} "):
            edits_of(TOOL, f"@{name}")
    marked.write_text('{"to": "bob"}', "utf-8-sig")
    assert edits_of(TOOL, f"@{marked}") == {"to": "bob"}


def test_a_report_is_any_text_but_half_a_character() -> None:
    for text in ("NaN", "[1]", "{", DEEP[:1000]):
        assert parsed_edits(REPORT, text) == {"report": text}
    with pytest.raises(RefusedError, match="UTF-8"):
        parsed_edits(REPORT, '{"report": "\\ud800"}')
    with pytest.raises(RefusedError, match="UTF-8"):
        parsed_edits(REPORT, "bad \udcff byte")


def test_what_is_larger_than_a_run_takes_is_not_sent() -> None:
    assert unsendable({"text": "x" * 200_000}) == ""
    assert "a run takes at most 262144" in unsendable({"text": "x" * 300_000})
    with pytest.raises(RefusedError, match="a run takes at most") as refused:
        decision("approve", "plan-1-00000000", "ann", comment="x" * 3_000_000)
    assert refused.value.mistake
    with pytest.raises(RefusedError, match="UTF-8"):
        decision("approve", "plan-1-00000000", "bad \udcff name")


@pytest.mark.parametrize(
    ("message", "status", "expected"),
    [
        ("Blob data size exceeds limit.", RPCStatusCode.INVALID_ARGUMENT, UsageError),
        (
            "received message larger than max (5 vs. 4)",
            RPCStatusCode.RESOURCE_EXHAUSTED,
            UsageError,
        ),
        ("namespace rate limit exceeded", RPCStatusCode.RESOURCE_EXHAUSTED, CommandError),
    ],
)
async def test_what_a_server_finds_too_large_is_a_usage_error(
    message: str, status: RPCStatusCode, expected: type[Exception]
) -> None:
    async def job() -> int:
        raise RPCError(message, status, b"")

    with pytest.raises(expected, match=re.escape(message)):
        await explained(job)


def test_only_names_of_files_may_be_no_text(tmp_path: Path) -> None:
    odd = str(tmp_path / "\udcff")
    refuse_bytes(["approve", "run-1", "--edits", f"@{odd}", f"--edits=@{odd}", "--json"])
    with pytest.raises(UsageError, match="not UTF-8"):
        refuse_bytes(["index", odd])
    (tmp_path / "\udcff").mkdir()
    refuse_bytes(["index", odd])
    for bad in (
        ["show", "\udcff"],
        ["reject", "r", "--comment=\udcff"],
        ["answer", "r", "@\udcff"],
    ):
        with pytest.raises(UsageError, match="not UTF-8"):
            refuse_bytes(bad)


def _editor(path: Path, script: str) -> str:
    editor = path / "editor"
    editor.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    editor.chmod(0o755)
    return str(editor)


@pytest.mark.parametrize(
    "script",
    [
        r"""printf '{"steps": "\377"}' > "$1" """,
        'rm "$1"',
        'head -c 200000 /dev/zero | tr "\\0" "[" > "$1"',
        """echo '{"steps": NaN}' > "$1" """,
        """echo '{"goal": "\\ud800"}' > "$1" """,
        ': > "$1"',
        "exit 3",
    ],
)
async def test_what_an_editor_leaves_is_told_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setenv("VISUAL", _editor(tmp_path, script))
    with pytest.raises(RefusedError, match=r"^malformed: ") as refused:
        await edited(PLAN)
    assert "\n" not in str(refused.value)


async def test_an_editor_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no-such-editor", "vi 'a"):
        monkeypatch.setenv("VISUAL", name)
        with pytest.raises(RefusedError, match="the editor failed"):
            await edited(PLAN)
    with pytest.raises(RefusedError, match="UTF-8"):
        await edited(Ask("tool-1-00000000", "tool", {"args": {"a": "\ud800"}}))


def test_changes_show_what_is_not_seen() -> None:
    assert r"\u202e" in plain(changes(TOOL, {"to": "\u202ebob"}))


def _people(
    monkeypatch: pytest.MonkeyPatch, answers: list[str | None], payload: Callable[..., Any]
) -> InPlace:
    """Somebody at a terminal who types these lines; decisions go to `payload`."""

    async def typed(_: str) -> str | None:
        return answers.pop(0)

    monkeypatch.setattr("cli.in_place.is_terminal", lambda: True)
    monkeypatch.setattr("cli.in_place.typed", typed)
    monkeypatch.setattr("cli.in_place.send", payload)
    handle = type("Handle", (), {"describe": _described})
    client = type("Client", (), {"get_workflow_handle": lambda *_: handle()})
    session = type("Session", (), {"client": client(), "env": None})
    return InPlace(cast("Session", session()), "run 1", Screen())


async def _described(_: object) -> Any:
    return type(
        "Described", (), {"raw_info": type("Info", (), {"first_run_id": "r"}), "run_id": ""}
    )


async def _asked(people: InPlace) -> None:
    asked = {"id": PLAN.id, "kind": "plan", "shown": PLAN.shown}
    await people.take({"language": "en", "open": [asked], "ended": []})
    for _ in range(200):
        await asyncio.sleep(0.01)
    await people.close()


async def test_a_question_that_breaks_costs_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def breaks(*_: object, **__: object) -> Any:
        raise LookupError("a defect\nof ours")

    await _asked(_people(monkeypatch, ["a"], breaks))
    told = capsys.readouterr().err.splitlines()[-1]
    assert "cannot be asked here (LookupError: a defect of ours)" in told
    assert "`uv run starter.py requests 'run 1'`" in told


async def test_a_decision_that_the_server_refuses_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def refuses(*_: object, **__: object) -> Any:
        raise RPCError("Blob data size exceeds limit.", RPCStatusCode.INVALID_ARGUMENT, b"")

    await _asked(_people(monkeypatch, ["a", "l"], refuses))
    said = capsys.readouterr().err
    assert "not taken: not sent: Blob data size exceeds limit." in said
    assert "stays open" in said


def test_showing_that_fails_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    before: set[str] = set()
    with Screen() as screen:
        for _ in range(3):
            with told(screen, before):
                raise KeyError("phase_new")
    assert capsys.readouterr().err.count("progress cannot be shown (KeyError: 'phase_new')") == 1
