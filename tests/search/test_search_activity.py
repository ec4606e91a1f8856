"""The `search` activity over a real store: hits, pages, numbers, failures.

How it can go wrong: a retry writes another page; a number is given twice or never; a changed
source replaces its first version; a failure loses the page or hides as an empty result.
"""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.search.backend import Found, InvalidToolResultError, ToolFailedError
from tests.search.stage import RUN, TASK, Stage
from workflows.contracts.acts import SearchInput
from workflows.contracts.evidence import PAGE_ENTRIES
from workflows.contracts.names import EVIDENCE_LOST, TOOL_ERROR, WRONG_STORE


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


async def test_new_sources_take_one_number_each(stage: Stage) -> None:
    one, two = "the first text, long enough" * 3, "第二个来源的全文，足够长。" * 4
    make = stage.backend.passage
    stage.backend.answers = [
        Found((make("notes:a.md", one), make("notes:b.md", two), make("notes:a.md", one, 20)))
    ]
    result = await stage.take("loop")
    assert result.ok
    assert [(hit.source_id, hit.known, hit.start) for hit in result.hits] == [
        ("notes:a.md", 0, 0),
        ("notes:b.md", 0, 0),
        ("notes:a.md", 0, 20),
    ]
    entries = await stage.entries()
    assert [(e.number, e.source_id, e.start) for e in entries] == [
        (1, "notes:a.md", 0),
        (2, "notes:b.md", 0),
        (1, "notes:a.md", 20),
    ]
    assert entries[0].retrieved_at == "2026-12-01T08:30:00+00:00"
    assert await stage.records.text(RUN, entries[1].sha256) == two
    assert [entry.source_id for entry in stage.state.ledger] == ["notes:a.md", "notes:b.md"]


async def test_a_retry_writes_the_same_page(stage: Stage) -> None:
    answer = Found((stage.backend.passage("notes:a.md", "some text of a note" * 4),))
    stage.backend.answers = [answer, answer]
    first = await stage.search("loop", attempt=1)
    assert await stage.search("loop", attempt=2) == first.model_copy(update={"attempt": 2})


async def test_known_sources(stage: Stage) -> None:
    text = "a text with several passages in it, " * 4
    make = stage.backend.passage
    stage.backend.answers = [
        Found((make("notes:a.md", text),)),
        Found((make("notes:a.md", text), make("notes:a.md", text, 40))),
        Found((make("notes:a.md", text),)),
    ]
    await stage.take("one")
    second = await stage.take("two")
    assert [hit.known for hit in second.hits] == [1, 1]
    assert stage.state.no_progress == 0  # a new passage is progress
    third = await stage.take("three")
    assert [hit.known for hit in third.hits] == [1]
    assert stage.state.no_progress == 1
    assert [(e.number, e.start, e.query) for e in await stage.entries()] == [
        (1, 0, "one"),
        (1, 40, "two"),
        (1, 0, "three"),  # nothing new, but the query leaves its trace
    ]
    assert len(stage.state.ledger) == 1


async def test_the_first_version_stays(stage: Stage) -> None:
    old, new = "the first version of the text" * 2, "a later version of the text" * 2
    make = stage.backend.passage
    stage.backend.answers = [
        Found((make("notes:a.md", old),)),
        Found((make("notes:a.md", new), make("notes:b.md", new))),
        Found((make("notes:a.md", new),)),
    ]
    await stage.take("one")
    second = await stage.take("two")
    assert [hit.source_id for hit in second.hits] == ["notes:b.md"]
    assert "changed since" in second.note
    third = await stage.take("three")
    assert third.hits == []
    assert [(e.number, e.kind) for e in await stage.entries()] == [
        (1, "passage"),
        (2, "passage"),
        (3, "empty"),
    ]
    assert [entry.empty for entry in stage.state.ledger] == [False, False, True]
    assert stage.state.no_progress == 1


