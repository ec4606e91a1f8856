"""Declared encodings of HTML and XML: their labels as the web maps them, and strict decoding."""

import codecs
import re
from dataclasses import dataclass
from typing import Final

from activities.ingest.document import UnreadableFileError


@dataclass(frozen=True)
class Decoded:
    """Text of a file.

    Attributes:
        text: without byte order mark, NUL and U+FEFF; line ends are line feeds.
        encoding: its canonical name, "mixed" for UTF-8 with lines in another encoding.
        problem: what could not be read, "" if nothing.
    """

    text: str
    encoding: str
    problem: str = ""


# Encoding Standard, "Names and labels"; what is not listed goes by its own name.
_LABELS: Final = {
    "windows-1252": "ascii us-ascii iso-8859-1 iso8859-1 iso88591 iso_8859-1 latin1 l1 cp1252 "
    "x-cp1252 cp819 ibm819 ansi_x3.4-1968",
    "gb18030": "gb2312 gbk gb_2312 gb_2312-80 x-gbk chinese csgb2312 iso-ir-58 cp936 936 ms936 "
    "windows-936 euc-cn gb-18030",
    "big5": "big5-hkscs cn-big5 csbig5 x-x-big5 cp950 ms950 windows-950 big5-eten",
    "shift_jis": "shift-jis sjis x-sjis ms_kanji ms932 windows-31j csshiftjis cp932",
    "euc-jp": "x-euc-jp eucjp cseucpkdfmtjapanese",
    "euc-kr": "ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 korean cseuckr windows-949 cp949 "
    "iso-ir-149 uhc",
    "windows-1254": "iso-8859-9 iso8859-9 latin5 l5 cp1254 x-cp1254",
    "windows-874": "tis-620 iso-8859-11 iso8859-11 dos-874 cp874",
    "windows-1250": "cp1250 x-cp1250",
    "windows-1251": "cp1251 x-cp1251",
    "windows-1253": "cp1253 x-cp1253",
    "windows-1255": "cp1255 x-cp1255",
    "windows-1256": "cp1256 x-cp1256",
    "windows-1257": "cp1257 x-cp1257",
    "windows-1258": "cp1258 x-cp1258",
    "iso-8859-2": "iso8859-2 iso_8859-2 latin2 l2",
    "iso-8859-5": "iso8859-5 iso_8859-5 cyrillic",
    "iso-8859-6": "iso8859-6 iso_8859-6 arabic",
    "iso-8859-7": "iso8859-7 iso_8859-7 greek greek8",
    "iso-8859-8": "iso8859-8 iso_8859-8 hebrew iso-8859-8-i visual",
    "iso-8859-15": "iso8859-15 iso_8859-15 latin9 l9",
    "ibm866": "cp866 866 csibm866",
    "koi8-r": "koi koi8 koi8_r cskoi8r",
    "koi8-u": "koi8-ru",
    "macintosh": "mac x-mac-roman csmacintosh",
    "x-mac-cyrillic": "x-mac-ukrainian",
    "hz-gb-2312": "hz hz-gb",
    "iso-2022-jp": "csiso2022jp",
    "iso-2022-kr": "csiso2022kr",
}
_CODECS: Final = {
    **{f"windows-{n}": f"cp{n}" for n in range(1250, 1259)},
    **{f"iso-8859-{n}": f"iso8859-{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    "windows-874": "cp874",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc-jp": "euc_jp",
    "euc-kr": "cp949",
    "ibm866": "cp866",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "hz-gb-2312": "hz",
    "iso-2022-jp": "iso2022_jp_2",
    "iso-2022-kr": "iso2022_kr",
}
MULTIBYTE: Final = frozenset({"shift_jis", "euc-jp", "euc-kr"})
_NAMES: Final = {label: name for name, labels in _LABELS.items() for label in labels.split()}
_ESCAPES: Final = {
    "iso-2022-": re.compile(rb"\x1b[$(.\-NO]"),
    "hz-gb-2312": re.compile(rb"~\{"),
    "utf-7": re.compile(rb"\+[A-Za-z0-9/]"),
}
# C1 controls are no text: a single-byte encoding that gives them is not the one.
_C1 = re.compile("[\x80-\x84\x86-\x9f]")


def strict(data: bytes, codec: str, cut: bool = False) -> str | None:
    """Text of `data` if all of it is in `codec`; with `cut`, but for an incomplete end."""
    try:
        if not cut:
            return data.decode(codec)
        return codecs.getincrementaldecoder(codec)().decode(data)
    except UnicodeError:
        return None


def canonical(declared: str) -> str:
    """Name of a declared encoding in lower case, synonyms and subsets made one."""
    label = "".join(c for c in declared.strip().lower() if c.isprintable())[:40]
    return _NAMES.get(label, label)


def read_stateful(data: bytes, declared: str, cut: bool) -> Decoded | None:
    """ASCII bytes that mean other characters by escapes; only ever by declaration.

    Raises:
        UnreadableFileError: escapes of such an encoding that do not decode or are never read.
    """
    name = canonical(declared)
    escape = next((e for prefix, e in _ESCAPES.items() if name.startswith(prefix)), None)
    if escape is None or not data.isascii() or not escape.search(data):
        return None
    text = strict(data, _CODECS[name], cut) if name in _CODECS else None
    if text is None:
        raise UnreadableFileError("unsupported", f"declared encoding {name}: can not be read")
    return Decoded(text, name)


def read_declared(data: bytes, name: str, cut: bool) -> str | None:
    """Text in the encoding of this canonical name; None if unknown or contradicted by a byte.

    Raises:
        UnreadableFileError: `x-user-defined`, whose characters only its page knows.
    """
    if name == "x-user-defined":
        raise UnreadableFileError("unsupported", f"declared encoding {name}: can not be read")
    if name not in _CODECS or data.isascii():
        return None
    text = strict(data, _CODECS[name], cut)
    return None if text is None or _C1.search(text) else text
