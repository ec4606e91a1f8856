"""A request to people as a terminal shows it: what is asked, until when, who may decide, all of it.

Plain text, no table: a criterion is longer than a column. A decision grants only what its author
saw (INTERFACE, "Messages"), so nothing of a plan or a call is left out.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final, cast

from activities.store.base import EvidenceLostError
from cli.pasted import pasted
from cli.plain import indented, line, plain
from cli.records import opened_store
from runtime.errors import UsageError
from runtime.settings import Env
from workflows.contracts.requests import RequestKind
from workflows.logic.headings import Words

REQUEST_ID: Final = re.compile(r"(?:plan|tool|report|question)-\d+-[0-9a-f]{8}")
_EMPTY: Final[dict[str, Any]] = {}


@dataclass(frozen=True)
class Ask:
    """An open request.

    Attributes:
        shown: exactly what the request's digest is over; None where only its beginning is known.
        beginning: that, as the memo of the run holds it, "" where `shown` is known.
        deadline: ISO time, None for no deadline.
        whole: the whole text of a report, "" where the store is not at hand.
    """

    id: str
    kind: RequestKind
    shown: dict[str, Any] | None
    beginning: str = ""
    note: str = ""
    asked_at: str = ""
    deadline: str | None = None
    approvers: list[str] = field(default_factory=list[str])
    whole: str = ""

    @property
    def verbs(self) -> tuple[str, ...]:
        """The commands that answer it."""
        return ("answer",) if self.kind == "question" else ("approve", "reject")


def asks_of(known: dict[str, Any]) -> list[Ask]:
    """The open requests in an answer of query `requests`, or in a memo; oldest first."""
    return [_ask(cast("dict[str, Any]", item)) for item in cast("list[Any]", known["open"])]


def _ask(item: dict[str, Any]) -> Ask:
    shown = item.get("shown")
    return Ask(
        id=str(item["id"]),
        kind=item["kind"],
        shown=cast("dict[str, Any]", shown) if isinstance(shown, dict) else None,
        beginning=shown if isinstance(shown, str) else "",
        note=str(item.get("note") or ""),
        asked_at=str(item.get("asked_at") or ""),
        deadline=item.get("deadline") or item.get("until"),
        approvers=list(item.get("approvers") or []),
    )


async def whole_report(env: Env, run_id: str, ask: Ask) -> str:
    """The text that a report's request is about, byte for byte; "" where it is not at hand.

    Args:
        env: of this process, for the place of the store.
        run_id: of the run's first execution.
        ask: the request.
    """
    ref = (ask.shown or _EMPTY).get("report_ref")
    if not isinstance(ref, str) or not ref:
        return ""
    try:
        return (await opened_store(env).get(run_id, ref)).decode("utf-8", "replace")
    except (EvidenceLostError, UsageError, OSError):
        return ""  # another machine's store: its beginning is shown, and that it is one


def heading(ask: Ask, words: Words) -> str:
    """What is asked, in a line."""
    return line(words("waits", what=f"{words('wait_' + ask.kind)} ({ask.id})"))


def ask_text(ask: Ask, words: Words) -> str:
    """All of a request, for a terminal; a report follows as Markdown of its own."""
    until = words("until", at=ask.deadline) if ask.deadline else words("no_deadline")
    names = words("comma").join(ask.approvers)
    who = words("only_they", names=names) if names else words("anyone")
    lines = [heading(ask, words)]
    asked = words("asked_at", at=ask.asked_at, until=until, who=who) if ask.asked_at else until
    lines.append(line(asked))
    if ask.note:
        lines += ["", indented(ask.note)]
    return plain("\n".join([*lines, "", *_shown(ask, words)]).rstrip())


def _shown(ask: Ask, words: Words) -> list[str]:
    if ask.shown is None:
        return [indented(ask.beginning), "", words("show_cut")]
    if ask.kind == "plan":
        return _plan(ask.shown, words)
    if ask.kind == "tool":
        return _call(ask.shown, words)
    if ask.kind == "report":
        size = words("show_bytes", bytes=ask.shown.get("bytes"), status=ask.shown.get("status"))
        return [line(size)] if ask.whole else [line(size), words("show_opening")]
    return [indented(str(ask.shown.get("question", "")))]


def report_text(ask: Ask) -> str:
    """The Markdown of a report that is asked for, "" for any other request."""
    if ask.kind != "report":
        return ""
    return ask.whole or str((ask.shown or _EMPTY).get("report", ""))


def _plan(shown: dict[str, Any], words: Words) -> list[str]:
    colon = words("colon")
    lines = [f"{words('show_goal')}{colon}{_inner(shown.get('goal', ''))}"]
    for step in cast("list[dict[str, Any]]", shown.get("steps") or []):
        lines += ["", f"{line(step.get('id'))}  {_inner(step.get('goal', ''))}"]
        call = str(step.get("tool") or step.get("tool_hint") or "")
        if step.get("args"):
            call += " " + json.dumps(step["args"], ensure_ascii=False)
        told = {
            "show_accept": step.get("accept"),
            "show_expected": step.get("expected_output"),
            "show_depends": words("comma").join(step.get("depends_on") or []),
            "show_topics": words("comma").join(step.get("topics") or []),
            "show_tool": call,
            "show_risk": step.get("risk"),
        }
        lines += [f"    {words(key)}{colon}{_inner(text)}" for key, text in told.items() if text]
        if step.get("required") is False:
            lines.append(f"    {words('show_optional')}")
    return lines


def _inner(text: object) -> str:
    """A text of somebody else within a line of ours; its further lines stand below, indented."""
    return indented(str(text), " " * 8).lstrip(" ")


def _call(shown: dict[str, Any], words: Words) -> list[str]:
    colon = words("colon")
    arguments = json.dumps(shown.get("args") or {}, ensure_ascii=False, indent=2)
    return [
        f"{words('show_tool')}{colon}{line(shown.get('tool'))}",
        f"{words('show_effect')}{colon}{line(shown.get('effect'))}",
        f"{words('show_step')}{colon}{line(shown.get('step'))} "
        f"{_inner(shown.get('goal') or '')}".rstrip(),
        f"{words('show_arguments')}{colon.rstrip()}",
        *(f"  {each}" for each in arguments.split("\n")),
    ]


def ways(workflow_id: str, ask: Ask, words: Words) -> list[str]:
    """The commands that answer a request, to be pasted."""
    if ask.kind == "question":
        return [pasted("answer", workflow_id, ask.id, words("your_text"))]
    return [
        pasted("approve", workflow_id, ask.id),
        pasted("reject", workflow_id, ask.id, comment=words("your_comment")),
    ]
