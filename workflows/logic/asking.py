"""How a request is shown to people, with the exact commands that answer it (failures D11, D12).

Pure text: for the current details of the Web UI, for the memo, and for the command line.
"""

import json
import re
import shlex
from typing import Any, Final

from workflows.contracts.base import JsonObject, cut_bytes
from workflows.contracts.requests import Request
from workflows.contracts.state import RunState
from workflows.logic.headings import Words, words_for
from workflows.logic.requests import iso, open_requests, shown_of
from workflows.logic.safe_markdown import cell, code, escape, visible

_SHOWN: Final = 4000  # characters of what is shown, in the Web UI
_MEMO_SHOWN: Final = 300
_STEPS: Final = 60
_CELL: Final = 300
_MEMO_REQUESTS: Final = 10
_FENCE: Final = re.compile(r"`{3,}")


def language_of_run(state: RunState) -> Words:
    """The fixed words of the run's language; English before the task is resolved."""
    return words_for(state.prepared.task.language if state.prepared else "en")


def signal_command(workflow_id: str, name: str, payload: JsonObject, cli: str = "") -> str:
    """A Temporal command that sends a signal, to be pasted into a shell."""
    data = json.dumps(payload, ensure_ascii=False)
    parts = ["temporal", "workflow", "signal", "--workflow-id", workflow_id, "--name", name]
    command = " ".join(shlex.quote(part) for part in [*parts, "--input", data])
    return f"{command} {cli}".strip()


def commands(workflow_id: str, request: Request, words: Words, cli: str = "") -> dict[str, str]:
    """What answers a request, by decision: the Temporal command; `starter`: ours."""
    named = {"request_id": request.id, "by": words("your_name")}
    run, mine = shlex.quote(workflow_id), shlex.quote(request.id)
    if request.kind == "question":
        payload = {**named, "text": words("your_text")}
        return {
            "answer": signal_command(workflow_id, "answer", payload, cli),
            "starter": f"uv run starter.py answer {run} {mine} {shlex.quote(words('your_text'))}",
        }
    refusal = {**named, "comment": words("your_comment")}
    return {
        "approve": signal_command(workflow_id, "approve", named, cli),
        "reject": signal_command(workflow_id, "reject", refusal, cli),
        "starter": f"uv run starter.py approve {run} {mine}",
    }


def request_view(state: RunState, request: Request, workflow_id: str) -> dict[str, Any]:
    """A request as the query `requests` gives it."""
    words = language_of_run(state)
    view = request.model_dump(mode="json", exclude={"digest"})
    view["shown"] = shown_of(state, request)
    view["deadline"] = iso(request.deadline) if request.deadline is not None else None
    if request.outcome == "open":
        view["commands"] = commands(workflow_id, request, words, _cli(state))
    return view


def memo_requests(state: RunState, workflow_id: str) -> list[dict[str, Any]]:
    """The open requests as the memo holds them: readable without a worker."""
    words = language_of_run(state)
    return [
        {
            "id": request.id,
            "kind": request.kind,
            "shown": cut_bytes(_json(shown_of(state, request)), _MEMO_SHOWN),
            "until": iso(request.deadline) if request.deadline is not None else None,
            "approvers": request.approvers[:10],
            "commands": commands(workflow_id, request, words, _cli(state)),
        }
        for request in open_requests(state)[:_MEMO_REQUESTS]
    ]


def waiting_lines(state: RunState, workflow_id: str) -> list[str]:
    """Markdown of what the run waits for, [] if it waits for nobody."""
    words = language_of_run(state)
    lines: list[str] = []
    for request in open_requests(state):
        lines += [*_one(state, request, words, workflow_id), ""]
    return lines


def _one(state: RunState, request: Request, words: Words, workflow_id: str) -> list[str]:
    what = words(f"wait_{request.kind}")
    until = (
        words("until", at=iso(request.deadline))
        if request.deadline is not None
        else words("no_deadline")
    )
    names = words("comma").join(escape(name) for name in request.approvers)
    who = words("only_they", names=names) if names else words("anyone")
    answers = commands(workflow_id, request, words, _cli(state))
    heading = words("waits", what=f"{what} ({code(request.id)})")
    lines = [f"### {heading}", "", words("asked_at", at=request.asked_at, until=until, who=who), ""]
    if request.note:
        lines += [f"**{escape(request.note)}**", ""]
    shown = shown_of(state, request)
    if request.kind == "report":
        told = f"uv run starter.py requests {shlex.quote(workflow_id)}"
        lines += _fenced("markdown", str(shown.get("report", "")))
        lines += [words("whole_report", command=code(told)), ""]
    elif request.kind == "plan":
        lines += [*_plan_table(shown, words), ""]
    elif request.kind == "question":
        lines += [f"> {escape(str(shown.get('question', '')))}", ""]
    else:
        lines += _fenced("json", json.dumps(shown, ensure_ascii=False, indent=1))
    for name in ("approve", "reject", "answer"):
        if name in answers:
            lines += [f"{words('how_' + name)}{words('colon').rstrip()}", ""]
            lines += _fenced("sh", answers[name])
    return [*lines, *_fenced("sh", answers["starter"])]


def _plan_table(shown: JsonObject, words: Words) -> list[str]:
    """The steps of a plan with the criteria that they will be judged by."""
    lines = [words("asked_plan_columns"), "| --- | --- | --- | --- | --- | --- |"]
    for step in shown.get("steps", [])[:_STEPS]:
        call = step.get("tool") or step.get("tool_hint") or ""
        if step.get("args"):
            call += " " + _json(step["args"])
        cells = [
            cell(str(step.get("id", "")), _CELL),
            cell(str(step.get("goal", "")), _CELL),
            cell(str(step.get("accept", "")), _CELL),
            cell(", ".join(step.get("depends_on", [])), _CELL) or "–",
            cell(", ".join(step.get("topics", [])), _CELL) or "–",
            cell(call, _CELL) or "–",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    if len(shown.get("steps", [])) > _STEPS:
        lines += ["", words("more_steps", count=len(shown["steps"]) - _STEPS)]
    return lines


def _fenced(language: str, text: str) -> list[str]:
    """A code block that no text can end early, cut where it is long."""
    shown = visible(text if len(text) <= _SHOWN else text[:_SHOWN] + "\n…")
    ticks = max((len(run) for run in _FENCE.findall(shown)), default=2) + 1
    fence = "`" * max(3, ticks)
    return [f"{fence}{language}", shown, fence, ""]


def _cli(state: RunState) -> str:
    return state.prepared.task.settings.cli if state.prepared else ""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
