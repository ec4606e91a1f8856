"""How a request is shown to people, with the exact commands that answer it (failures D11, D12).

Pure text: for the current details of the Web UI, for the memo, and for the command line.
"""

import json
import re
import shlex
import unicodedata
from collections.abc import Iterator
from typing import Any, Final, cast

from workflows.contracts.base import JsonObject, cut_bytes
from workflows.contracts.requests import Request
from workflows.contracts.state import RunState
from workflows.logic.headings import Words, words_for
from workflows.logic.requests import iso, open_requests, shown_of
from workflows.logic.safe_markdown import cell, code, escape
from workflows.logic.safe_markdown import shown as spelled

_SHOWN: Final = 4000  # characters of what is shown, in the Web UI
_COLUMNS: Final = 50  # of a code block: the Web UI neither wraps nor scrolls one
_IN_FULL: Final = 10  # requests; the Web UI puts all details, escaped, in one URL of at most 1 MB
_MEMO_SHOWN: Final = 300
_MEMO_VALUE: Final = 40
_VALUE: Final = 300  # characters of a text in a call's arguments
_ITEMS: Final = 20  # of a list there
_STEPS: Final = 60
_CELL: Final = 300
_GAP: Final = "\u00a0\u00a0"  # after a cell: the Web UI draws tables without lines or room
_MEMO_REQUESTS: Final = 10
_FENCE: Final = re.compile(r"`{3,}")
_TEXT: Final = r'"(?:[^"\\\n]|\\.)*"'
_TEXTS: Final = re.compile(rf"\[\n *({_TEXT}(?:,\n *{_TEXT})*)\n *\]")
_LINE_END: Final = re.compile(r"\n *")


def language_of_run(state: RunState) -> Words:
    """The fixed words of the run's language; English before the task is resolved."""
    return words_for(state.prepared.task.language if state.prepared else "en")


def signal_command(workflow_id: str, name: str, payload: JsonObject, cli: str = "") -> str:
    """A Temporal command that sends a signal, to be pasted into a shell."""
    data = json.dumps(payload, ensure_ascii=False)
    parts = ["temporal", "workflow", "signal", "--workflow-id", workflow_id, "--name", name]
    command = " ".join(shlex.quote(part) for part in [*parts, "--input", data])
    return f"{command} {cli}".strip()


def folded_command(workflow_id: str, name: str, payload: JsonObject, cli: str = "") -> str:
    """The same over several lines, for a narrow pane; a field a line, so it can also be copied."""
    data = json.dumps(payload, ensure_ascii=False, separators=(",\n ", ": "))
    parts = ["temporal", "workflow", "signal", "--workflow-id", workflow_id]
    head = " ".join(shlex.quote(part) for part in parts)
    lines = [head, *([cli] if cli else []), f"--name {shlex.quote(name)} --input"]
    return " \\\n  ".join(lines) + " \\\n" + shlex.quote(data)


def payloads(request: Request, words: Words) -> dict[str, JsonObject]:
    """What answers a request, by the signal's name."""
    named = {"request_id": request.id, "by": words("your_name")}
    if request.kind == "question":
        return {"answer": {**named, "text": words("your_text")}}
    return {"approve": named, "reject": {**named, "comment": words("your_comment")}}


def commands(workflow_id: str, request: Request, words: Words, cli: str = "") -> dict[str, str]:
    """What answers a request, by decision: the Temporal command; `starter`: ours."""
    found = {
        name: signal_command(workflow_id, name, payload, cli)
        for name, payload in payloads(request, words).items()
    }
    return {**found, "starter": _starter(workflow_id, request, words)}


def _run(workflow_id: str) -> str:
    dashes = "-- " if workflow_id.startswith("-") else ""  # else the id is read as an option
    return dashes + shlex.quote(workflow_id)


def _whole(workflow_id: str) -> str:
    """The command that shows requests in full."""
    return f"uv run starter.py requests {_run(workflow_id)}"


