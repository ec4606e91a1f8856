"""What strangers put into a run, as it is printed, without a process of ours.

How it can go wrong: a printed command does something else when it is pasted; a terminal obeys a
name; a comment looks like a line of ours.
"""

import io
import json
import shlex
import subprocess
from typing import Any, cast

import pytest
import typer.main
from rich.console import Console as Rich

import starter
from cli.asks import Ask, ask_text, ways
from cli.board import board, plan_lines
from cli.columns import columns
from cli.pasted import pasted, quoted
from cli.plain import indented, line, plain
from cli.screen import Screen, complain, dump, write
from cli.words import words_of
from workflows.contracts.requests import Request
from workflows.logic.asking import commands

EN = words_of("en")
PLAN = Ask("plan-1-00000000", "plan", {"goal": "g", "steps": []})
IDS = [
    "run-1", "a b", "a $(touch /tmp/x)", "a`id`", "it's", "a;b", "-dash", "--json", "-", "a\nb",
    "a\x1b[2Jb", "\u202eevil", "运行", "$HOME", "a\\b'\x07", "*",
]  # fmt: skip


def _parsed(words: list[str]) -> dict[str, Any]:
    """What typer makes of the words of a pasted command."""
    assert words[:3] == ["uv", "run", "starter.py"]
    group = cast("Any", typer.main.get_command(starter.app))
    return group.commands[words[3]].make_context(words[3], words[4:]).params


def _pasted(command: str) -> list[str]:
    """The words that a shell makes of a line."""
    done = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True, cwd="/"
    )
    return done.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize("run", IDS)
def test_printed_commands_name_the_run_and_nothing_else(run: str) -> None:
    for ask in (PLAN, Ask("question-2-00000000", "question", {"question": "?"})):
        for way in ways(run, ask, EN):
            assert line(way) == way  # all of it is seen
            found = _parsed(_pasted(way))
            assert (found["run_id"], found["request"]) == (run, ask.id)
            if " reject " in way:
                assert found["comment"] == EN("your_comment")
            if " answer " in way:
                assert found["text"] == EN("your_text")
    for verb in ("resume", "watch", "show", "stop", "requests"):
        assert _parsed(_pasted(pasted(verb, run)))["run_id"] == run


@pytest.mark.parametrize("run", [run for run in IDS if plain(run) == run and "\n" not in run])
def test_a_run_prints_the_command_that_we_print(run: str) -> None:
    for kind in ("plan", "question"):
        request = Request(id=f"{kind}-1-00000000", kind=kind, number=1)
        assert commands(run, request, EN)["starter"] == ways(run, Ask(request.id, kind, {}), EN)[0]


def test_ordinary_commands_stay_as_they_were() -> None:
    assert pasted("show", "run-1") == "uv run starter.py show run-1"
    assert pasted("index", "a b", name="n") == "uv run starter.py index 'a b' --name n"
    assert shlex.split(quoted("it's")) == ["it's"]


EVIL = "ann\x1b[2J\x07\x9b31m\u202egnp\u2066\r\nuv run starter.py approve x"


def _harmless(text: str) -> bool:
    return not any(ord(c) < 32 and c not in "\n\t" for c in text) and not set(text) & set(
        "\x7f\x9b\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    )


def test_what_a_terminal_would_obey_is_seen() -> None:
    assert plain("a\x1b[1m\u202eb\x9b\x7f\r") == r"a\u001b[1m\u202eb\u009b\u007f\u000d"
    assert plain("a\r\n\tb") == "a\n\tb"
    assert plain("李雷 👩\u200d💻 שלום") == "李雷 👩\u200d💻 שלום"
    assert line(EVIL).count("\n") == 0
    assert indented("a\nb") == "  a\n  b"


def test_json_is_the_same_document(capsys: pytest.CaptureFixture[str]) -> None:
    document = {"by": EVIL, EVIL: ["内存"]}
    write(dump(document))
    out = capsys.readouterr().out
    assert json.loads(out) == document
    assert _harmless(out)
    assert "内存" in out


def test_nothing_foreign_reaches_a_terminal_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    plan = {
        "goal": EVIL,
        "steps": [{"id": EVIL, "goal": EVIL, "accept": EVIL, "args": {"a": EVIL}}],
    }
    asks = [
        Ask(EVIL, "plan", plan, note=EVIL, asked_at=EVIL, approvers=[EVIL]),
        Ask(EVIL, "tool", {"tool": EVIL, "effect": EVIL, "step": EVIL, "goal": EVIL, "args": plan}),
        Ask(EVIL, "question", {"question": EVIL}),
        Ask(EVIL, "plan", None, beginning=EVIL),
    ]
    texts = [ask_text(ask, EN) for ask in asks]
    texts += [columns([("A", EVIL), (EVIL, "b")]), *plan_lines(plan, EN)]
    for text in texts:
        assert _harmless(text)
        assert not any(each.startswith("uv run") for each in text.splitlines()), text
    with Screen() as screen:
        screen.say(EVIL)
        screen.now(EVIL)
        screen.markdown(EVIL)
    complain(EVIL)
    write(EVIL)
    both = capsys.readouterr()
    assert _harmless(both.out)
    assert _harmless(both.err)
    assert both.err.splitlines()[-1].startswith("error: ann")


def test_a_step_that_looks_like_markup_is_text() -> None:
    plan = {
        "version": 1,
        "steps": [{"id": "[/]", "goal": "[red]x[/blue] :smile:", "evidence": ["[/"]}],
    }
    out = io.StringIO()
    Rich(file=out, width=200).print(board(plan, {"missing_topics": ["[/]"]}, EN))
    assert "[red]x[/blue] :smile:" in out.getvalue()
