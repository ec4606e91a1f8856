"""Sentences of a stored text with their ranges, English and Chinese, in Markdown or extracted text.

Headings, front matter, tables of contents, link lists and navigation are no sentences. What is
left has a kind, so that code and table rows are quoted only where there is no prose.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

from workflows.logic.fold import is_cjk

Kind = Literal["prose", "item", "row", "code"]

SHORTEST: Final = 12  # characters; one of Chinese, Japanese or Korean counts as two
LONGEST: Final = 400

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")
_RULE = re.compile(r" {0,3}(=+|-{2,}|\*{3,}|_{3,})\s*$")
_ITEM = re.compile(
    r"\s*(?:[-*+•·▪◦‣–]\s+|\d{1,3}[.)]\s+|[(（]?[一二三四五六七八九十]{1,3}[、)）]\s*|>\s?)+"
)
_REFERENCE = re.compile(r"\s{0,3}\[[^\]]+\]:\s")
_ROW_RULE = re.compile(r"[\s|:+=-]+$")
_INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
_END = re.compile(r"(?:[.!?]+|[。！？]+|……)[\"'”’」』）)\]】》*_`]*")
_CJK_END = re.compile(r"[。！？…]")
_NO_END = re.compile(
    r"(?:e\.g|i\.e|cf|vs|figs?|no|dr|mrs?|ms|prof|st|sec|ch|vol|pp|approx|resp|eq|ref)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[;；:：]\s*")
_TERMINAL = re.compile(r"[.!?。！？；;…][\"'”’」』）)\]】》*_`]*$")
_LINK = re.compile(r"\[[^\[\]]*\]\([^()]*\)|https?://\S+")
_LEADERS = re.compile(r"\.{4,}|(?:\. ){3,}|…{2,}\s*\d|·{4,}")
_CODE = re.compile(
    r"^(?:>>>|\.\.\.|\$|%|#!)\s"
    r"|^(?:async )?(?:def|class)\s+\w+(?:\([^)]*\)[^:]*)?:"
    r"|^(?:async )?(?:def|class|import|from|return|if|for|while|with|try|elif|else)\b.*[:)]$"
    r"|[;{}]$|^[\w.\[\]]+\s*[-+*/]?=\s|^[\w.]+\([^()]*\)(?:\s*->.*)?$"
)
_DEEPER = re.compile(r"(?: {4}|\t)")
_WRAP_WIDTH: Final = 45  # columns; a shorter line may have been ended by its author
_FEWEST_WORDS: Final = 5  # of a line without an end: fewer are a name in a list, or navigation
_LETTERS: Final = 0.35  # least share of letters in prose: it may be full of numbers
_SIGNS: Final = 0.3  # largest share of what is neither letter nor digit


@dataclass(frozen=True)
class Sentence:
    """A sentence: half-open range in the text it came from, and its kind."""

    start: int
    end: int
    kind: Kind


@dataclass
class _Block:
    kind: Kind
    parts: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


@lru_cache(maxsize=64)
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text, in order."""
    found: list[Sentence] = []
    for block in _blocks(text):
        start, end = block.parts[0][0], block.parts[-1][1]
        if block.kind in ("row", "code"):
            found.extend(_judged(text, start, end, block.kind))
            continue
        for low, high in _split(text, start, end):
            found.extend(_judged(text, low, high, block.kind))
    return tuple(found)


def sentences_within(text: str, start: int, end: int) -> list[Sentence]:
    """The sentences of a range; of the range alone where it holds none of the text's whole."""
    every = sentences(text)
    first = bisect_left(every, start, key=lambda s: s.start)
    last = bisect_left(every, end, key=lambda s: s.start)
    within = [s for s in every[first:last] if s.end <= end]
    if within:
        return within
    return [Sentence(s.start + start, s.end + start, s.kind) for s in sentences(text[start:end])]