async def test_an_empty_result_takes_a_number(stage: Stage) -> None:
    text = "found at last, long enough a text"
    stage.backend.answers = [
        Found(note="`xyz` is nowhere in the collections"),
        Found((stage.backend.passage("notes:a.md", text),)),
    ]
    first = await stage.take("没有的东西")
    assert first.ok
    assert first.note == "`xyz` is nowhere in the collections"
    await stage.take("two")
    entries = await stage.entries()
    assert [(e.number, e.kind, e.query) for e in entries] == [
        (1, "empty", "没有的东西"),
        (2, "passage", "two"),
    ]


async def test_declared_and_covered_topics(stage: Stage) -> None:
    make = stage.backend.passage
    covers = {0: 0.9, 1: 0.34, 7: 1.0}
    stage.backend.answers = [
        Found(
            (
                make("n:a", "text a" * 9, topics=(" AGENT_Loop ", "other"), covers=covers),
                make("n:b", "text b" * 9, topics=("工具契约规定什么？",), covers=covers),
                make("n:c", "text c" * 9, topics=("other",), covers=covers),
                make("n:d", "text d" * 9, covers=covers),
            )
        )
    ]
    hits = (await stage.take("loop")).hits
    assert [(hit.declared, hit.covers) for hit in hits] == [
        ([0], []),
        ([1], [0]),  # a topic that a source does not declare follows the cover rule
        ([], [0]),
        ([], [0]),
    ]
    entries = await stage.entries()
    assert entries[3].covers == {"0": 0.9, "1": 0.34, "7": 1.0}
    assert stage.state.covered == {"0": "declared", "1": "declared"}


async def test_titles_are_cut_to_80_bytes(stage: Stage) -> None:
    make = stage.backend.passage
    stage.backend.answers = [
        Found((make("n:a", "text" * 9, title="标题" * 40), make("n:b", "more" * 9, title=" \n")))
    ]
    first, second = (await stage.take("loop")).hits
    assert len(first.title.encode()) <= 80
    assert first.title.startswith("标题标题")
    assert second.title == "n:b"


async def test_a_full_ledger_takes_nothing_in(stage: Stage) -> None:
    make = stage.backend.passage
    stage.backend.answers = [
        Found((make("n:a", "text a" * 9), make("n:b", "text b" * 9))),
        Found((make("n:c", "text c" * 9),)),
        Found((make("n:a", "text a" * 9, 10),)),
    ]
    first = await stage.take("one", room=1)
    assert [hit.source_id for hit in first.hits] == ["n:a"]
    assert "full" in first.note
    before = await stage.entries()
    second = await stage.search("two", room=0)
    assert second.hits == []
    assert await stage.records.entries(RUN, second.page_ref, 99) == before
    assert [hit.known for hit in (await stage.take("three", room=0)).hits] == [1]


async def test_pages_link_and_numbers_grow(stage: Stage) -> None:
    for step in range(40):
        stage.backend.answers = [
            Found(
                tuple(
                    stage.backend.passage(f"n:{step}-{i}", f"text {step} {i} " * 5)
                    for i in range(1 + step % 5)
                )
            )
            if step % 7
            else Found()
        ]
        await stage.take(f"query {step}")
    entries = await stage.entries()
    assert len(entries) > PAGE_ENTRIES
    assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
    assert [e.source_id for e in entries] == [e.source_id for e in stage.state.ledger]
    page = await stage.records.page(RUN, stage.state.page_ref)
    while page.previous:
        page = await stage.records.page(RUN, page.previous)
        assert all(entry.number for entry in page.entries)
        assert len(page.entries) <= PAGE_ENTRIES


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (ToolFailedError("维护中 under maintenance"), "维护中 under maintenance"),
        (ToolFailedError("x" * 900), "x" * 500),
        (InvalidToolResultError("three items"), "invalid_tool_result"),
    ],
)
async def test_failures_of_the_work_are_results(stage: Stage, error: Exception, shown: str) -> None:
    stage.backend.answers = [Found((stage.backend.passage("n:a", "text" * 9),)), error]
    await stage.take("one")
    before = stage.state.page_ref
    result = await stage.search("two")
    assert (result.ok, result.error, result.page_ref) == (False, shown, before)


