"""Which request a command means, what a person wants to change in it, and their consent.

Pure but for the file of `--edits` and the editor: what is sent is decided here, not how.
"""

import asyncio
import difflib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

import click

from cli.asks import REQUEST_ID, Ask, report_text
from cli.sending import RefusedError, unsendable
from runtime.errors import UsageError

_YES: Final = frozenset({"y", "yes", "j", "ja", "是", "好", "同意", "批准"})
_CONTEXT: Final = 2
_MOST_READ: Final = 4 * 1024 * 1024  # bytes of a file; what may be sent is less


def given(arguments: Mapping[str, str | None]) -> None:
    """Refuse what was given and holds nothing, as a failed `"$(cat FILE)"` does.

    Args:
        arguments: by their names; None for one that was left out.

    Raises:
        UsageError: names the one that is blank.
    """
    for name, text in arguments.items():
        if text is not None and not text.strip():
            raise UsageError(f"{name}: must not be blank; leave it out if nothing is meant")


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
        UsageError: the file cannot be read, or holds nothing.
        RefusedError: no JSON object; says what is expected.
    """
    if text.startswith("@"):
        text = _text_of(text[1:])
    return parsed_edits(ask, text)


def _text_of(name: str) -> str:
    """What a file holds, which may also be a pipe."""
    try:
        with Path(name).open("rb") as file:
            data = file.read(_MOST_READ + 1)
        if len(data) > _MOST_READ:
            raise UsageError(f"--edits: {name} is larger than {_MOST_READ} bytes")
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--edits: {name} cannot be read: {error}") from None
    if not text.strip():
        raise UsageError(f"--edits: {name} holds nothing")
    return text


def parsed_edits(ask: Ask, text: str) -> dict[str, Any]:
    """Edits from what a person wrote.

    Raises:
        RefusedError: no JSON object, or one that cannot be sent; says what is expected.
    """
    value, problem = _read(text)
    if not isinstance(value, dict):
        if ask.kind != "report":
            reason = f"edits: {_expected(ask)}" + (f"; {problem}" if problem else "")
            raise RefusedError("malformed", reason)
        value = {"report": text}
    edits = cast("dict[str, Any]", value)
    if told := unsendable(edits):
        raise RefusedError("malformed", f"edits: {told}")
    return edits


def _read(text: str) -> tuple[Any, str]:
    """A JSON value and "", or None and why it is none."""
    try:
        return json.loads(text, parse_constant=_no_number), ""
    except ValueError as error:
        return None, str(error)
    except RecursionError:
        return None, "nested too deeply"


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


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
        RefusedError: what they wrote cannot be read or is no JSON object, or there is no editor.
    """
    before = editable(ask)
    suffix = ".md" if ask.kind == "report" else ".json"
    try:
        after = await asyncio.to_thread(click.edit, before, extension=suffix)
    except click.ClickException as error:
        raise RefusedError("malformed", f"the editor failed: {error.message}") from None
    except UnicodeError as error:
        raise RefusedError("malformed", f"edits: not UTF-8: {error}") from None
    except (OSError, ValueError) as error:  # the file is gone; quotes in $EDITOR do not match
        raise RefusedError("malformed", f"the editor failed: {error}") from None
    if after is None or after.strip() == before.strip():
        return None
    return parsed_edits(ask, after)


def is_yes(line: str | None) -> bool:
    """Whether a person agreed; no answer is none."""
    return line is not None and line.lower() in _YES