def width(text: str) -> int:
    """Columns a text takes: two for a CJK character."""
    return sum(2 if is_cjk(c) else 1 for c in text)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their start, front matter left out."""
    start = 0
    matter = re.match(r"---[ \t]*\n(?:[^\n]*\n){0,60}?---[ \t]*(?:\n|$)", text)
    skip = matter.end() if matter else 0
    for line in text.splitlines(keepends=True):
        if start >= skip:
            yield start, line.rstrip()
        start += len(line)


class _Reader:
    """Groups lines to blocks."""

    def __init__(self) -> None:
        self.done: list[_Block] = []
        self.open: _Block | None = None
        self.fence = ""
        self.last = ""  # the newest line of text

    def close(self) -> None:
        if self.open is not None and self.open.parts:
            self.done.append(self.open)
        self.open = None

    def take(self, start: int, line: str) -> None:
        if self._fenced(start, line) or self._structure(start, line):
            return
        item = _ITEM.match(line)
        if item:
            self.close()
            self.open = _Block("item", [(start + item.end(), start + len(line))])
            self.last = line
        elif self.open is None and _INDENTED.match(line):
            self.done.append(_Block("code", [(start, start + len(line))]))
        else:
            self._text(start, line)

    def _fenced(self, start: int, line: str) -> bool:
        mark = _FENCE.match(line)
        if mark and (not self.fence or mark.group(1).startswith(self.fence)):
            self.close()
            self.fence = "" if self.fence else mark.group(1)
            return True
        if self.fence and line.strip():
            self.done.append(_Block("code", [(start, start + len(line))]))
        return bool(self.fence)

    def _structure(self, start: int, line: str) -> bool:
        """Blank lines, headings, rules, references and table rows."""
        if not line.strip() or _HEADING.match(line) or _REFERENCE.match(line):
            self.close()
            return True
        if _RULE.match(line):
            self.open = None  # what stood above it is a heading
            return True
        if _is_row(line):
            self.close()
            if not _ROW_RULE.match(line):
                self.done.append(_Block("row", [(start, start + len(line))]))
            return True
        return False

    def _text(self, start: int, line: str) -> None:
        part = (start, start + len(line))
        if self.open and self.open.kind != "item" and _DEEPER.match(line):
            self.open.kind = "code"  # prose is not indented on its second line
            self.open.parts.append(part)
        elif self.open is not None and _goes_on(self.last, line):
            self.open.parts.append(part)
        else:
            self.close()
            self.open = _Block("prose", [part])
        self.last = line


def _is_row(line: str) -> bool:
    """Whether a line is a row of a table: bars, or a tab between two cells.

    No regular expression: on a long line without a blank one that looks for a tab is quadratic.
    """
    if line.lstrip().startswith("|") or line.count("|") > 1:
        return True
    before, tab, after = line.partition("\t")
    return bool(tab and before.strip() and after.strip())


def _goes_on(line: str, following: str) -> bool:
    """Whether a line was wrapped, not ended by its author."""
    return width(line) >= _WRAP_WIDTH or line[-1:] in "-,，、" or following.lstrip()[:1].islower()


def _blocks(text: str) -> list[_Block]:
    reader = _Reader()
    for start, line in _lines(text):
        reader.take(start, line)
    reader.close()
    return reader.done


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Ranges of the sentences of a paragraph; one that is too long falls into its clauses."""
    low = start
    for match in _END.finditer(text, start, end):
        if _ends(text, match, end):
            yield from _fitting(text, low, match.end())
            low = match.end()
    if low < end:
        yield from _fitting(text, low, end)


def _ends(text: str, match: re.Match[str], end: int) -> bool:
    """Whether a sentence ends there: not after `e.g.`, an initial, or inside 3.11."""
    rest = text[match.end() : min(end, match.end() + 80)]
    if _CJK_END.search(match.group()):
        return True
    if rest and not rest[0].isspace() and not is_cjk(rest[0]):
        return False
    following = rest.lstrip()
    if match.group()[0] != ".":
        return not following[:1].islower()
    words = text[max(0, match.start() - 20) : match.start()].split()
    word = words[-1].lstrip("(（[\"'“‘") if words else ""
    initial = len(word) == 1 and word.isupper() and word not in "I"
    return not (_NO_END.fullmatch(word) or initial or following[:1].islower())


def _fitting(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if end - start <= LONGEST:
        yield start, end
        return
    low = start
    for match in _CLAUSE.finditer(text, start, end):
        yield low, match.end()
        low = match.end()
    if low > start:
        yield low, end


def _judged(text: str, start: int, end: int, kind: Kind) -> Iterator[Sentence]:
    """The sentence without outer blanks, if it says something; its kind by what it looks like."""
    raw = text[start:end]
    start += len(raw) - len(raw.lstrip())
    raw = raw.strip()
    end = start + len(raw)
    if width(raw) < SHORTEST or len(raw) > LONGEST or _LEADERS.search(raw):
        return
    linked = sum(len(match.group()) for match in _LINK.finditer(raw))
    if linked * 2 > len(raw):
        return
    if kind in ("prose", "item"):
        kind = _kind_of(raw, kind)
        if kind == "item" and not _TERMINAL.search(raw) and _words(raw) < _FEWEST_WORDS:
            return
    yield Sentence(start, end, kind)


def _kind_of(raw: str, kind: Kind) -> Kind:
    solid = [c for c in raw if not c.isspace()]
    letters = sum(c.isalpha() for c in solid)
    signs = len(solid) - sum(c.isalnum() for c in solid)
    if _CODE.search(raw) or letters < _LETTERS * len(solid) or signs > _SIGNS * len(solid):
        return "code"
    return kind if _TERMINAL.search(raw) and kind == "prose" else "item"


def _words(raw: str) -> int:
    """Words, two CJK characters counting as one."""
    characters = sum(map(is_cjk, raw))
    return characters // 2 + len(
        re.findall(r"[^\W_]+", "".join(" " if is_cjk(c) else c for c in raw))
    )
