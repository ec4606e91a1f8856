"""What the Web UI shows of a run, and the commands that answer (failures D11, D12).

How it can go wrong: a command that does not work when pasted; a text that breaks the table or ends
a code block early; a run that waits without saying so.
"""

import json
import re
import shlex
from typing import Any
from urllib.parse import quote

import pytest

from tests.logic.asking_material import NOW, PLAN, RUN, state
from workflows.contracts.plan import Plan
from workflows.contracts.requests import Request
from workflows.contracts.state import RunState
from workflows.contracts.task import ToolSpec
from workflows.contracts.verdict import Verdict
from workflows.logic import requests as rules
from workflows.logic.asking import commands, memo_requests, request_view, waiting_lines
from workflows.logic.details import details
from workflows.logic.effects import call_shown
from workflows.logic.headings import words_for
from workflows.logic.plan_run import adopt

ODD = "run 'a'; rm -rf $HOME"


def plain(text: str) -> str:
    """Without the room that the Web UI needs between cells."""
    return text.replace("\u00a0", "")


def ask(run: RunState, kind: Any = "plan", **shown: Any) -> Request:
    content = shown or rules.plan_shown(run)
    return rules.open_request(run, kind, content, run_id=RUN, now=NOW)


@pytest.mark.parametrize("workflow_id", ["run-1", ODD, "运行 1"])
@pytest.mark.parametrize("kind", ["plan", "tool", "report"])
def test_commands_are_what_a_shell_reads(workflow_id: str, kind: str) -> None:
    run = state()
    request = ask(run, kind)
    found = commands(workflow_id, request, words_for("en"), "--address h:1")
    for name in ("approve", "reject"):
        words = shlex.split(found[name])
        assert words[:3] == ["temporal", "workflow", "signal"]
        assert words[words.index("--workflow-id") + 1] == workflow_id
        assert words[words.index("--name") + 1] == name
        assert json.loads(words[words.index("--input") + 1])["request_id"] == request.id
        assert words[-2:] == ["--address", "h:1"]
    assert shlex.split(found["starter"]) == [
        "uv", "run", "starter.py", "approve", workflow_id, request.id,
    ]  # fmt: skip


def test_a_question_shows_how_to_answer() -> None:
    run = state("zh")
    request = ask(run, "question", question="哪个版本？")
    words = shlex.split(commands("r", request, words_for("zh"))["answer"])
    payload = json.loads(words[words.index("--input") + 1])
    assert payload == {"request_id": request.id, "by": "您的名字", "text": "您的回答"}
    shown = "\n".join(waiting_lines(run, "r"))
    assert "哪个版本？" in shown
    assert "向您提问" in shown


@pytest.mark.parametrize(("language", "word"), [("en", "Waiting"), ("zh", "等待")])
def test_what_a_run_waits_for_stands_on_top(language: str, word: str) -> None:
    run = state(language, approvers=["eva"], expires_after_seconds=60.0)
    run.phase = "awaiting_plan"
    request = ask(run)
    lines = plain(details(run, "run-1")).splitlines()
    assert word in lines[0]
    assert request.id in lines[0]
    text = "\n".join(lines)
    assert "eva" in text
    assert rules.iso(NOW + 60) in text
    assert "Find the price" in text
    assert "查找日期" in text
    assert "a number in euros" in text  # what it will be judged by
    assert text.index(request.id) < text.rindex("| s1 |")


def asked_call(run: RunState, args: dict[str, Any]) -> str:
    shown = call_shown(ToolSpec(name="send", effect="write"), args, "s1", "Send it")
    rules.open_request(run, "tool", shown, run_id=RUN, now=NOW)
    return "\n".join(waiting_lines(run, "-r"))


@pytest.mark.parametrize(("language", "said"), [("en", "This is cut."), ("zh", "此处有删节")])
def test_a_long_text_hides_nothing_of_a_call(language: str, said: str) -> None:
    args = {"text": "x" * 4100, "to": "mallory", "copies": list(range(50))}
    text = asked_call(state(language), args)
    assert '"to": "mallory"' in text
    assert "… (300 / 4100)" in text
    assert "… (20 / 50)" in text
    assert f"**{said}" in text
    assert "`uv run starter.py requests -- -r`" in text
    memo = memo_requests(made := state(language), "r")
    assert memo == []
    asked_call(made, args)
    (memo,) = memo_requests(made, "r")
    assert "mallory" in memo["shown"]
    assert (memo["cut"], memo["whole"]) == (True, "uv run starter.py requests r")


def test_what_is_shown_whole_is_not_said_to_be_cut() -> None:
    run = state()
    assert "is cut" not in asked_call(run, {"text": "x" * 300, "to": "ann"})
    assert "cut" not in memo_requests(state(), "r")
    plan = state()
    ask(plan)
    assert "is cut" not in "\n".join(waiting_lines(plan, "r"))


def test_everything_of_a_step_is_shown() -> None:
    run = state()
    step = {
        "id": "s3", "goal": "Try it", "accept": "a number", "expected_output": "one row",
        "risk": "high", "required": False, "tool": "send", "args": {"to": "m", "text": "y" * 99},
    }  # fmt: skip
    adopt(run.dag, Plan.model_validate({"steps": [*PLAN["steps"], step]}))
    ask(run)
    text = plain("\n".join(waiting_lines(run, "r")))
    assert "| Try it (risk: high) (may fail) | a number (expected: one row) |" in text
    assert '"to":"m"' in text.replace(" ", "").replace("\\", "")
    assert "This is cut." in text