@pytest.mark.parametrize("error", [OSError("disk"), TimeoutError(), KeyError("odd")])
async def test_failures_of_the_world_are_retried_then_results(
    stage: Stage, error: Exception
) -> None:
    stage.backend.answers = [error, error, error]
    for attempt in (1, 2):
        with pytest.raises(ApplicationError) as raised:
            await stage.search("one", attempt=attempt)
        assert raised.value.type == TOOL_ERROR
        assert not raised.value.non_retryable
    result = await stage.search("one", attempt=3)
    assert (result.ok, result.error, result.attempt) == (False, "tool_error", 3)
    assert type(error).__name__ in result.note


async def test_a_backend_that_breaks_its_contract(stage: Stage) -> None:
    make = stage.backend.passage
    lying = make("n:x", "the real text")
    stage.backend.texts[lying.sha256] = "another text"
    stage.backend.answers = [
        Found(tuple(make(f"n:{i}", f"text {i}" * 9) for i in range(6))),
        Found((make("n:a", "text" * 9, end=0),)),
        Found((lying,)),
    ]
    for _ in range(3):
        assert (await stage.search("one")).error == "invalid_tool_result"


async def test_another_store_is_refused(stage: Stage) -> None:
    with pytest.raises(ApplicationError) as raised:
        await stage.search("one", store_id="of another worker")
    assert raised.value.type == WRONG_STORE
    assert not raised.value.non_retryable


async def test_a_lost_page_is_not_retried(stage: Stage) -> None:
    with pytest.raises(ApplicationError) as raised:
        await stage.search("one", page_ref="sha256:" + "0" * 64)
    assert raised.value.type == EVIDENCE_LOST
    assert raised.value.non_retryable


async def test_heartbeats_and_cancel(stage: Stage) -> None:
    stage.task_ref = await stage.records.put(RUN, TASK)
    stage.backend.wait = asyncio.Event()
    environment = ActivityEnvironment()
    beaten = asyncio.Event()
    environment.on_heartbeat = lambda *_: beaten.set()
    inp = SearchInput(
        run_id=RUN,
        store_id=stage.records.store.store_id,
        task_ref=stage.task_ref,
        query="slow",
    )
    running = asyncio.create_task(environment.run(stage.activities.search, inp))
    await beaten.wait()
    environment.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_new_index_between_search_and_reading_is_no_failure(stage: Stage) -> None:
    old, new = "the first version of the text" * 2, "a later version of the text" * 2
    before = stage.backend.passage("notes:a.md", old)
    after = stage.backend.passage("notes:a.md", new)
    stage.backend.changed = {before.sha256}
    stage.backend.answers = [Found((before,)), Found((after,))]
    result = await stage.take("one")
    assert result.ok
    assert [hit.sha for hit in result.hits] == [after.sha256[:16]]
    # It has its bounds: what changes all the time is a failure, not a loop.
    other = stage.backend.passage("notes:b.md", old + "!")
    stage.backend.changed = {other.sha256}
    stage.backend.answers = [Found((other,))] * 3
    with pytest.raises(ApplicationError, match="changed"):
        await stage.search("two")


async def test_a_passage_inside_of_what_was_seen_is_no_progress(stage: Stage) -> None:
    text = "0123456789" * 20
    merged = replace(stage.backend.passage("notes:a.md", text), start=0, end=90)
    stage.backend.answers = [
        Found((merged,)),
        Found((replace(merged, start=10, end=40),)),
        Found((replace(merged, start=50, end=120),)),
    ]
    await stage.take("one")
    await stage.take("two")
    assert stage.state.no_progress == 1
    await stage.take("three")
    assert stage.state.no_progress == 0
    assert [(e.start, e.end) for e in await stage.entries()] == [(0, 90), (10, 40), (50, 120)]