def _starter(workflow_id: str, request: Request, words: Words) -> str:
    run, mine = _run(workflow_id), shlex.quote(request.id)
    if request.kind == "question":
        return f"uv run starter.py answer {run} {mine} {shlex.quote(words('your_text'))}"
    return f"uv run starter.py approve {run} {mine}"


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
            **_in_brief(shown_of(state, request), workflow_id),
            "until": iso(request.deadline) if request.deadline is not None else None,
            "approvers": request.approvers[:10],
            "commands": commands(workflow_id, request, words, _cli(state)),
        }
        for request in open_requests(state)[:_MEMO_REQUESTS]
    ]


def _in_brief(shown: JsonObject, workflow_id: str) -> JsonObject:
    """What is shown within a memo; where it is cut, the command that shows all of it."""
    if len(_json(shown).encode("utf-8", "replace")) <= _MEMO_SHOWN:
        return {"shown": _json(shown)}
    short = _json(_trimmed(shown, _MEMO_VALUE, 3))
    return {"shown": cut_bytes(short, _MEMO_SHOWN), "cut": True, "whole": _whole(workflow_id)}


def _trimmed(value: Any, most: int, items: int) -> Any:
    """JSON whose long texts and lists are cut one by one: no name and no short value is lost."""
    if isinstance(value, str) and len(value) > most:
        return f"{value[:most]}… ({most} / {len(value)})"
    if isinstance(value, dict):
        fields = cast("JsonObject", value)
        return {_trimmed(k, most, items): _trimmed(v, most, items) for k, v in fields.items()}
    if isinstance(value, list):
        every = cast("list[Any]", value)
        kept = [_trimmed(each, most, items) for each in every[:items]]
        return [*kept, f"… ({items} / {len(every)})"] if len(every) > items else kept
    return value


def waiting_lines(state: RunState, workflow_id: str) -> list[str]:
    """Markdown of what the run waits for, [] if it waits for nobody."""
    words = language_of_run(state)
    waiting = open_requests(state)
    lines: list[str] = []
    for request in waiting[:_IN_FULL]:
        lines += [*_one(state, request, words, workflow_id), ""]
    if more := waiting[_IN_FULL:]:
        names = words("comma").join(code(request.id) for request in more)
        lines += [words("more_requests", count=len(more), names=names), ""]
    return lines


def _one(state: RunState, request: Request, words: Words, workflow_id: str) -> list[str]:
    what = words(f"wait_{request.kind}")
    until = (
        words("until", at=iso(request.deadline))
        if request.deadline is not None
        else words("no_deadline")
    )
    names = words("comma").join(escape(spelled(name)) for name in request.approvers)
    who = words("only_they", names=names) if names else words("anyone")
    heading = words("waits", what=f"{what} ({code(request.id)})")
    lines = [f"### {heading}", "", words("asked_at", at=request.asked_at, until=until, who=who), ""]
    if request.note:
        lines += [f"**{escape(spelled(request.note))}**", ""]
    shown = shown_of(state, request)
    if request.kind == "report":
        lines += _fenced("markdown", str(shown.get("report", "")), wrap=True)
        lines += [words("whole_report", command=code(_whole(workflow_id))), ""]
    elif request.kind == "plan":
        table, cut = _plan_table(shown, words)
        lines += [*table, "", *_cut_line(words, workflow_id, cut=cut)]
    elif request.kind == "question":
        lines += [f"> {escape(spelled(str(shown.get('question', ''))))}", ""]
    else:
        text = _compact(shown)
        cut = len(text) > _SHOWN
        text = _compact(_trimmed(shown, _VALUE, _ITEMS)) if cut else text
        lines += [*_fenced("json", text, wrap=True), *_cut_line(words, workflow_id, cut=cut)]
    for name, payload in payloads(request, words).items():
        command = folded_command(workflow_id, name, payload, _cli(state))
        lines += [f"{words('how_' + name)}{words('colon').rstrip()}", "", *_fenced("sh", command)]
    lines += _fenced("sh", _starter(workflow_id, request, words))
    return [*lines, words("how_ui"), ""]


