"""Which request a command means, what a person wants to change in it, and their consent.

Pure but for the file of `--edits` and the editor: what is sent is decided here, not how.
"""

import asyncio
import difflib
import json
from pathlib import Path
from typing import Any, Final, cast

import click

from cli.asks import REQUEST_ID, Ask, report_text
from cli.sending import RefusedError
from runtime.errors import UsageError

_YES: Final = frozenset({"y", "yes", "j", "ja", "是", "好", "同意", "批准"})
_CONTEXT: Final = 2


def chosen(asks: list[Ask], ended: list[dict[str, Any]], verb: str, request: str | None) -> Ask:
    """The request that a command means: the one it names, else the only one it can mean.

    Args:
        asks: the open ones.
        ended: those that have ended, as query `requests` gives them.
        verb: approve, reject or answer.
        request: as typed, None if nothing was.

    Raises:
        UsageError: none or several fit, or the one named takes another command; says which exist.
    """
    fitting = [ask for ask in asks if verb in ask.verbs]
    if request is None:
        if len(fitting) == 1:
            return fitting[0]
        raise UsageError(_which(fitting, asks, verb))
    found = next((ask for ask in asks if ask.id == request), None)
    if found is None:
        past = next((item for item in ended if item.get("id") == request), None)
        if past is not None:
            by = f" by {past['by']}" if past.get("by") else ""
            raise UsageError(f"{request} is no longer open: it was {past['outcome']}{by}")
        open_ones = ", ".join(ask.id for ask in asks) or "none"
        raise UsageError(f"no request {request!r} is open; open: {open_ones}")
    if verb not in found.verbs:
        raise UsageError(f"{found.id} takes {' or '.join(found.verbs)}, not {verb}")
    return found


def _which(fitting: list[Ask], asks: list[Ask], verb: str) -> str:
    if fitting:
        return f"several requests are open, name one: {', '.join(ask.id for ask in fitting)}"
    others = ", ".join(ask.id for ask in asks)
    return f"nothing to {verb}; open: {others}" if others else f"nothing to {verb}: none is open"


def answer_arguments(first: str | None, second: str | None) -> tuple[str | None, str | None]:
    """Request and text of `answer ID [REQUEST] [TEXT]`: one word alone is a request by its form."""
    if first is not None and second is None and not REQUEST_ID.fullmatch(first):
        return None, first
    return first, second


def edits_of(ask: Ask, text: str) -> dict[str, Any]:
    """What `--edits` gives: a JSON object, or the text of a report; `@FILE` holds it.

    Raises:
        UsageError: the file cannot be read.
        RefusedError: no JSON object; says what is expected.
    """
    if text.startswith("@"):
        try:
            text = Path(text[1:]).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--edits: {text[1:]} cannot be read: {error}") from None
    return parsed_edits(ask, text)


def parsed_edits(ask: Ask, text: str) -> dict[str, Any]:
    """Edits from what a person wrote.

    Raises:
        RefusedError: no JSON object; says what is expected.
    """
    try:
        value: Any = json.loads(text)
    except ValueError as error:
        if ask.kind == "report":
            return {"report": text}
        raise RefusedError("malformed", f"edits: {_expected(ask)}; {error}") from None
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    if ask.kind == "report":
        return {"report": text}
    raise RefusedError("malformed", f"edits: {_expected(ask)}")


def _expected(ask: Ask) -> str:
    if ask.kind == "plan":
        return 'expected a JSON object {"steps": [...]}, or {"goal": "..."} to plan anew'
    return "expected a JSON object with the arguments"


def editable(ask: Ask) -> str:
    """What a person edits: the steps, the arguments, the text."""
    if ask.kind == "report":
        return report_text(ask)
    shown = ask.shown or {}
    value: Any = shown.get("args") or {}
    if ask.kind == "plan":
        value = {"steps": shown.get("steps") or []}
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def changes(ask: Ask, edits: dict[str, Any]) -> str:
    """The difference between what is asked and what is to replace it, for a person."""
    if ask.kind == "report":
        before, after = editable(ask), str(edits.get("report", ""))
    else:
        before, after = editable(ask), json.dumps(edits, ensure_ascii=False, indent=2) + "\n"
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), ask.id, "edits", lineterm="", n=_CONTEXT
    )
    return "\n".join(lines)


async def edited(ask: Ask) -> dict[str, Any] | None:
    """What a person made of it in their editor; None if they changed nothing.

    Raises:
        RefusedError: what they wrote is no JSON object, or there is no editor.
    """
    before = editable(ask)
    suffix = ".md" if ask.kind == "report" else ".json"
    try:
        after = await asyncio.to_thread(click.edit, before, extension=suffix)
    except click.ClickException as error:
        raise RefusedError("malformed", f"the editor failed: {error.message}") from None
    if after is None or after.strip() == before.strip():
        return None
    return parsed_edits(ask, after)


def is_yes(line: str | None) -> bool:
    """Whether a person agreed; no answer is none."""
    return line is not None and line.lower() in _YES
