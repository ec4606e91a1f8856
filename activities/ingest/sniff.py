"""What text is: HTML or not, the encoding it declares, the work of a tool."""

import re
from typing import Final

_DECLARED: Final = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)|<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)""",
    re.IGNORECASE,
)
# What may stand before the first element. Nothing of it is tried again otherwise: among the many
# comments of a drawing there are too many ways to part them.
_BEFORE: Final = r"(?>\s+|<\?xml[^>]*>|<!--.*?-->)*+"
_HTML_HEAD: Final = re.compile(
    rf"{_BEFORE}<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_SVG_HEAD: Final = re.compile(rf"{_BEFORE}<(?:!doctype\s+)?svg\b", re.IGNORECASE | re.DOTALL)
_HEAD_CHARACTERS: Final = 8192
_TAG: Final = re.compile(r"</?[a-zA-Z][\w-]*(?:\s[^<>]*)?/?>")
# A tool that packs scripts and style sheets writes lines that nobody writes.
_PACKED_LINE: Final = 500
_PACKED_SHARE: Final = 0.5
_PROSE_BLANKS: Final = 0.12  # prose has a blank every six to eight characters
_SAMPLE: Final = 60_000  # at the beginning, in the middle and at the end
_MARK: Final = re.compile(r"[\[\]{}():;\"=]")
_CODE_MARKS: Final = 0.07  # prose has one in fifty characters
_WIDE: Final = re.compile("[\u2e80-\uffef]")
_WIDE_SHARE: Final = 0.05
_STYLE_RULE: Final = re.compile(r"[^{}\n;]{1,200}\{(?:[^{}]{0,2000}:[^{}]{0,2000}|\s*)\}")
_STYLE_SHARE: Final = 0.3
_LOOKED_AT: Final = 200_000
_SOURCE_MAP: Final = re.compile(r'"mappings"\s*:\s*"')


def declared_encoding(data: bytes) -> str:
    """The encoding that HTML or XML declares, "" if none."""
    match = _DECLARED.search(data[:4096])
    return (match[1] or match[2]).decode("ascii", "replace") if match else ""


def looks_like_html(text: str, suffix: str) -> bool:
    """By its first tag; a name that says HTML is believed where there is any tag."""
    if _HTML_HEAD.match(text[:_HEAD_CHARACTERS]):
        return True
    return suffix in {".html", ".htm", ".xhtml"} and _TAG.search(text) is not None


def looks_like_svg(text: str) -> bool:
    """A drawing by its first tag or its document type."""
    return _SVG_HEAD.match(text[:_HEAD_CHARACTERS]) is not None


def made_by_a_tool(text: str, suffix: str) -> str:
    """What a file whose name says script or style sheet is if nobody means to read it, else ""."""
    if suffix == ".map":
        return "source map" if _SOURCE_MAP.search(text) else ""
    if suffix in {".js", ".mjs"} and _is_packed(text):
        return "packed script of a page"
    if suffix == ".css" and (_is_packed(text) or _is_style(text[:_LOOKED_AT])):
        return "style sheet"
    return ""


def _is_packed(text: str) -> bool:
    """Whether most of it stands in endless lines that are no prose."""
    endless = [line for line in text.split("\n") if len(line) > _PACKED_LINE]
    if sum(map(len, endless)) <= _PACKED_SHARE * len(text):
        return False
    whole = "".join(endless)
    places = (0, max(0, len(whole) // 2 - _SAMPLE), max(0, len(whole) - _SAMPLE))
    sample = "".join(whole[place : place + _SAMPLE] for place in places)
    if len(_WIDE.findall(sample)) > _WIDE_SHARE * len(sample):  # Chinese prose has no blanks
        return False
    marks = len(_MARK.findall(sample))
    return sample.count(" ") < _PROSE_BLANKS * len(sample) or marks > _CODE_MARKS * len(sample)


def _is_style(text: str) -> bool:
    return sum(len(rule) for rule in _STYLE_RULE.findall(text)) > _STYLE_SHARE * len(text)
