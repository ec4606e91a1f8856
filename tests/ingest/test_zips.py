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
from activities.ingest.zips import check_contents, checked_names


def archive(*entries: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in entries:
            target.writestr(name, data)
    return out.getvalue()


def _checked(file: io.BytesIO) -> None:
    checked_names(file)
    check_contents(file)


def refused(data: bytes) -> tuple[str, str]:
    with pytest.raises(UnreadableFileError) as error:
        _checked(io.BytesIO(data))
    return error.value.status, error.value.reason


GOOD = archive(("a.xml", b"<a/>"), ("dir/b.xml", b"text " * 100))


def test_a_good_archive_is_at_its_start_again() -> None:
    file = io.BytesIO(GOOD)
    assert checked_names(file) == ["a.xml", "dir/b.xml"]
    assert file.tell() == 0
    check_contents(file)
    assert file.tell() == 0


def test_bombs() -> None:
    assert refused(archive(("a", bytes(60_000_000))))[0] == "too_large"
    many = archive(*((f"{n}", b"") for n in range(zips.MOST_ENTRIES + 1)))
    assert refused(many) == ("too_large", "ZIP archive: 2,001 entries; up to 2,000 is read")


def test_what_an_archive_says_is_bounded_before_anything_is_unpacked() -> None:
    with pytest.raises(UnreadableFileError) as error:
        checked_names(io.BytesIO(archive(("a", bytes(3_000_000)))))
    assert "unpacks to 3 MB or more; up to 200 times its size is read" in error.value.reason
    lying = _claiming(archive(("a", b"x")), 300_000_000)
    with pytest.raises(UnreadableFileError) as error:
        checked_names(io.BytesIO(lying))
    assert error.value.reason == "ZIP archive: 300 MB unpacked; up to 210 MB is read"


def _claiming(data: bytes, size: int) -> bytes:
    """An archive of one entry that says it is of another size."""
    changed = bytearray(data)
    struct.pack_into("<I", changed, data.rindex(b"PK\x01\x02") + 24, size)
    struct.pack_into("<I", changed, data.index(b"PK\x03\x04") + 22, size)
    return bytes(changed)


def test_sizes_are_counted_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zips, "MOST_UNPACKED", 50_000)
    data = _claiming(archive(("a", bytes(range(256)) * 4000)), 10)
    assert checked_names(io.BytesIO(data)) == ["a"]
    # Either the count or the checksum over what was claimed shows the lie.
    assert refused(data)[0] in {"too_large", "corrupt"}


def test_contents_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO(archive(*((f"{n}", bytes(range(256)) * 100) for n in range(3))))
    monkeypatch.setattr(zips, "MOST_UNPACKED", 60_000)
    with pytest.raises(UnreadableFileError) as error:
        check_contents(data)
    assert error.value.status == "too_large"


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


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_of_every_way_of_packing(method: int) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as target:
        target.writestr("a", bytes(range(256)) * 20)
    good = out.getvalue()
    found: list[str] = []
    for place in range(31, min(len(good) - 80, 120)):
        data = bytearray(good)
        data[place] ^= 0xFF
        try:
            _checked(io.BytesIO(data))
        except UnreadableFileError as error:
            found.append(error.status)
    assert found.count("corrupt") > 30  # some bytes of LZMA's head mean nothing
    assert set(found) == {"corrupt"}


def test_a_place_beyond_every_file() -> None:
    data = bytearray(archive(("a", b"x")))
    entry, end = data.rindex(b"PK\x01\x02"), data.rindex(b"PK\x05\x06")
    extra = struct.pack("<HHQ", 1, 8, 2**63 + 5)
    struct.pack_into("<I", data, entry + 42, 0xFFFFFFFF)
    struct.pack_into("<H", data, entry + 30, len(extra))
    struct.pack_into("<I", data, end + 12, end - entry + len(extra))
    data[end:end] = extra
    assert refused(bytes(data))[0] == "corrupt"


@pytest.mark.parametrize(
    "name", ["../a", "a/../../b", "/etc/passwd", "\\server", "a\\..\\b", "C:/a"]
)
def test_entries_stay_inside(name: str) -> None:
    assert refused(archive((name, b"x")))[0] == "corrupt"


def test_archives_inside_are_not_opened() -> None:
    inner = archive(("bomb", bytes(60_000_000)))
    file = io.BytesIO(archive(("inner.zip", inner)))
    assert checked_names(file) == ["inner.zip"]
    check_contents(file)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_entries_of_one_name() -> None:
    assert refused(archive(("a", b"x"), ("a", b"y")))[0] == "corrupt"