def spaced(row: str) -> str:
    """A table row whose cells do not touch."""
    return row.replace(" |", f"{_GAP} |")


def _cut_line(words: Words, workflow_id: str, *, cut: bool) -> list[str]:
    """Nobody grants what they were not shown without being told so."""
    return [f"**{words('cut_shown', command=code(_whole(workflow_id)))}**", ""] if cut else []


def _plan_table(shown: JsonObject, words: Words) -> tuple[list[str], bool]:
    """The steps of a plan with the criteria that they will be judged by; whether any is cut."""
    lines = [spaced(words("asked_plan_columns")), "| --- | --- | --- | --- | --- | --- |"]
    cut = len(shown.get("steps", [])) > _STEPS
    for step in shown.get("steps", [])[:_STEPS]:
        texts = [spelled(text) for text in _step_texts(step, words)]
        cut = cut or any(len(" ".join(text.split())) > _CELL for text in texts)
        cut = cut or _trimmed(args := step.get("args", {}), _MEMO_VALUE, _ITEMS) != args
        cells = [cell(text, _CELL) or "–" for text in texts]
        lines.append(spaced("| " + " | ".join(cells) + " |"))
    if len(shown.get("steps", [])) > _STEPS:
        lines += ["", words("more_steps", count=len(shown["steps"]) - _STEPS)]
    return lines, cut


def _step_texts(step: JsonObject, words: Words) -> list[str]:
    """What stands in the cells of a step: everything of it that a person grants."""
    goal, accept = str(step.get("goal", "")), str(step.get("accept", ""))
    if step.get("risk"):  # left out where it is low
        goal += words("shown_risk", risk=words(f"risk_{step['risk']}"))
    if step.get("required") is False:
        goal += words("shown_optional")
    if step.get("expected_output"):
        accept += words("shown_expected", text=step["expected_output"])
    call = str(step.get("tool") or step.get("tool_hint") or "")
    if step.get("args"):
        call += " " + _json(_trimmed(step["args"], _MEMO_VALUE, _ITEMS))
    after, topics = step.get("depends_on", []), step.get("topics", [])
    return [str(step.get("id", "")), goal, accept, ", ".join(after), ", ".join(topics), call]


def _fenced(language: str, text: str, *, wrap: bool = False) -> list[str]:
    """A code block that no text can end early, cut where it is long.

    Wrapped, no character is lost. JSON holds no line end inside of a text, so one that is seen
    there is ours.
    """
    shown = spelled(text if len(text) <= _SHOWN else text[:_SHOWN] + "\n…")
    if wrap:
        shown = "\n".join(part for line in shown.split("\n") for part in _parts(line))
    ticks = max((len(run) for run in _FENCE.findall(shown)), default=2) + 1
    fence = "`" * max(3, ticks)
    return [f"{fence}{language}", shown, fence, ""]


def _parts(line: str) -> Iterator[str]:
    """A line in parts that fit, broken after a blank where there is one."""
    start = used = blank = 0
    for at, character in enumerate(line):
        width = _width(character)
        if used + width > _COLUMNS:
            end = blank if blank > start + _COLUMNS // 4 else at
            yield line[start:end]
            start, used = end, sum(_width(c) for c in line[end:at])
        used += width
        blank = at + 1 if character == " " else blank
    yield line[start:]


def _width(character: str) -> int:
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _compact(shown: JsonObject) -> str:
    """JSON to be read: a list of texts stands on one line."""
    text = json.dumps(shown, ensure_ascii=False, indent=1)
    return _TEXTS.sub(lambda m: f"[{_LINE_END.sub(' ', m.group(1))}]", text)


def _cli(state: RunState) -> str:
    return state.prepared.task.settings.cli if state.prepared else ""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
