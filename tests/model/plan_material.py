"""A step's sources in a real store, and the inputs of the activities of a plan."""

import dataclasses
import json
from datetime import timedelta
from typing import Any

from pytest_httpserver import HTTPServer
from temporalio.testing import ActivityEnvironment

from activities.model.sources import StepSources, step_sources
from activities.store.records import Records
from tests.model.material import sha, task
from workflows.contracts.claim import Quote
from workflows.contracts.evidence import Entry, Page
from workflows.contracts.plan import Step
from workflows.contracts.plan_acts import StepInput
from workflows.contracts.step_record import CheckedClaim, StepRecord
from workflows.contracts.task import ResolvedTask

RUN = "run-1"
KSM = (
    "# KSM\n\nKSM merges identical memory pages into one. KSM is enabled by writing 1 to"
    " /sys/kernel/mm/ksm/run. By default KSM is off.\n\n## Limits\n\nKSM scans 100 pages in each"
    " pass. It scanned 80 pages before.\n"
)
BRIDGE = "# 桥梁\n\n桥梁的荷载由桥墩传到地基，检查每两年进行一次。\n"
MERGES = "KSM merges identical memory pages into one."
ENABLED = "KSM is enabled by writing 1 to /sys/kernel/mm/ksm/run."
SCANS = "KSM scans 100 pages in each pass."
BEFORE = "It scanned 80 pages before."
LOAD = "桥梁的荷载由桥墩传到地基，检查每两年进行一次。"
STEP = Step(id="s1", goal="Find KSM", accept="a quote that names it", topics=["ksm"])


def entry(number: int, text: str, part: str | None = None, **fields: Any) -> Entry:
    """A passage of a text, the whole of it unless a part is named."""
    start = text.index(part) if part else 0
    given: dict[str, Any] = {
        "number": number,
        "query": "q",
        "source_id": f"notes:{number}.md",
        "title": f"Note {number}",
        "sha256": sha(text),
        "start": start,
        "end": start + len(part or text),
        "score": 1.0,
        "excerpt": (part or text)[:400],
        "date": "2026-01-02",
    }
    return Entry(**(given | fields))


ENTRIES = [
    entry(1, KSM, MERGES, headings=["KSM"]),
    entry(1, KSM, SCANS, headings=["KSM", "Limits"]),
    entry(2, BRIDGE),
    Entry(kind="empty", number=3, query="nothing"),
]


async def stored_page(records: Records, entries: list[Entry] | None = None) -> str:
    """The ref of a page with entries whose texts are stored."""
    for text in (KSM, BRIDGE):
        await records.store.put(RUN, text.encode())
    return await records.put(RUN, Page(entries=ENTRIES if entries is None else entries))


async def sources(records: Records) -> StepSources:
    """E1 is the KSM note, E2 the one on bridges, E3 an empty result."""
    return await step_sources(records, RUN, await stored_page(records), [], [])


def planned(*topics: Any, **fields: Any) -> ResolvedTask:
    """A task of strategy `plan` whose roles are all the test server."""
    profile = fields.pop("profile", "default")
    changes = {"planner": profile, "executor": profile, "judge": profile}
    return task(*(topics or ("ksm",)), **fields).model_copy(update=changes)


async def act_fields(records: Records, resolved: ResolvedTask) -> dict[str, Any]:
    """What every act carries."""
    return {
        "run_id": RUN,
        "store_id": records.store.store_id,
        "task_ref": await records.put(RUN, resolved),
        "call": 1,
    }


async def step_input(records: Records, resolved: ResolvedTask, **fields: Any) -> StepInput:
    """The snapshot of a step with evidence."""
    given: dict[str, Any] = {
        "step": STEP,
        "topics": [0],
        "page_ref": await stored_page(records),
        "allow": ["search", "write"],
        "remaining_tool_calls": 3,
    }
    return StepInput(**(await act_fields(records, resolved)), **(given | fields))


def environment(attempt: int = 1, seconds: float = 10) -> ActivityEnvironment:
    """Where an activity runs."""
    env = ActivityEnvironment()
    env.info = dataclasses.replace(
        env.info, attempt=attempt, start_to_close_timeout=timedelta(seconds=seconds)
    )
    return env


def sent(server: HTTPServer, number: int = -1) -> dict[str, Any]:
    """The body of a request that the server got."""
    return json.loads(server.log[number][0].get_data())


def user_of(server: HTTPServer, number: int = -1) -> dict[str, Any]:
    """The snapshot in it."""
    return json.loads(sent(server, number)["messages"][-1]["content"])


def claim(text: str = "KSM merges pages.", **fields: Any) -> CheckedClaim:
    """A claim that quotes the KSM note, not judged yet."""
    start = KSM.index(MERGES)
    given: dict[str, Any] = {
        "text": text,
        "numbers": [1],
        "quotes": [Quote(evidence=1, text=MERGES, start=start, end=start + len(MERGES))],
        "context": [f"Note\n{MERGES}"],
    }
    return CheckedClaim(**(given | fields))


async def fields_of(records: Records, profile: str = "default") -> dict[str, Any]:
    """What every act of a task with two topics carries."""
    return await act_fields(records, planned("ksm", "zram", profile=profile))


async def kept(records: Records, *claims: CheckedClaim) -> str:
    """The ref of a record with claims."""
    return await records.put(
        RUN, StepRecord(step="s1", goal="Find KSM", accept="a quote", claims=list(claims))
    )
