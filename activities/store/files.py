"""The evidence store as a directory: atomic files, hash checked on read, safe for many processes.

Layout under the root:

    store.json                          identity, written once by whoever is first
    objects/<run>/<aa>/<64 hex digits>  content-addressed bytes of a run
    results/<name>, reports/<name>      named records, by workflow id
    effects/<name>                      effects of tools that were begun, by their key
    tmp/                                files being written; a killed process leaves its own here

A file is written under `tmp`, forced to disk and renamed, so a reader sees all of it or nothing.
"""

import asyncio
import contextlib
import errno
import hashlib
import os
import re
import time
import uuid
from pathlib import Path
from urllib.parse import unquote

import portalocker
from pydantic import BaseModel, ValidationError

from activities.store.base import EvidenceLostError, EvidenceStore, ref_of
from workflows.contracts.base import REF_PATTERN, Ref

_LEFTOVER_SECONDS = 24 * 3600  # far beyond any write: what is older belongs to a killed process
_NAME_LIMIT = 180  # of the 255 bytes a file name may have
_KIND = re.compile(r"[a-z]{1,32}")
# Upper case is quoted too: some file systems take `Run` and `run` for the same name.
_UNSAFE = re.compile(r"^\.|\.$|[^a-z0-9_.-]")


class StoreLocationError(ValueError):
    """The place named for the evidence store cannot be one; the message says why."""


class _Identity(BaseModel):
    store_id: str
    format: int = 1


def file_name(name: str) -> str:
    """A name of at most 255 bytes for any text, never hidden, never the same for two texts."""
    quoted = _UNSAFE.sub(_percent, name)
    if 0 < len(quoted) <= _NAME_LIMIT:
        return quoted
    return quoted[:100] + "~" + hashlib.sha256(_encoded(name)).hexdigest()


def open_store(location: str) -> EvidenceStore:
    """Open the evidence store of `SUREFOOT_STORE`: a directory, created where it is missing.

    Raises:
        StoreLocationError: the location cannot be used as a store, with the reason.
    """
    if location.startswith("s3://"):
        raise StoreLocationError(
            f"evidence store {location!r}: s3:// is not available yet, expected a directory"
        )
    if not location.strip() or "\0" in location:
        raise StoreLocationError(f"evidence store: expected a directory, found {location!r}")
    return FileStore(Path(location).expanduser())


class FileStore(EvidenceStore):
    """An evidence store in a directory that any number of processes share."""

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        try:
            (self._root / "tmp").mkdir(parents=True, exist_ok=True)
            self._store_id = self._identity()
            self._sweep()
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreLocationError(
                f"evidence store {str(root)!r}: expected a writable directory, found: {reason}"
            ) from error

    @property
    def store_id(self) -> str:
        """Identity of the directory, the same for every process that opens it."""
        return self._store_id

    async def put(self, run_id: str, data: bytes) -> Ref:
        """Keep bytes; atomic, idempotent. An object that is damaged is written anew."""
        ref = ref_of(data)
        await asyncio.to_thread(self._put_object, self._object(run_id, ref), data)
        return ref

    async def get(self, run_id: str, ref: Ref) -> bytes:
        """Read bytes back, hash checked.

        Raises:
            EvidenceLostError: the object is missing or damaged, or `ref` is no reference.
            OSError: the disk failed; worth a retry.
        """
        if not re.fullmatch(REF_PATTERN, ref):
            raise EvidenceLostError(f"not a reference to an object: {ref[:80]!r}")
        path = self._object(run_id, ref)
        try:
            data = await asyncio.to_thread(path.read_bytes)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
            raise EvidenceLostError(f"object {ref} of run {run_id} is missing") from error
        if ref_of(data) != ref:
            raise EvidenceLostError(f"object {ref} of run {run_id} is damaged")
        return data

    async def put_record(self, kind: str, name: str, data: bytes) -> None:
        """Keep a named record, replacing it; `kind` is a lower-case word, `name` any text."""
        await asyncio.to_thread(self._put_record, self._records(kind), name, data)

    async def get_record(self, kind: str, name: str) -> bytes | None:
        """Read a named record, None where there is none."""
        path = self._records(kind) / file_name(name)
        try:
            return await asyncio.to_thread(path.read_bytes)
        except FileNotFoundError:
            return None

    async def list_records(self, kind: str) -> list[str]:
        """Names of the records of a kind, sorted."""
        return await asyncio.to_thread(self._names, self._records(kind))

    def _object(self, run_id: str, ref: Ref) -> Path:
        digits = ref.removeprefix("sha256:")
        return self._root / "objects" / file_name(run_id) / digits[:2] / digits

    def _records(self, kind: str) -> Path:
        if not _KIND.fullmatch(kind):
            raise ValueError(f"kind of record: expected a lower-case word, found {kind!r}")
        return self._root / f"{kind}s"

    def _put_object(self, path: Path, data: bytes) -> None:
        with contextlib.suppress(FileNotFoundError):
            if path.read_bytes() == data:
                return
        self._write(path, data)

    def _put_record(self, folder: Path, name: str, data: bytes) -> None:
        short = file_name(name)
        if "~" in short:  # the file name does not hold the whole name, so it is kept beside
            self._write(folder / f".name-{short.rpartition('~')[2]}", _encoded(name))
        self._write(folder / short, data)

    def _names(self, folder: Path) -> list[str]:
        try:
            files = [path.name for path in folder.iterdir() if not path.name.startswith(".")]
        except FileNotFoundError:
            return []
        return sorted(_name_of(folder, file) for file in files)

    def _write(self, path: Path, data: bytes) -> None:
        """Write a whole file or nothing, and have it on disk before returning."""
        _make_folder(path.parent)
        temporary = self._root / "tmp" / f"{os.getpid()}-{uuid.uuid4().hex}"
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)

    def _identity(self) -> str:
        path = self._root / "store.json"
        if not path.exists():
            with portalocker.Lock(str(self._root / "tmp" / "store.lock"), "a", timeout=30):
                if not path.exists():
                    fresh = _Identity(store_id=uuid.uuid4().hex)
                    self._write(path, fresh.model_dump_json().encode())
        try:
            return _Identity.model_validate_json(path.read_bytes()).store_id
        except ValidationError as error:
            raise StoreLocationError(
                f'evidence store: {path} is damaged, expected {{"store_id": "..."}}'
            ) from error

    def _sweep(self) -> None:
        """Remove what killed processes left in `tmp` long ago."""
        limit = time.time() - _LEFTOVER_SECONDS
        for path in (self._root / "tmp").iterdir():
            with contextlib.suppress(FileNotFoundError):
                if path.name != "store.lock" and path.stat().st_mtime < limit:
                    path.unlink()


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in _encoded(match.group()))


def _encoded(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def _name_of(folder: Path, file: str) -> str:
    if "~" not in file:
        return unquote(file, errors="surrogatepass")
    kept = folder / f".name-{file.rpartition('~')[2]}"
    return kept.read_bytes().decode("utf-8", "surrogatepass")


def _make_folder(folder: Path) -> None:
    """Create a folder whose entry in its own parent is on disk too."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    """Force a folder's entries to disk, so that a rename survives a power cut."""
    if os.name == "nt":  # Windows opens no folders
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems refuse
            raise
    finally:
        os.close(descriptor)
