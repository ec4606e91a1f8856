"""Encodings of real text: Debian's Chinese pages cut in pieces, and pages of other languages.

How it can go wrong: a piece of real Chinese is read wrong; text of another language and encoding
is taken for Chinese.
"""

import gzip
import html
import re
from pathlib import Path

import pytest

from activities.ingest.document import UnreadableFileError
from activities.ingest.encodings import decode_text

_FEWEST_PAGES = 20  # of every twentieth page


def pieces(text: str, size: int) -> list[str]:
    found, part = [""], 0
    for line in text.splitlines(keepends=True):
        found[-1] += line
        part += len(line.encode())
        if part >= size:
            found.append("")
            part = 0
    return found


def pages(folder: str) -> list[str]:
    paths = sorted(Path("/usr/share/man", folder).glob("man*/*.gz"))[::20]
    if not paths or (folder.startswith("zh") and len(paths) < _FEWEST_PAGES):
        # A share of a handful says nothing.
        pytest.skip(f"too few manual pages in {folder} (zh: install manpages-zh)")
    return [gzip.decompress(path.read_bytes()).decode("utf-8", "ignore") for path in paths]


def guide() -> list[str]:
    paths = sorted(Path("/usr/share/debian-reference").glob("*.zh-cn.html"))
    if not paths:
        pytest.skip("no debian-reference")
    return [html.unescape(re.sub(r"<[^>]*>", "", path.read_text("utf-8"))) for path in paths]


@pytest.mark.parametrize(
    ("folder", "codec"), [("", "gb18030"), ("zh_CN", "gb18030"), ("zh_TW", "cp950")]
)
def test_real_chinese(folder: str, codec: str) -> None:
    read = total = 0
    for page in pages(folder) if folder else guide():
        whole = page.encode(codec, "ignore").decode(codec).replace("\r", "")
        assert decode_text(whole.encode(codec)).text == whole.replace("\ufeff", "")
        for size in (200, 2000):
            for piece in pieces(whole, size):
                data = piece.encode(codec)
                if data.isascii():
                    continue
                total += 1
                try:
                    found = decode_text(data)
                except UnreadableFileError:
                    continue
                # Right, or lines of it left out: never another character.
                assert found.problem or found.text == piece
                assert set(found.text) <= set(piece)
                read += not found.problem
    assert read > 0.88 * total


@pytest.mark.parametrize(
    ("folder", "codec"),
    [
        ("fr", "cp1252"),
        ("de", "latin-1"),
        ("pl", "iso8859-2"),
        ("ru", "koi8-r"),
        ("ru", "cp1251"),
        ("ja", "euc_jp"),
        ("ja", "cp932"),
        ("ko", "cp949"),
    ],
)
def test_real_text_in_other_encodings_is_never_chinese(folder: str, codec: str) -> None:
    for page in pages(folder):
        for size in (200, 2000, len(page) * 4):
            for piece in pieces(page, size):
                data = piece.encode(codec, "ignore")
                if not data.strip() or data.isascii():
                    continue
                try:
                    found = decode_text(data)
                except UnreadableFileError:
                    continue
                assert "left out" in found.problem
                assert set(found.text) <= set(piece)
