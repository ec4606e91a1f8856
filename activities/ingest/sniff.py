"""What text is: HTML or not, the encoding it declares, printers' double strikes."""

import re
from typing import Final

_DECLARED: Final = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)""",
    re.IGNORECASE,
)
_HTML_HEAD: Final = re.compile(
    r"\s*(?:<\?xml[^>]*>|<!--.*?-->|\s)*<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_TAG: Final = re.compile(r"</?[a-zA-Z][\w-]*(?:\s[^<>]*)?/?>")
# Manual pages print a bold letter twice and underline by a line at the same place.
_DOUBLE: Final = re.compile(rb"([\x00-\x7f]|[\xc0-\xff][\x80-\xbf]+)\x08(?=\1)|_\x08|\x08_")


def declared_encoding(data: bytes) -> str:
    """The encoding that HTML or XML declares, "" if none."""
    match = _DECLARED.search(data[:4096])
    return (match[1] or match[2]).decode("ascii", "replace") if match else ""


def undouble(data: bytes) -> bytes:
    """Text without double strikes."""
    return _DOUBLE.sub(b"", data) if b"\x08" in data else data


def looks_like_html(text: str, suffix: str) -> bool:
    """By its first tag; a name that says HTML is believed where there is any tag."""
    if _HTML_HEAD.match(text[:8192]):
        return True
    return suffix in {".html", ".htm", ".xhtml"} and _TAG.search(text) is not None
