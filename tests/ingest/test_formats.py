"""Formats by their first bytes.

How it can go wrong: a picture is read as text; text that begins like a signature is refused; a
format with a reader is not seen behind a wrong name; looking takes longer than any reader lives.
"""

import pytest

from activities.ingest.document import UnreadableFileError
from activities.ingest.formats import HEAD_BYTES, format_of
from activities.ingest.sniff import looks_like_html, looks_like_svg, made_by_a_tool

SENTENCE = "生产数据库在法兰克福"
TAR = b"notes.txt".ljust(257, b"\0") + b"ustar\x0000"
PE = b"MZ\x90\0" + bytes(56) + (64).to_bytes(4, "little") + b"PE\0\0"


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"%PDF-1.7\n", "pdf"),
        (b"junk\r\n%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "pdf"),
        (b"A PDF begins with\n%PDF-1.4 as its first line.\n", ""),
        (b"PK\x03\x04", "zip"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
        (b"BM stands for benchmark, and this is a text about it.", ""),
        (b"II* and MM* begin a line", ""),
        (b"MZ is a code", ""),
        (b"ID3 is an algorithm for decision trees", ""),
        (b"RIFF is a format", ""),
        (b"GIF8 is not enough", ""),
        (b"GIF89a is a format of images.", ""),
        (b"%PDF-1.7 is a version", ""),
        (b"%PDF is a signature", ""),
        (b"%PDF-1.7", "pdf"),
        (b"%PDF-1.7 1 0 obj\n<<>>", "pdf"),
        (b"PK is how a ZIP archive begins", ""),
        (b"%!PS is how PostScript begins", ""),
        (b"{\\rtf is how RTF begins", ""),
        (b"!<arch>\nis how an archive begins", ""),
        (b"OggS, fLaC and wOFF are signatures", ""),
        (b"fLaC is a codec", ""),
        (b"RIFF is Wave format", ""),
        (b"BZh91AY&SY is how bzip2 begins", ""),
        ("GIF89a 是一种格式。".encode() * 300, ""),
        (SENTENCE.encode("utf-16"), ""),
        (SENTENCE.encode("gbk"), ""),
        (b"", ""),
    ],
)
def test_formats(head: bytes, name: str) -> None:
    assert format_of(head[:HEAD_BYTES]) == name


@pytest.mark.parametrize(
    ("head", "status", "words"),
    [
        (b"\x89PNG\r\n\x1a\n", "unsupported", "PNG image: not a format that is read"),
        (b"GIF89a", "unsupported", "GIF"),
        (b"GIF89a\x01\0\x01\0", "unsupported", "GIF"),
        (b"GIF89a\xff\xff words", "unsupported", "GIF"),
        (b"{\\rtf1\\ansi words}", "unsupported", "RTF"),
        (b"!<arch>\n" + b"debian-binary".ljust(58) + b"`\n2.0\n", "unsupported", "ar archive"),
        (b"# Sphinx inventory version 2\n# Project: x\n", "unsupported", "inventory"),
        (b"\xff\xd8\xff\xe0", "unsupported", "JPEG"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "unsupported", "WebP"),
        (b"RIFF\x10\0\0\0WAVEfmt ", "unsupported", "RIFF"),
        (b"II*\0\x08\0\0\0", "unsupported", "TIFF"),
        (b"BM\x36\0\x0c\0\0\0\0\0\x36\0\0\0\x28\0\0\0", "unsupported", "BMP"),
        (b"\0\0\x01\0\x01\0\x10\x10\0\0\x01\0\x20\0", "unsupported", "ICO"),
        (b"\0\0\0\x18ftypmp42", "unsupported", "MP4"),
        (b"fLaC\0", "unsupported", "FLAC"),
        (b"ID3\x03\0", "unsupported", "MP3"),
        (b"PAR1\x15\x04", "unsupported", "Parquet"),
        (b"SQLite format 3\0", "unsupported", "SQLite"),
        (b"OTTO\0\x0b", "unsupported", "font"),
        (b"\0\x01\0\0\0\x12", "unsupported", "font"),
        (b"AT&TFORM", "unsupported", "DjVu"),
        (b"%!PS-Adobe-3.0", "unsupported", "PostScript"),
        (b"\x1f\x9d\x90", "unsupported", "compress"),
        (b"BZh91AY&SY", "unsupported", "bzip2"),
        (b"Rar!\x1a\x07\x01\0", "unsupported", "RAR"),
        (b"\x28\xb5\x2f\xfd", "unsupported", "zstd"),
        (b"\x04\x22\x4d\x18", "unsupported", "lz4"),
        (TAR, "unsupported", "tar"),
        (b"\x7fELF\x02", "binary", "ELF"),
        (PE, "binary", "Windows"),
        (b"\xcf\xfa\xed\xfe", "binary", "Mach-O"),
        (b"\xca\xfe\xba\xbe\0\0\0\x34", "binary", "Java"),
        (b"\0asm\x01\0\0\0", "binary", "WebAssembly"),
    ],
)
def test_formats_that_are_not_read(head: bytes, status: str, words: str) -> None:
    with pytest.raises(UnreadableFileError) as caught:
        format_of(head)
    assert caught.value.status == status
    assert words in caught.value.reason


def test_the_index_of_a_documentation_tool_is_packed_however_it_is_spelt() -> None:
    words = ",".join(f'"t{n}":[{n},{n + 1}]' for n in range(2000))
    index = "Search.setIndex({" + words + ',"größe":1,"naïve":2})'
    assert made_by_a_tool(index, ".js") == "packed script of a page"
    prose = "这是一段写给人看的说明文字，" * 300
    assert made_by_a_tool(prose, ".js") == ""


DRAWING = (
    '<?xml version="1.0"?>\n<!-- Creator: fig2dev -->\n\n<!-- Magnification: 2.0 -->\n{tag}\n'
    + "<!-- Line -->\n<!-- Line: box -->\n<rect />\n" * 60
)


@pytest.mark.parametrize(
    ("tag", "html", "svg"),
    [
        ("<svg>", False, True),
        ('<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN">\n<svg>', False, True),
        ("<!DOCTYPE html><html>", True, False),
        ("<HTML>", True, False),
        ("<drawing>", False, False),
        ("", False, False),
    ],
)
def test_the_first_tag_behind_comments(tag: str, html: bool, svg: bool) -> None:
    """Looked at once: a hundred comments can be parted in more ways than there is time for."""
    text = DRAWING.format(tag=tag)
    assert (looks_like_html(text, ".txt"), looks_like_svg(text)) == (html, svg)


def test_blanks_and_a_comment_that_never_ends() -> None:
    assert not looks_like_html(" \n" * 4000, ".txt")
    assert not looks_like_svg("<!-- " * 1600 + "<svg>")
