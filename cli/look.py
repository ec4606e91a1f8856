"""Look at runs and stop them: `show`, `list`, `stop`."""

from datetime import datetime
from typing import Any, Final, cast

from temporalio.client import (
    WorkflowExecution,
    WorkflowExecutionDescription,
)
from temporalio.common import SearchAttributeKey

from cli.answer import summary, whole_report
from cli.columns import columns
from cli.follow import outcome_of
from cli.options import Output
from cli.outcome import OK, Outcome
from cli.pasted import pasted
from cli.plain import line
from cli.queries import asked_in, memo_of, open_run, queried
from cli.records import stored_result
from cli.screen import Screen, dump, write, write_markdown
from cli.sending import user
from cli.session import Session, connected, is_embedded, someone_polls
from runtime.errors import UsageError
from runtime.settings import load_env
from workflows.contracts.names import AGENT_RUN
from workflows.logic.inbox import read_message

_QUERY_SECONDS: Final = 5.0
_STATUS: Final = SearchAttributeKey.for_keyword("AgentStatus")
_STOP_REASON: Final = SearchAttributeKey.for_keyword("AgentStopReason")


async def show_command(workflow_id: str, output: Output) -> int:
    """`show ID`: the kept result of a run that has ended, else where it stands."""
    env, embedded = load_env(), is_embedded()
    result = await stored_result(env, workflow_id)
    with Screen() as screen:
        if result is None:
            async with connected(env, embedded=embedded) as session:
                return await _show_from_server(session, workflow_id, screen, output)
        if output.json:
            write(dump(result))
        else:
            write_markdown(await whole_report(env, workflow_id, result))
        screen.say(f"{workflow_id}: {summary(result)}")
    return OK


async def list_command(limit: int, output: Output) -> int:
    """`list`: runs, newest first, open and closed."""
    env, embedded = load_env(), is_embedded()
    async with connected(env, embedded=embedded) as session:
        found = session.client.list_workflows(f"WorkflowType = '{AGENT_RUN}'", limit=limit)
        rows = [await _row(execution) async for execution in found]
        _write_rows(rows, output)
    return OK


def _write_rows(rows: list[dict[str, Any]], output: Output) -> None:
    if output.json:
        write(dump(rows))
    elif rows:
        head = ("ID", "STATE", "STOP REASON", "STARTED", "WAITS FOR")
        cells = [
            (r["workflow_id"], r["status"] or r["phase"] or r["execution"], r["stop_reason"],
             r["started"], ", ".join(r["waits_for"]))
            for r in rows
        ]  # fmt: skip
        write(columns([head, *cells]))
    else:
        write("no runs yet")


async def stop_command(workflow_id: str, reason: str, by: str) -> int:
    """`stop ID`: finish now, with a partial report."""
    payload = {"by": by or user(), "reason": reason}
    read = read_message("stop", [payload])
    if read.value is None:
        raise UsageError(read.reason)
    env, embedded = load_env(), is_embedded()
    with Screen() as screen:
        async with connected(env, embedded=embedded) as session:
            await open_run(session, workflow_id)
            await session.client.get_workflow_handle(workflow_id).signal("stop", payload)
            polled = await someone_polls(session)
        write(f"{workflow_id} was told to stop")
        if not polled:
            where = (
                f"`{pasted('resume', workflow_id)}`"
                if embedded
                else "with a worker (`uv run worker.py`)"
            )
            screen.warn(f"no worker polls: the run ends when it goes on, {where}")
    return OK


async def _show_from_server(
    session: Session, workflow_id: str, screen: Screen, output: Output
) -> int:

    described = await session.client.get_workflow_handle(workflow_id).describe()
    if described.close_time is not None:
        return await _show_closed(await outcome_of(session, workflow_id), screen, output)
    answers = await someone_polls(session)
    status = await queried(session, workflow_id, "status") if answers else None
    document: dict[str, Any] = {
        **await _row(described),
        "memo": await memo_of(described),
        "state": status,
    }
    if output.json:
        write(dump(document))
    else:
        write("\n".join(_status_lines(document)))
        if session.ui:
            screen.say(f"Web UI: {session.ui_of(workflow_id)}")
    if status is None:
        screen.warn("no worker answers: shown is what the server itself knows")
    return OK


async def _show_closed(outcome: Outcome, screen: Screen, output: Output) -> int:
    if output.json:
        write(dump(outcome.document()))
    elif outcome.result is not None:
        write_markdown(str(outcome.result.get("report", "")))
        screen.say(f"{outcome.workflow_id}: {summary(outcome.result)}")
    else:
        write(f"{outcome.workflow_id}: {outcome.execution}: {outcome.error}")
    return OK


def _status_lines(document: dict[str, Any]) -> list[str]:
    state = cast("dict[str, Any]", document["state"] or {})
    lines = [
        f"{line(document['workflow_id'])}: {state.get('phase') or document['phase'] or 'open'}",
        f"started {document['started']}",
    ]
    if document["waits_for"]:
        told = pasted("requests", document["workflow_id"])
        lines += [
            f"waits for: {line(', '.join(document['waits_for']))}",
            f"  what it asks, and how to answer: {told}",
        ]
    if state:
        usage: dict[str, Any] = state.get("usage") or {}
        limits: dict[str, Any] = state.get("limits") or {}
        missing: list[str] = state.get("missing_topics") or []
        lines += [
            f"goal: {line(state.get('goal', ''))}",
            f"strategy {state.get('strategy')}, language {state.get('language')}, "
            f"model {state.get('model')}",
            f"model calls {usage.get('model_calls', 0)} of {limits.get('max_model_calls', '?')}, "
            f"tool calls {usage.get('tool_calls', 0)} of {limits.get('max_tool_calls', '?')}"
            f"{dollars(usage, limits)}",
            f"evidence: {state.get('evidence', 0)} sources; "
            f"missing: {line(', '.join(missing)) or 'nothing'}",
        ]
    return lines


def dollars(usage: dict[str, Any], limits: dict[str, Any]) -> str:
    """What a run has cost, where that is known or limited."""
    cost, most = usage.get("cost", "0"), limits.get("max_cost")
    if cost == "0" and most is None:
        return ""
    return f", US dollars {cost}" + (f" of {most}" if most is not None else "")


async def _row(execution: WorkflowExecution | WorkflowExecutionDescription) -> dict[str, Any]:
    """What a list shows of a run, from what the server itself knows."""
    attributes = execution.typed_search_attributes
    status = execution.status.name.lower() if execution.status is not None else "unknown"
    memo = await memo_of(execution)
    asked = asked_in(memo) if execution.close_time is None else []
    return {
        "workflow_id": execution.id,
        "run_id": execution.run_id,
        "execution": status,
        "phase": memo.get("phase", ""),
        "status": attributes.get(_STATUS, ""),
        "stop_reason": attributes.get(_STOP_REASON, ""),
        "waits_for": [str(request["id"]) for request in asked],
        "started": _time(execution.start_time),
        "closed": _time(execution.close_time),
    }


def _time(at: datetime | None) -> str:
    return "" if at is None else at.astimezone().isoformat(timespec="seconds")
