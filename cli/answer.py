"""Print how a run ended, and give the command's exit code."""

from typing import Any

from pydantic import ValidationError

from cli.outcome import Outcome, exit_code
from cli.plain import line
from cli.records import stored_report
from cli.screen import Screen, complain, dump, write, write_markdown
from runtime.settings import Env
from workflows.contracts.result import RunResult

_MAY_BE_CUT = 60 * 1024  # bytes; a report in a result is cut at 64 KiB


async def answer(
    env: Env, outcome: Outcome, screen: Screen, *, as_json: bool, strict: bool = False
) -> int:
    """The result on standard output, in one document; a closing line on standard error."""
    code = exit_code(outcome, strict=strict)
    if outcome.invalid:
        complain(outcome.error)
        return code
    if as_json:
        write(dump(outcome.document()))
    elif outcome.result is not None:
        write_markdown(await whole_report(env, outcome.workflow_id, outcome.result))
    if outcome.result is None:
        complain(f"{outcome.workflow_id}: {outcome.error}")
    else:
        screen.say(f"{outcome.workflow_id}: {summary(outcome.result)}")
    return code


def summary(result: dict[str, Any]) -> str:
    """Status, stop reason, counts and what is missing, in one line."""
    try:
        known = RunResult.model_validate(result)
    except ValidationError:  # another workflow's, or another version's
        return line(result.get("status") or "it has ended, not as a run does")
    sources = sum(not item.empty for item in known.evidence)
    missing = line(", ".join(known.missing_topics))
    return (
        f"{known.status} ({known.stop_reason}), {known.usage.model_calls} model calls, "
        f"{known.usage.tool_calls} tool calls, {sources} sources"
        + (f", missing: {missing}" if missing else "")
    )


async def whole_report(env: Env, workflow_id: str, result: dict[str, Any]) -> str:
    """The report; a long one whole, where the evidence store is at hand."""
    text = str(result.get("report", ""))
    if len(text.encode()) < _MAY_BE_CUT:
        return text
    return await stored_report(env, workflow_id) or text
