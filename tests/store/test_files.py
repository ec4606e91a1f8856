"""The file store: what may not go wrong.

A torn object is read; a damaged or missing one goes unnoticed; two names share a file; a name
leaves the root; two processes that open a new store disagree on its identity.
"""

import asyncio
import hashlib
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.store.base import EvidenceLostError, ref_of
from activities.store.files import FileStore, StoreLocationError, file_name, open_store

RUN = "8f14e45f-ceea-467f-9f4b-9f1c2d3e4a5b"
NAMES = [
    "run-1",
    "Run-1",
    "a/b",
    "a%2Fb",
    "..",
    ".",
    ".hidden",
    "end.",
    "研究-1",
    "x" * 1000,
    "x" * 999 + "y",
    "è" * 500,
    "tab\tnew\nline",
    "~",
    "",
]


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


def path_of(store: FileStore, data: bytes, root: Path) -> Path:
    digits = hashlib.sha256(data).hexdigest()
    return root / "store" / "objects" / RUN / digits[:2] / digits


async def test_bytes_come_back(store: FileStore, tmp_path: Path) -> None:
    for data in (b"", "证据 evidence".encode(), bytes(range(256)) * 5000):
        ref = await store.put(RUN, data)
        assert ref == ref_of(data)
        assert await store.get(RUN, ref) == data
        assert path_of(store, data, tmp_path).read_bytes() == data
        assert await store.put(RUN, data) == ref
    assert [p for p in (tmp_path / "store" / "tmp").iterdir() if p.name != "store.lock"] == []


async def test_runs_are_apart(store: FileStore) -> None:
    ref = await store.put(RUN, b"of one run")
    with pytest.raises(EvidenceLostError, match="missing"):
        await store.get("another-run", ref)


async def test_damage_is_noticed_and_healed(store: FileStore, tmp_path: Path) -> None:
    data = b"the whole text of a source"
    ref = await store.put(RUN, data)
    path_of(store, data, tmp_path).write_bytes(data[:10])
    with pytest.raises(EvidenceLostError, match="damaged"):
        await store.get(RUN, ref)
    await store.put(RUN, data)
    assert await store.get(RUN, ref) == data
    path_of(store, data, tmp_path).unlink()
    with pytest.raises(EvidenceLostError, match="missing"):
        await store.get(RUN, ref)


@pytest.mark.parametrize("ref", ["", "sha256:", "sha256:../../etc/passwd", "sha256:" + "A" * 64])
async def test_what_is_no_reference_is_refused(store: FileStore, ref: str) -> None:
    with pytest.raises(EvidenceLostError, match="not a reference"):
        await store.get(RUN, ref)


@pytest.mark.parametrize("run", ["../../outside", "/etc", "", "a\0b", "运行", "x" * 3000])
async def test_any_run_id_stays_inside(store: FileStore, tmp_path: Path, run: str) -> None:
    ref = await store.put(run, b"data")
    assert await store.get(run, ref) == b"data"
    assert os.listdir(tmp_path) == ["store"]


async def test_records_of_any_name(store: FileStore) -> None:
    for name in NAMES:
        await store.put_record("result", name, b"old")
        await store.put_record("result", name, name.encode())
    for name in NAMES:
        assert await store.get_record("result", name) == name.encode()
    assert await store.list_records("result") == sorted(NAMES)
    assert await store.list_records("report") == []
    assert await store.get_record("report", "run-1") is None


@given(st.lists(st.text(st.characters(codec=None), max_size=300), unique=True, max_size=20))
def test_file_names_are_safe_and_distinct(names: list[str]) -> None:
    files = [file_name(name) for name in names]
    assert len({file.casefold() for file in files}) == len(names)
    for file in files:
        assert 0 < len(os.fsencode(file)) <= 255
        assert not file.startswith(".")
        assert not set(file) & set('/\\:*?"<>|\0')


@pytest.mark.parametrize("kind", ["", "Result", "../x", "a/b"])
async def test_a_kind_is_a_word(store: FileStore, kind: str) -> None:
    with pytest.raises(ValueError, match="kind of record"):
        await store.put_record(kind, "name", b"")


def test_identity_stays(tmp_path: Path) -> None:
    first = FileStore(tmp_path / "a")
    assert FileStore(tmp_path / "a").store_id == first.store_id
    assert FileStore(tmp_path / "b").store_id != first.store_id


def test_places_that_cannot_be_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreLocationError, match="not available yet"):
        open_store("s3://bucket/prefix")
    with pytest.raises(StoreLocationError, match="expected a directory"):
        open_store("  ")
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(StoreLocationError, match="expected a writable directory"):
        open_store(str(file))
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "store.json").write_text("{")
    with pytest.raises(StoreLocationError, match="damaged"):
        open_store(str(tmp_path / "bad"))


async def test_old_leftovers_of_killed_processes_go(tmp_path: Path) -> None:
    FileStore(tmp_path)
    old, new = tmp_path / "tmp" / "1-old", tmp_path / "tmp" / "2-new"
    for path in (old, new):
        path.write_bytes(b"half")
    long_ago = time.time() - 2 * 24 * 3600
    os.utime(old, (long_ago, long_ago))
    FileStore(tmp_path)
    assert not old.exists()
    assert new.exists()


async def test_many_writers_of_one_object(store: FileStore) -> None:
    data = b"same bytes " * 1000
    refs = await asyncio.gather(*(store.put(RUN, data) for _ in range(40)))
    assert set(refs) == {ref_of(data)}
    assert await store.get(RUN, refs[0]) == data
