"""Foreign text in a Markdown report: no raw HTML, no images, only links that are in evidence (F11).

Text of sources and people is escaped, so that what one sees is the text, character for character.
A model's draft keeps its plain formatting; brackets that could become links, images or marks of
evidence that does not exist lose that meaning, and what was removed is counted.
"""

import json
import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

_SPECIAL = re.compile(r"[\\`*\[\]<>]|~(?=~)|(?<=~)~|&(?=#?\w+;)")
_MORE_SPECIAL = re.compile(r"[\\`*\[\]<>~$|]|&(?=#?\w+;)")
_EDGE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_LINE_START = re.compile(r"(?m)^([ \t]*)(?=[#+=-])")
_LINE_NUMBER = re.compile(r"(?m)^([ \t]*\d{1,9})(?=[.)](?:\s|$))")
_INDENT = re.compile(r"(?m)^[ \t]+")
_SCHEME = re.compile(r"(?i)(?<=[a-z0-9+.-]:)//")
_WWW = re.compile(r"(?i)(?<![a-z])www\.")
_MAIL = re.compile(r"(?i)(?<![a-z])(mailto|xmpp):(?=[^\s@]{0,200}@)")

_IMAGE = re.compile(r"!\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?")
_LINK = re.compile(r"\[([^\[\]]*)\]\(\s*<?([^)\s>]*)>?[^)]*\)")
_AUTOLINK = re.compile(r"<([a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>]*)>")
_BARE = re.compile(
    r"(?i)(?<![a-z])(?:[a-z][a-z0-9+.-]{0,31}://|www\.|(?:mailto|xmpp):(?=[^\s@]{0,200}@))"
    r"[^\s<>\"'`（）。，；、】》]+"
)
_MARKS = re.compile(r"[\[［【]\s*((?:E\d+)(?:\s*[,，、;；\-–]\s*E\d+)*)\s*[\]］】]")
_RANGE = re.compile(r"E(\d+)\s*[-–]\s*E(\d+)")
_RANGE_LIMIT: Final = 50
_KEPT = "\ue000{}\ue001"  # stands for a mark while the rest is escaped; private use, see `_clean`
_KEPT_MARK = re.compile("\ue000(\\d+)\ue001")
_MEANT = re.compile("\ue001(?=[(:])")  # behind a mark these make a link, or say where all lead
_PRIVATE = re.compile("[\ue000\ue001]")
_TRAILING = ".,;:!?"


_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Without control and direction characters: a terminal would obey what nobody sees."""
    return _UNSEEN.sub("", text)


_HIDDEN: Final = ("Cc", "Cf", "Zl", "Zp", "Co")
_BLANK: Final = "\u034f\u115f\u1160\u2800\u3164\uffa0"
_JOINERS: Final = "\u200c\u200d"


def shown(text: str) -> str:
    r"""The text with what nobody sees spelled out, `\u202e`: a person grants what it really holds.

    Line ends and tabs stay; so do joiners between other than ASCII characters, where writing needs
    them. In JSON the text stays JSON of the same value.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return "".join(c if _is_seen(text, at) else _spelled_out(c) for at, c in enumerate(text))


def _is_seen(text: str, at: int) -> bool:
    character = text[at]
    if character in _JOINERS and 0 < at < len(text) - 1:
        return not (text[at - 1].isascii() or text[at + 1].isascii())
    if character in "\n\t":
        return True
    return unicodedata.category(character) not in _HIDDEN and character not in _BLANK


def _spelled_out(character: str) -> str:
    r"""As JSON spells it; a short form such as `\b` in full."""
    spelled = json.dumps(character)[1:-1]
    return spelled if len(spelled) > len("\\b") else f"\\u{ord(character):04x}"


def escape(text: str, *, leads: bool = False) -> str:
    """Text on one line, shown as it is: white space is folded to single blanks.

    `leads` says that it stands first on its line or in its list item, where `1.` makes a list.
    """
    flat = _escaped(" ".join(text.split()))
    return _started(flat) if leads else flat


def literal(text: str, *, leads: bool = False) -> str:
    """Like `escape`, and nothing of it is a cell's end, struck through or a formula either.

    For what a person writes into a report of ours. A bar behind a backslash is an entity:
    renderers do not agree where a cell ends there.
    """
    flat = " ".join(text.split())
    flat = _escaped(flat, _MORE_SPECIAL)
    flat = (_started(flat) if leads else flat).replace("\\\\\\|", "\\\\&#124;")
    return "\\" + flat if leads and flat.startswith(":") else flat


def cell(text: str, limit: int) -> str:
    """Text for a table cell, cut to `limit` characters."""
    flat = " ".join(text.split())
    flat = flat if len(flat) <= limit else flat[: limit - 1] + "…"
    return _escaped(flat).replace("|", "\\|")


