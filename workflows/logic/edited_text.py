"""What a person wrote on one line of a report: read as a reader sees it, and written anew.

Nothing that was typed is passed on as it is. Code, emphasis, marks and links of the evidence are
recognised; all else is text and is escaped as such, so that it can hide nothing. Sentences are told
apart by their marks: a sentence with its marks is what can be compared with the original.
"""

import html
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from workflows.logic.citations import replaced_everywhere
from workflows.logic.edited_quotes import same
from workflows.logic.safe_markdown import code, literal, trimmed_link, visible

# What is recognised is kept apart by characters that no text holds (Unicode's noncharacters).
_KEPT: Final = "\ufdd0{}\ufdd1"  # code, or a link: its number in `Read.kept`
_MARK: Final = "\ufdd2{}\ufdd3"
_BOLD, _BOLD_END, _SLANTED, _SLANTED_END = "\ufdd4", "\ufdd5", "\ufdd6", "\ufdd7"
_GONE: Final = "\ufdd8"
_OURS: Final = re.compile("[\ufdd0-\ufdef]")
_EMPHASIS: Final = re.compile("[\ufdd4-\ufdd7]")
_KEPT_AT: Final = re.compile("\ufdd0(\\d+)\ufdd1")
_MARK_AT: Final = re.compile("\ufdd2(\\d+)\ufdd3")
_MARKS: Final = re.compile("(?:[ \t]*\ufdd2\\d+\ufdd3)+")
_TURNS: Final = re.compile("(\ufdd3)([(:])")  # behind a mark: a link, or where all marks lead
_PASSES: Final = 20

_STARRED: Final = r"[^*_\\`\[\]<>&\s](?:[^*_\\`\[\]<>&]{0,400}?[^*_\\`\[\]<>&\s])?"
_INLINE: Final = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|&(?P<entity>#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
    r"|(?<!`)(?P<ticks>`{1,9})(?!`)(?P<code>.{1,400}?)(?<!`)(?P=ticks)(?!`)"
    rf"|(?<![\w*_])(?P<bold>\*\*|__)(?P<strong>{_STARRED})(?P=bold)(?![\w*_])"
    r"|(?<![*_])\*\*(?P<inside>\w(?:[^*_\\`\[\]<>&]{0,400}?\w)?)\*\*(?![*_])"
    rf"|(?<![\w*_])(?P<star>\*|_)(?P<slanted>{_STARRED})(?P=star)(?![\w*_])"
)
_LINK: Final = re.compile(r"!?\[([^\[\]]{0,500})\]\(((?:[^()]|\([^()]{0,200}\)){0,500})\)")
_AUTOLINK: Final = re.compile(r"<([a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>]*)>")
_BARE: Final = re.compile(
    r"(?i)(?<![a-z])(?:[a-z][a-z0-9+.-]{0,31}://|www\.|(?:mailto|xmpp):(?=[^\s@]{0,200}@))"
    r"[^\s<>\"'`（）。，；、】》\ufdd0-\ufdef]*"
)
_MAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+")

_SAYS: Final = re.compile(r"\w|[^\x00-\u206f\u3000-\u303f\ufdd0-\ufdef\uff00-\uffef]")
_ENDED: Final = re.compile(r"[.!?。！？…][\"'”’」』)）\]*_]*$")
_END_HERE: Final = re.compile(r"[.!?。！？…]+[\"'”’」』)）]*|(?=\s*$)")
_NEAR: Final = 20  # characters, within which the end of a sentence and what closes it stand
_SPLIT: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u2028\u2029\u2060-\u2064\ufeff]"
)


@dataclass(frozen=True)
class Read:
    """A text as a reader sees it; `kept` holds its code and links."""

    text: str
    kept: tuple[str, ...] = ()

    @property
    def says(self) -> bool:
        """Whether it says anything: words, numbers, signs that stand for words."""
        return bool(_SAYS.search(_MARK_AT.sub("", self.text)))

    @property
    def marks(self) -> frozenset[int]:
        """Numbers of the evidence that it cites."""
        return frozenset(int(number) for number in _MARK_AT.findall(self.text))

    def part(self, start: int, end: int | None = None) -> "Read":
        """A part of it."""
        return Read(self.text[start:end], self.kept)

    def bare(self) -> str:
        """What is compared: the words as they are seen, without marks.

        Kept are case, signs, ranges and units: 5 mW is not 5 MW, and -5 is not 5.
        """
        return same(_MARKS.sub("", self._plain()))

    def whole(self) -> str:
        """The same with its marks."""
        return same(_MARK_AT.sub(r"[E\1]", self._plain()))

    def quoted(self) -> list[str]:
        """Its sentences as a source may hold them."""
        return [part for part in _SPLIT.split(self.bare()) if _SAYS.search(part)]

    def markdown(self, *, marks: bool = True, leads: bool = False) -> str:
        """Markdown that shows exactly this; `leads` as of `escape`."""
        text = self.text if marks else _MARKS.sub("", self.text)
        text = _TURNS.sub(r"\1" + _GONE + r"\2", literal(text, leads=leads)).replace(_GONE, "\\")
        for place, sign in ((_BOLD, "**"), (_BOLD_END, "**"), (_SLANTED, "*"), (_SLANTED_END, "*")):
            text = text.replace(place, sign)
        text = _KEPT_AT.sub(lambda m: self.kept[int(m[1])], text)
        return _MARK_AT.sub(r"[E\1]", text)

    def _plain(self) -> str:
        def kept(match: re.Match[str]) -> str:
            return self.kept[int(match[1])].strip("`").strip()

        return _KEPT_AT.sub(kept, _EMPHASIS.sub("", self.text))


