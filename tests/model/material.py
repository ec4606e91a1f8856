"""Tasks, entries and inputs for tests of prompts and of the extractive model."""

import hashlib
from typing import Any

from workflows.contracts.acts import DecideInput
from workflows.contracts.evidence import Entry
from workflows.contracts.task import ResolvedTask, Settings, Task
from workflows.logic.resolve import resolve

NOTES = {
    "agent_loop": "An agent loop decides, acts and observes until code says that it is done.",
    "tool_contract": "A tool contract names the arguments a tool takes and the errors it returns.",
    "recovery": "",
    "内存去重": "内核同页合并会扫描匿名内存页面，把内容相同的页面合并成一个写时复制的页面。",
}


def sha(text: str) -> str:
    """64 hex digits, as the store names a text."""
    return hashlib.sha256(text.encode()).hexdigest()


TEXTS = {sha(text): text for text in NOTES.values()}


def task(*topics: Any, goal: str = "Neutral goal", **fields: Any) -> ResolvedTask:
    """A resolved task of the extractive model."""
    settings = fields.pop("settings", Settings())
    given = Task.model_validate({"goal": goal, "required_topics": list(topics), **fields})
    return resolve(given, "extractive", "extractive (built in)", settings, extractive=True)


def passage(number: int, topic: str, **fields: Any) -> Entry:
    """The whole note of a topic as one passage that declares it."""
    text = fields.pop("text", NOTES.get(topic, topic))
    given: dict[str, Any] = {
        "number": number,
        "query": topic,
        "source_id": topic,
        "title": f"Note on {topic}",
        "sha256": sha(text),
        "start": 0,
        "end": len(text),
        "topics": [topic],
        "score": 1.0,
        "excerpt": text[:400],
    }
    return Entry(**(given | fields))


def nothing_found(number: int, query: str) -> Entry:
    """A search that worked and found nothing."""
    return Entry(kind="empty", number=number, query=query)


def decide_input(missing: list[int], **fields: Any) -> DecideInput:
    """A snapshot of the run."""
    given: dict[str, Any] = {
        "run_id": "r",
        "store_id": "s",
        "task_ref": "sha256:" + "0" * 64,
        "call": 1,
        "missing": missing,
        "allow_search": True,
        "remaining_tool_calls": 4,
        "no_progress": 0,
    }
    return DecideInput(**(given | fields))
