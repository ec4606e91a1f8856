"""What people see of a run without reading its state: details, memo, search attributes, queries."""

from typing import Any, Final

from temporalio import workflow
from temporalio.common import SearchAttributeKey, SearchAttributeUpdate

from workflows.contracts.names import MEMO, SEARCH_ATTRIBUTES
from workflows.contracts.plan_state import StepState
from workflows.contracts.result import RunResult
from workflows.contracts.state import RunState
from workflows.logic.asking import memo_requests, request_view
from workflows.logic.details import details
from workflows.logic.ledger import missing_topics
from workflows.logic.requests import open_requests, waiting_for

_KEYWORDS: Final = {
    name: SearchAttributeKey.for_keyword(name)
    for name in ("AgentPhase", "AgentStatus", "AgentStopReason", "AgentTenant")
}
_AWAITING: Final = SearchAttributeKey.for_keyword_list("AgentAwaiting")
_DEGRADED: Final = SearchAttributeKey.for_bool("AgentDegraded")


def show_phase(state: RunState) -> None:
    """At a change of phase: memo, and search attributes where the server knows them."""
    workflow.upsert_memo(
        {
            MEMO: {
                "phase": state.phase,
                "requests": memo_requests(state, workflow.info().workflow_id),
                "report_ref": state.closed.report_ref if state.closed else "",
            }
        }
    )
    known = state.prepared.task.settings.search_attributes if state.prepared else []
    updates = [update for update in _attributes(state) if update.key.name in known]
    if updates:
        workflow.upsert_search_attributes(updates)  # pyright: ignore[reportUnknownMemberType]


def attributes_note(state: RunState) -> str:
    """What to say once where the server does not know our search attributes; "" where it does."""
    task = state.prepared.task if state.prepared else None
    if task is None:
        return ""
    unknown = [n for n in SEARCH_ATTRIBUTES if n not in task.settings.search_attributes]
    if not unknown:
        return ""
    if task.language.startswith("zh"):
        return f"服务器上没有注册这些搜索属性，因此不能按它们筛选运行：{'、'.join(unknown)}"
    names = ", ".join(unknown)
    return f"the server does not know these search attributes, so runs cannot be filtered: {names}"


def show_details(state: RunState) -> None:
    """Current details in Markdown: phase, plan, budgets. A query only: it adds no event."""
    workflow.set_current_details(details(state, workflow.info().workflow_id))


def status_view(state: RunState) -> dict[str, Any]:
    """Answer of query `status`."""
    task = state.prepared.task if state.prepared else None
    topics = task.topics if task else []
    return {
        "phase": state.phase,
        "status": state.closed.status if state.closed else None,
        "stop_reason": state.stop_reason,
        "goal": state.goal,
        "strategy": task.strategy if task else None,
        "language": task.language if task else None,
        "model": task.model if task else None,
        "topics": len(topics),
        "missing_topics": [topics[i].id for i in missing_topics(state, len(topics))],
        "evidence": sum(not entry.empty for entry in state.ledger),
        "usage": state.usage.model_dump(),
        "limits": task.limits.model_dump() if task else {},
        "no_progress": state.no_progress,
        "awaiting": waiting_for(state),
        "open_requests": [request.id for request in open_requests(state)],
        "notes": state.notes,
        "report_ref": state.closed.report_ref if state.closed else "",
    }


def evidence_view(state: RunState) -> list[dict[str, Any]]:
    """Answer of query `evidence`: the ledger with its ids and topics by name."""
    topics = state.prepared.task.topics if state.prepared else []
    return [
        {
            "id": f"E{number}",
            "source_id": entry.source_id,
            "title": entry.title,
            "topics": [topics[i].id for i in entry.topics],
            "empty": entry.empty,
            "sha": entry.sha,
        }
        for number, entry in enumerate(state.ledger, 1)
    ]


def requests_view(state: RunState) -> dict[str, Any]:
    """Answer of query `requests`: open ones with their commands, ended ones, every message."""
    workflow_id = workflow.info().workflow_id
    views = [request_view(state, request, workflow_id) for request in state.requests]
    return {
        "language": state.prepared.task.language if state.prepared else "en",
        "open": [view for view in views if view["outcome"] == "open"],
        "ended": [view for view in views if view["outcome"] != "open"],
        "messages": [message.model_dump() for message in state.messages],
    }


def plan_view(state: RunState) -> dict[str, Any]:
    """Answer of query `plan`: the plan and its steps, or the advice of the newest decision."""
    dag = state.dag
    if dag.plan is None:
        return {"version": dag.version, "advisory": state.plan}
    return {
        "version": dag.version,
        "rounds": dag.rounds,
        "replans": dag.replans,
        "steps": [step.model_dump() | _now(dag.steps[step.id]) for step in dag.plan.steps],
        "dead_ends": [end.model_dump() for end in dag.dead_ends],
    }


def _now(step: StepState) -> dict[str, Any]:
    return {
        "status": step.status,
        "attempts": step.attempts,
        "reason": step.reason,
        "verdict": step.verdict.model_dump() if step.verdict else None,
        "evidence": [f"E{number}" for number in step.numbers],
    }


def trajectory_view(state: RunState, result: RunResult | None) -> dict[str, Any]:
    """Answer of query `trajectory`: the newest events, and the record once there is one."""
    return {
        "events": state.events,
        "event_count": state.event_count,
        "older_ref": state.older_events,
        "record": result.trajectory.model_dump() if result else None,
    }


def _attributes(state: RunState) -> list[SearchAttributeUpdate[Any]]:
    updates: list[SearchAttributeUpdate[Any]] = [_KEYWORDS["AgentPhase"].value_set(state.phase)]
    if state.prepared and state.prepared.task.tenant:
        updates.append(_KEYWORDS["AgentTenant"].value_set(state.prepared.task.tenant))
    if state.request_count and not state.closed:
        updates.append(_AWAITING.value_set(waiting_for(state)))
    if state.closed:
        updates += [
            _KEYWORDS["AgentStatus"].value_set(state.closed.status),
            _KEYWORDS["AgentStopReason"].value_set(state.closed.stop_reason),
            _AWAITING.value_set([]),
            _DEGRADED.value_set(state.degraded),
        ]
    return updates
