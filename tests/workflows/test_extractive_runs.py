"""Runs of the built-in extractive model over a real collection, in English and Chinese.

How it can go wrong: two topics that nothing covers end the run before a third is searched; a
topic that was never searched is reported as if it had been.
"""

import asyncio
import uuid
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest_asyncio

from activities.ingest.index import index_folder
from activities.search.corpus import CorpusBackend
from runtime.workers import running_workers
from tests.workflows import lab as labs
from workflows.contracts.names import AGENT_RUN, QUEUE

NOTES = {
    "harbour.md": "# Harbours\n\nA harbour shelters ships from waves, with depth to moor.\n",
    "river.md": "# Rivers\n\nA river carries sediment from the mountains to the delta each year.\n",
    "bridge.zh.md": "# 桥梁\n\n桥梁的荷载由桥墩传到地基，检查每两年进行一次。\n",
}


@dataclass
class Extractive:
    """A worker without key, over the notes."""

    client: Any

    async def run(self, task: dict[str, Any]) -> dict[str, Any]:
        """Run a task over the notes."""
        run_id = f"extractive-{uuid.uuid4().hex[:12]}"
        return await self.client.execute_workflow(
            AGENT_RUN, {"corpora": ["notes"], **task}, id=run_id, task_queue=QUEUE
        )


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def extractive(tmp_path_factory: Any) -> AsyncGenerator[Extractive]:
    home: Path = tmp_path_factory.mktemp("extractive")
    folder = home / "documents"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text, "utf-8")
    await asyncio.to_thread(index_folder, home, "notes", str(folder), [folder], lambda _: None)
    env = labs.environment(home, "http://127.0.0.1:9/v1")
    async with labs.server() as environment:
        backend = CorpusBackend(home)
        async with running_workers(environment.client, env, backend=backend):
            yield Extractive(environment.client)


MODEL = {"models": {"planner": "extractive"}, "strategy": "react"}


async def test_topics_without_a_chance_do_not_keep_others_from_being_searched(
    extractive: Extractive,
) -> None:
    topics = ["Kubernetes pods", "PostgreSQL vacuum", "harbour shelter", "river sediment"]
    result = await extractive.run(
        {"goal": "Water and machines", "required_topics": topics, **MODEL}
    )
    assert result["status"] == "partially_succeeded"
    assert result["missing_topics"] == topics[:2]
    assert result["claims"]["supported"] == 2
    passages = [p for e in result["evidence"] for p in e["passages"]]
    assert any("shelters ships" in p for p in passages)


async def test_a_topic_that_was_not_searched_is_said_to_be(extractive: Extractive) -> None:
    topics = ["Kubernetes pods", "PostgreSQL vacuum", "Rust lifetimes"]
    result = await extractive.run({"goal": "Machines", "required_topics": topics, **MODEL})
    assert (result["status"], result["stop_reason"]) == ("failed", "no_progress")
    assert "Rust lifetimes (not searched: the run ended before)" in result["report"]
    assert "Kubernetes pods (" not in result["report"]
    assert result["claims"]["supported"] == 0


async def test_a_chinese_topic_beside_a_foreign_one(extractive: Extractive) -> None:
    topics = ["PostgreSQL 的清理", "桥梁的荷载"]
    result = await extractive.run(
        {"goal": "桥梁如何承受荷载？", "required_topics": topics, **MODEL}
    )
    assert result["missing_topics"] == topics[:1]
    assert "桥梁的荷载由桥墩传到地基" in result["report"]


async def test_direct_answers_with_quotes(extractive: Extractive) -> None:
    task = {"goal": "How does a harbour shelter ships?", **MODEL, "strategy": "direct"}
    result = await extractive.run(task)
    assert (result["status"], result["stop_reason"]) == ("succeeded", "completed")
    assert result["claims"]["supported"] == 1
    foreign = {"goal": "How is rye bread baked?", **MODEL, "strategy": "direct"}
    result = await extractive.run(foreign)
    assert (result["status"], result["stop_reason"]) == ("failed", "no_progress")