def block_quote(text: str) -> str:
    """A verbatim text as a block quote: its lines stay lines, its characters what they are."""
    lines = _INDENT.sub("", text).splitlines() or [""]
    return "\n".join(f"> {_started(_escaped(line))}".rstrip() for line in lines)


def code(text: str) -> str:
    """Text as inline code, whatever backticks it holds."""
    flat = " ".join(text.split())
    runs = [len(run) for run in re.findall(r"`+", flat)]
    fence = "`" * (max(runs, default=0) + 1)
    blank = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{blank}{flat}{blank}{fence}" if flat else ""


def link_or_code(origin: str) -> str:
    """Where a person finds a source: a link if it is one of the web, else inline code."""
    if re.fullmatch(r"https?://[^\s<>\"\\^`{|}]+", origin):
        return f"<{origin}>"
    return code(origin)


@dataclass
class Cleaned:
    """A draft made safe, and what was removed from it."""

    text: str
    marks: list[str] = field(default_factory=list[str])
    links: int = 0
    images: int = 0
    cited: int = 0  # sentences with at least one mark of existing evidence


class DraftCleaner:
    """Makes a model's draft safe.

    Args:
        numbers: evidence numbers that exist and are not empty.
        links: links that are in the evidence.
        gone: what stands in place of a removed link and of a removed image.
    """

    def __init__(
        self, numbers: Collection[int], links: Collection[str], gone: tuple[str, str]
    ) -> None:
        self._numbers = frozenset(numbers)
        self._links = frozenset(links)
        self._gone_link, self._gone_image = gone

    def clean(self, draft: str) -> Cleaned:
        """The draft without images, raw HTML, foreign links and unknown marks."""
        out = Cleaned("")
        text = _PRIVATE.sub("", draft)
        text = _MARKS.sub(lambda m: self._marks(m, out), text)
        text = _IMAGE.sub(lambda m: self._image(m, out), text)
        text = _LINK.sub(lambda m: f"{m.group(1)} {m.group(2)} ", text)
        text = _AUTOLINK.sub(lambda m: m.group(1), text)
        text = _BARE.sub(lambda m: self._bare(m, out), text)
        text = re.sub(r"[<>\[\]]", lambda m: _ENTITIES[m.group()], text)
        out.cited = sum(
            bool(_KEPT_MARK.search(part)) for part in re.split(r"(?<=[.!?。！？])(?!\ue000)", text)
        )
        text = _MEANT.sub("\ue001 ", text)
        out.text = _KEPT_MARK.sub(lambda m: f"[E{m.group(1)}]", text).strip()
        return out

    def _marks(self, match: re.Match[str], out: Cleaned) -> str:
        """Lists and ranges become single marks; unknown ones go."""
        inner = _RANGE.sub(_spelled, match.group(1))
        found = [int(number) for number in re.findall(r"E(\d+)", inner)]
        out.marks.extend(f"E{n}" for n in found if n not in self._numbers)
        return "".join(_KEPT.format(n) for n in found if n in self._numbers)

    def _image(self, match: re.Match[str], out: Cleaned) -> str:
        out.images += 1
        return f"{match.group(1)} {self._gone_image}".strip()

    def _bare(self, match: re.Match[str], out: Cleaned) -> str:
        link = trimmed_link(match.group())
        rest = match.group()[len(link) :]
        if link in self._links:
            return match.group()
        out.links += 1
        return self._gone_link + rest


# Entities mean the character and never syntax, also where a backslash would be read as code.
_ENTITIES: Final = {"<": "&lt;", ">": "&gt;", "[": "&#91;", "]": "&#93;"}


def trimmed_link(link: str) -> str:
    """A bare link without the punctuation of the sentence around it; brackets stay in pairs."""
    while link and (
        link[-1] in _TRAILING or (link[-1] == ")" and link.count(")") > link.count("("))
    ):
        link = link[:-1]
    return link


def _spelled(match: re.Match[str]) -> str:
    low, high = int(match.group(1)), int(match.group(2))
    if low <= high < low + _RANGE_LIMIT:
        return " ".join(f"E{n}" for n in range(low, high + 1))
    return match.group()


def _escaped(line: str, special: re.Pattern[str] = _SPECIAL) -> str:
    line = special.sub(lambda m: "\\" + m.group(), line)
    line = _EDGE_UNDERSCORE.sub(r"\\_", line)
    line = _SCHEME.sub(r"\\//", line)
    line = _MAIL.sub(r"\1\\:", line)
    return _WWW.sub(lambda m: m.group()[:3] + "\\.", line)


def _started(line: str) -> str:
    """An escaped line whose beginning makes no list, heading or rule."""
    line = _LINE_NUMBER.sub(r"\1\\", line)
    return _LINE_START.sub(r"\1\\", line)