HIDDEN = "ann\u202emoc.live\u2066 \x1b[2J"


def test_what_nobody_sees_is_spelled_out() -> None:
    """A grant covers what stands there, not what it looks like (failures D07)."""
    run = state(approvers=[HIDDEN])
    text = asked_call(run, {"to": HIDDEN})
    run.goal = HIDDEN
    adopt(run.dag, Plan.model_validate({"steps": [
        {"id": HIDDEN, "goal": HIDDEN, "accept": HIDDEN, "topics": ["price"]}]}))  # fmt: skip
    ask(run)
    for shown in (text, details(run, "r"), *details(run, "r").splitlines()):
        assert not set("\u202e\u2066\x1b") & set(shown)
    assert "ann\\u202emoc.live" in text.replace("\\\\", "\\")


def test_without_a_request_nothing_waits() -> None:
    run = state()
    assert waiting_lines(run, "r") == []
    assert details(run).startswith("**preparing**")


def test_the_plan_is_a_table_with_verdicts_and_evidence() -> None:
    run = state()
    step = run.dag.steps["s1"]
    step.status, step.attempts, step.numbers = "DONE", 2, [1, 4]
    step.verdict = Verdict(passed=True, score=0.9)
    run.dag.steps["s2"].verdict = Verdict(passed=False, score=0.2, layer="evidence", reason="x")
    lines = plain(details(run)).splitlines()
    assert "| s1 | Find the price | DONE | 2 | 0.90 passed | E1 E4 |" in lines
    assert "| s2 | 查找日期 | PENDING | 0 | 0.20 failed at evidence | – |" in lines


def test_budgets_are_used_and_left() -> None:
    run = state()
    run.usage.model_calls, run.usage.tool_calls = 30, 40
    lines = plain(details(run)).splitlines()
    assert "| model calls | 30 | 80 | 50 |" in lines
    assert "| tool calls | 40 | 40 | 0 |" in lines


@pytest.mark.parametrize("text", ["a | b", "<img src=x>", "`code`", "a\nb", "![x](y)", "*b*"])
def test_no_text_breaks_the_table(text: str) -> None:
    run = state()
    assert run.dag.plan is not None
    steps = [step.model_copy(update={"goal": text}) for step in run.dag.plan.steps]
    run.dag.plan = run.dag.plan.model_copy(update={"steps": steps})
    rows = [line for line in details(run).splitlines() if line.startswith("| s")]
    assert len(rows) == 2
    for row in rows:
        assert row.replace("\\|", "").count("|") == 7
        assert "<img" not in row.replace("\\<", "")


def test_details_can_be_read_in_a_narrow_pane_and_pasted() -> None:
    run = state()
    asked = {"tool": "send", "args": {"to": ["ann", "贝蒂"], "text": "字 and a long word " * 20}}
    ask(run, "tool", **asked)
    text = "\n".join(waiting_lines(run, ODD))
    shown, approve, reject, _ = re.findall(r"```\w+\n(.*?)\n```", text, re.DOTALL)
    assert json.loads(shown.replace("\n", "")) == asked
    assert '"to": ["ann", "贝蒂"]' in shown
    assert max(map(len, shown.splitlines())) <= 50
    for name, block in (("approve", approve), ("reject", reject)):
        words = shlex.split(block.replace("\\\n", ""))
        once = shlex.split(commands(ODD, run.requests[0], words_for("en"))[name])
        assert json.loads(words.pop()) == json.loads(once.pop())
        assert sorted(words) == sorted(once)


def test_many_requests_stay_below_what_the_web_ui_takes() -> None:
    run = state("zh")
    for number in range(40):
        ask(run, "tool", args={"text": "长" * 5000, "n": number})
    text = details(run, "run-1")
    assert len(quote(text)) < 900_000  # all of it is one URL there; above 1 MB nothing is shown
    assert all(request.id in text for request in run.requests)


def test_the_cells_of_a_table_do_not_touch() -> None:
    rows = [line for line in details(state()).splitlines() if line.startswith("| ")]
    assert all(row.count("\u00a0\u00a0 |") == row.count(" |") for row in rows if "---" not in row)


def test_no_text_ends_a_code_block() -> None:
    run = state()
    ask(run, "report", report="```\n# Not a heading\n````\nend", report_ref="sha256:1")
    lines = waiting_lines(run, "r")
    fences = [n for n, line in enumerate(lines) if line.startswith("`````")]
    inside = lines[fences[0] + 1 : fences[1]]
    assert "# Not a heading" in "\n".join(inside)


def test_a_memo_is_small_and_says_the_essentials() -> None:
    run = state(expires_after_seconds=60.0)
    for number in range(30):
        ask(run, "tool", args={"text": "长" * 5000, "n": number})
    told = memo_requests(run, "run-1")
    assert len(told) == 10
    assert len(json.dumps(told, ensure_ascii=False).encode()) < 20_000
    assert told[0]["id"] == run.requests[0].id
    assert told[0]["until"] == rules.iso(NOW + 60)
    assert told[0]["commands"]["approve"].startswith("temporal workflow signal")


def test_an_ended_request_shows_no_commands() -> None:
    run = state()
    request = ask(run)
    assert "commands" in request_view(run, request, "r")
    rules.withdraw(run, "withdrawn", NOW)
    view = request_view(run, request, "r")
    assert "commands" not in view
    assert view["outcome"] == "withdrawn"
