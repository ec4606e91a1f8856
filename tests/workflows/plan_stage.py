"""The stage of plan tests: a small real collection, a scripted model over HTTP, two real tools."""

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporalio.client import WorkflowHandle

from activities.ingest.index import index_folder
from activities.tools.registry import Tool
from tests.workflows import lab as labs
from tests.workflows.planned import PlannedModel
from workflows.contracts.task import Settings, ToolSpec
from workflows.logic.derived import declined

NOTES = {
    "ksm.md": "# KSM\n\nKSM merges identical memory pages into one. KSM is enabled by writing 1 to"
    " /sys/kernel/mm/ksm/run. By default KSM is off. KSM scans 100 pages in each pass when"
    " pages_to_scan is not changed.\n",
    "zswap.md": "# zswap\n\nzswap compresses pages on their way to swap. The zswap pool holds at"
    " most 20 percent of memory. zswap is not enabled by default. zswap is enabled by writing Y to"
    " /sys/module/zswap/parameters/enabled, only if the module is built in.\n",
    "zram.md": "# zram\n\nzram makes a compressed block device in memory. A zram device of 4 GB"
    " takes about 1 GB when pages compress well.\n",
    "river.md": "# Rivers\n\nA river carries sediment from the mountains to the delta each year.\n",
    "桥梁.md": "# 桥梁\n\n桥梁的荷载由桥墩传到地基，检查每两年进行一次。\n",
}
KSM, ZSWAP, ZRAM = (
    {"id": "ksm", "question": "How is KSM enabled?"},
    {"id": "zswap", "question": "How is zswap enabled?"},
    {"id": "zram", "question": "What is zram?"},
)
TASK: dict[str, Any] = {
    "goal": "Which in-kernel features save memory, and how is each enabled?",
    "required_topics": [KSM, ZSWAP],
    "strategy": "plan",
    "corpora": ["notes"],
}
SALES = [["A", "Q3", 100], ["A", "Q4", 80], ["B", "Q3", 100], ["B", "Q4", 90], ["C", "Q3", 50],
         ["C", "Q4", 60]]  # fmt: skip


def fetch_sales(arguments: dict[str, Any]) -> Any:
    """The sales of some quarters, a row a line."""
    wanted = arguments["quarters"]
    return [
        {"product": product, "quarter": quarter, "sales": sales}
        for product, quarter, sales in SALES
        if quarter in wanted
    ]


def detect_decline(arguments: dict[str, Any]) -> Any:
    """Products whose sales fell by more than ten percent, in decimal."""
    from decimal import Decimal  # noqa: PLC0415 - a tool brings what it needs

    sales = {(row["product"], row["quarter"]): Decimal(row["sales"]) for row in arguments["rows"]}
    before, after = sorted({quarter for _, quarter in sales})
    found: list[dict[str, Any]] = []
    for product in sorted({product for product, _ in sales}):
        old, new = sales[product, before], sales[product, after]
        if declined(old, new):
            found.append({"product": product, "decline_rate": float((old - new) / old)})
    return found or "no product declined by more than ten percent"


def broken(arguments: dict[str, Any]) -> Any:
    """A tool that fails."""
    raise OSError(f"no route to {arguments.get('host', 'host')}")


TOOLS: Sequence[Tool] = (
    Tool(
        ToolSpec(
            name="fetch_sales",
            description="Sales by product and quarter.",
            schema_={
                "type": "object",
                "properties": {"quarters": {"type": "array", "items": {"type": "string"}}},
                "required": ["quarters"],
                "additionalProperties": False,
            },
        ),
        fetch_sales,
    ),
    Tool(
        ToolSpec(name="detect_decline", description="Declines above ten percent."), detect_decline
    ),
    Tool(ToolSpec(name="broken", description="Fails."), broken),
    Tool(ToolSpec(name="wipe", description="Deletes.", effect="irreversible"), lambda _: "gone"),
)


@dataclass
class Stage:
    """A lab whose runs have plans."""

    lab: labs.Lab

    async def start(self, model: PlannedModel, **task: Any) -> WorkflowHandle[Any, Any]:
        """Start a run of the stage's task with changes."""
        self.lab.model.script(model)
        return await self.lab.start({**TASK, **task}, run_id=f"plan-{uuid.uuid4().hex[:12]}")

    async def run(self, model: PlannedModel, **task: Any) -> dict[str, Any]:
        """Run it to its end."""
        handle = await self.start(model, **task)
        return await asyncio.wait_for(handle.result(), labs.RUN_SECONDS)

    async def trajectory(self, handle: WorkflowHandle[Any, Any]) -> list[dict[str, Any]]:
        """Its newest records."""
        return (await handle.query("trajectory"))["events"]


@asynccontextmanager
async def staged(
    home: Path,
    settings: Settings | None = None,
    extra: Sequence[str] = (),
    tools: Sequence[Tool] = TOOLS,
    *,
    attributes: bool = True,
    variables: Mapping[str, str] | None = None,
) -> AsyncGenerator[Stage]:
    """A server, a worker with tools, and the notes indexed."""
    folder = home / "documents"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text, "utf-8")
    await asyncio.to_thread(index_folder, home, "notes", str(folder), [folder], lambda _: None)
    async with labs.server(extra, attributes=attributes) as environment:
        chosen = settings or Settings(
            attempts=1, model_seconds=10, search_seconds=10, heartbeat_seconds=5
        )
        async with labs.lab(
            environment, home, chosen, collections=True, tools=tools, variables=variables
        ) as ready:
            yield Stage(ready)


def step_of(user: dict[str, Any]) -> str:
    """The step a request is about."""
    return user["step"]["id"]


def told(result: dict[str, Any]) -> str:
    """A result as text, for messages of failed assertions."""
    return json.dumps({k: v for k, v in result.items() if k != "report"}, ensure_ascii=False)[:2000]
