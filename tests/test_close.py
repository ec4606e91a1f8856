"""The `close` activity over a real store: whole, with losses, without a task, on a failing disk."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.close import CloseActivities
from activities.store.files import FileStore
from activities.store.records import Records
from tests.logic.closing import CONTRACT, LOOP, close_input, closing, digest, entries
from workflows.contracts.acts import CloseInput
from workflows.contracts.evidence import Page
from workflows.contracts.names import WRONG_STORE
from workflows.contracts.result import RunResult
from workflows.contracts.state import RunState

RUN = "run-of-tests"
Stored = tuple[Records, CloseInput]


@pytest.fixture
async def stored(tmp_path: Path) -> Stored:
    """A store that holds a run's texts and page, and the input that closes the run."""
    records = Records(FileStore(tmp_path / "store"))
    for text in (LOOP, CONTRACT):
        await records.store.put(RUN, text.encode())
    page_ref = await records.put(RUN, Page(entries=entries()))
    inp = close_input(closing(page_ref=page_ref))
    prepared = inp.state.prepared
    assert prepared is not None
    inp.state.prepared = prepared.model_copy(update={"store_id": records.store.store_id})
    return records, inp


async def close(records: Records, inp: CloseInput, attempt: int = 1) -> RunResult:
    environment = ActivityEnvironment()
    environment.info = replace(ActivityEnvironment.default_info(), attempt=attempt)
    return await environment.run(CloseActivities(records).close, inp)


def fresh(records: Records, tmp_path: Path) -> Records:
    """The same store without anything cached."""
    again = Records(FileStore(tmp_path / "store"))
    assert again.store.store_id == records.store.store_id
    return again


def path_of(tmp_path: Path, ref: str) -> Path:
    digits = ref.removeprefix("sha256:")
    return tmp_path / "store" / "objects" / RUN / digits[:2] / digits


async def test_report_and_result_are_kept(stored: Stored) -> None:
    records, inp = stored
    result = await close(records, inp)
    assert result.claims.supported == 2
    assert result.evidence[1].passages == ["工具契约规定输入和输出的格式。"]
    report = await records.store.get(RUN, result.report_ref)
    assert report.decode() == result.report
    assert await records.store.get_record("report", "研究/1") == report
    kept = await records.store.get_record("result", "研究/1")
    assert kept is not None
    assert RunResult.model_validate_json(kept) == result
    assert await close(records, inp, attempt=2) == result


async def test_a_lost_text_is_a_note(stored: Stored, tmp_path: Path) -> None:
    records, inp = stored
    path_of(tmp_path, digest(LOOP)).unlink()
    result = await close(fresh(records, tmp_path), inp)
    assert [item.passages != [] for item in result.evidence] == [False, True, False]
    assert "Texts of 1 sources could not be read" in result.notes[0]
    assert result.claims.supported == 1


async def test_a_damaged_page_gives_a_report_from_state(stored: Stored, tmp_path: Path) -> None:
    records, inp = stored
    path_of(tmp_path, inp.state.page_ref).write_bytes(b"{}")
    result = await close(fresh(records, tmp_path), inp)
    assert [item.id for item in result.evidence] == ["E1", "E2", "E3"]
    assert result.claims.supported == 0
    assert "could not be read" in result.report
    assert await records.store.get_record("report", "研究/1") is not None


async def test_a_run_without_a_task(stored: Stored) -> None:
    records, inp = stored
    state = RunState(goal="查找资料", stop_reason="internal_error", stop_detail="prepare failed")
    result = await close(records, inp.model_copy(update={"state": state, "status": "failed"}))
    assert result.status == "failed"
    assert "查找资料" in result.report
    assert "prepare failed" in result.report


async def test_another_store_is_refused(stored: Stored, tmp_path: Path) -> None:
    _, inp = stored
    with pytest.raises(ApplicationError) as raised:
        await close(Records(FileStore(tmp_path / "other")), inp)
    assert raised.value.type == WRONG_STORE


async def test_a_disk_that_fails(stored: Stored, tmp_path: Path) -> None:
    records, inp = stored
    (tmp_path / "store" / "reports").write_bytes(b"")  # a file where the folder must be
    for attempt in (1, 2):
        with pytest.raises(OSError, match="reports"):
            await close(records, inp, attempt)
    result = await close(records, inp, attempt=3)
    assert result.claims.supported == 2
    assert result.report_ref == ""
    assert "could not be kept" in result.notes[-1]
    assert os.listdir(tmp_path / "store" / "objects") == [RUN]