@dataclass(frozen=True)
class Reader:
    """Reads what a person wrote.

    Attributes:
        numbers: evidence that may be cited.
        links: links that are in the evidence.
        gone: what stands in place of a link that is not.
    """

    numbers: Collection[int]
    links: Collection[str]
    gone: str

    def read(self, text: str) -> Read:
        """A text on one line, without marks and links that are not in the evidence."""
        kept: list[str] = []
        text = _INLINE.sub(lambda m: _token(m, kept), _OURS.sub("", text))
        text = self._linked(text, kept)
        text = self._cited(text)
        flat = _UNSEEN.sub("", _EMPHASIS.sub("", _KEPT_AT.sub(lambda m: kept[int(m[1])], text)))
        flat = flat.replace("`", "")
        if replaced_everywhere(flat, lambda _: "") != flat:  # a mark in disguise: in parts, in code
            kept = []
            text = self._cited(self._linked(flat, kept))
        text = _MAIL.sub(lambda m: _keep(code(m[0]), kept), text)
        return Read(text, tuple(kept))

    def _linked(self, text: str, kept: list[str]) -> str:
        def target(match: re.Match[str]) -> str:
            to = (match[2].split() or [""])[0].strip("<>")
            known = to in self.links and not match[0].startswith("!")
            return f"{match[1]} {_keep(f'<{to}>', kept)}" if known else match[1]

        def auto(match: re.Match[str]) -> str:
            return _keep(match[0], kept) if match[1] in self.links else self.gone

        def bare(match: re.Match[str]) -> str:
            link = trimmed_link(match[0])
            rest = match[0][len(link) :]
            return (_keep(f"<{link}>", kept) if link in self.links else self.gone) + rest

        for _ in range(_PASSES):
            before = text
            text = _BARE.sub(bare, _AUTOLINK.sub(auto, _LINK.sub(target, text)))
            if text == before:
                break
        return text

    def _cited(self, text: str) -> str:
        """Known marks kept apart, unknown ones removed, also those that a removal leaves."""
        for _ in range(_PASSES):
            before = text
            text = _tidy(replaced_everywhere(text, self._mark))
            if text == before:
                return text
        return re.sub(r"[\[\]［］【】〔〕]", "", text)  # no person nests them like that

    def _mark(self, numbers: list[int]) -> str:
        return "".join(_MARK.format(n) for n in numbers if n in self.numbers) or _GONE


def units(read: Read) -> list[Read]:
    """The text in parts, each a sentence or more with the marks behind it; the last has none."""
    found: list[Read] = []
    start = 0
    for run in _MARKS.finditer(read.text):
        end = _END_HERE.match(read.text, run.end())
        near = read.text[max(start, run.start() - _NEAR) : run.start()]
        if end is None and not _ENDED.search(near.rstrip()):
            continue
        if not read.part(start, run.start()).says:
            continue
        stop = end.end() if end else run.end()
        found.append(read.part(start, stop))
        start = stop
    return [*found, read.part(start)]


def ends_within(read: Read, most: int) -> list[int]:
    """Where sentences end inside of a text, the last `most` of them, first one first."""
    places = [match.end() for match in _SPLIT.finditer(read.text)]
    return [place for place in places if read.part(place).says][-most:]


def _token(match: re.Match[str], kept: list[str]) -> str:
    if (escaped := match["escaped"]) is not None:
        return escaped
    if match["entity"] is not None:
        text = _OURS.sub("", visible(html.unescape(match[0])))
        return "".join(" " if c.isspace() else c for c in text)
    if match["code"] is not None:
        inner = match["code"].strip()
        return _keep(code(inner), kept) if inner else ""
    if (strong := match["strong"] or match["inside"]) is not None:
        return f"{_BOLD}{strong}{_BOLD_END}"
    return f"{_SLANTED}{match['slanted']}{_SLANTED_END}"


def _keep(markdown: str, kept: list[str]) -> str:
    kept.append(markdown)
    return _KEPT.format(len(kept) - 1)


def _tidy(text: str) -> str:
    """Without the blanks that belonged to a mark that is gone."""
    text = re.sub(rf"[ \t]*{_GONE}(?:[ \t]*{_GONE})*(?=[.,;:!?。，；：！？]|[ \t]*$)", "", text)
    text = re.sub(rf"[ \t]+{_GONE}[ \t{_GONE}]*|{_GONE}[ \t{_GONE}]*[ \t]+", " ", text)
    return text.replace(_GONE, "")
