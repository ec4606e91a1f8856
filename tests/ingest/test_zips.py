"""Zip archives: bombs, lies, damage, passwords.

How it can go wrong: a small file fills memory or disk; a size that an archive only claims is
believed; an entry leads out of the archive; damage is read as content.
"""

import io
import struct
import zipfile

import pytest

from activities.ingest import zips
from activities.ingest.document import UnreadableFileError
from activities.ingest.zips import checked_names


def archive(*entries: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in entries:
            target.writestr(name, data)
    return out.getvalue()


def refused(data: bytes) -> tuple[str, str]:
    with pytest.raises(UnreadableFileError) as error:
        checked_names(io.BytesIO(data))
    return error.value.status, error.value.reason


GOOD = archive(("a.xml", b"<a/>"), ("dir/b.xml", b"text " * 100))


def test_a_good_archive_is_at_its_start_again() -> None:
    file = io.BytesIO(GOOD)
    assert checked_names(file) == ["a.xml", "dir/b.xml"]
    assert file.tell() == 0


def test_bombs() -> None:
    assert refused(archive(("a", bytes(60_000_000))))[0] == "too_large"
    many = archive(*((f"{n}", b"") for n in range(zips.MOST_ENTRIES + 1)))
    assert refused(many) == ("too_large", "ZIP archive: 2,001 entries; up to 2,000 is read")


def test_sizes_are_counted_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zips, "MOST_UNPACKED", 50_000)
    data = bytearray(archive(("a", bytes(range(256)) * 4000)))
    directory = data.rindex(b"PK\x01\x02")
    local = data.index(b"PK\x03\x04")
    struct.pack_into("<I", data, directory + 24, 10)
    struct.pack_into("<I", data, local + 22, 10)
    # Either the count or the checksum over what was claimed shows the lie.
    assert refused(bytes(data))[0] in {"too_large", "corrupt"}


@pytest.mark.parametrize("cut", [10, len(GOOD) // 2, len(GOOD) - 4])
def test_truncated(cut: int) -> None:
    status, reason = refused(GOOD[:cut])
    assert status == "corrupt"
    assert "ZIP" in reason


def test_a_wrong_checksum() -> None:
    data = bytearray(GOOD)
    place = data.index(b"PK\x03\x04") + 30 + len("a.xml")
    data[place + 1] ^= 0xFF
    assert refused(bytes(data))[0] == "corrupt"


def test_a_password() -> None:
    data = bytearray(GOOD)
    for mark, flag in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.find(mark)
        while place >= 0:
            data[place + flag] |= 1
            place = data.find(mark, place + 4)
    assert refused(bytes(data)) == ("encrypted", "the ZIP archive needs a password")


@pytest.mark.parametrize("name", ["../a", "a/../../b", "/etc/passwd"])
def test_entries_stay_inside(name: str) -> None:
    assert refused(archive((name, b"x")))[0] == "corrupt"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_entries_of_one_name() -> None:
    assert refused(archive(("a", b"x"), ("a", b"y")))[0] == "corrupt"
