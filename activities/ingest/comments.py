"""HTML comments of a Markdown text, which no reader of the page sees: found as CommonMark does.

A comment that begins a line is a block of its own: it ends at the line that holds `-->`, and goes
on to the end of the text (or of the quote it stands in) if none does. Inside of a line it ends in
the same paragraph, or is none. In code, fenced, indented or between backticks, nothing is a
comment. CommonMark 0.31, 4.4 to 4.6, 6.1, 6.6.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_FENCE: Final = re.compile(r"`{3,}(?=[^`]*$)|~{3,}")
_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)")
# Lines that are blocks of their own: headings, rules, the underline of a heading.
_ALONE: Final = re.compile(r"#{1,6}(?:[ \t]|$)|([-=*_])[ \t]*(?:\1[ \t]*)*$")
_TOKEN: Final = re.compile(r"\\[\\`<]|`+|<!--")
_TICKS: Final = re.compile(r"`+")
# What a line begins with that is more than plain words; "" is a blank one.
_MARKS: Final = frozenset(["", *" \t\f\v\r>-+*#`~<=_0123456789"])
_TAB: Final = 4
_CODE: Final = 4  # columns that make an indented line code


@dataclass
class Comments:
    """Half-open ranges of comments, in order; `open_line` is the line of one that never ends."""

    ranges: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    open_line: int = 0


@dataclass
class _Line:
    """A line behind the marks of the items and quotes it stands in.

    `place` is where its content begins, `indent` how many columns it is indented beyond theirs,
    `kept` how many of the open items it belongs to.
    """

    start: int
    words: str
    place: int = 0
    column: int = 0
    indent: int = 0
    kept: int = 0
    quoted: bool = False
    item: bool = False


@dataclass
class _Block:
    """An open comment that is a block: where it begins, its line, the items and quote around it."""

    start: int
    number: int
    items: int
    quoted: bool


def comments(text: str) -> Comments:
    """The comments of a Markdown text without its front matter."""
    if "<!--" not in text:
        return Comments()
    return _Scan(text).comments()


class _Scan:
    """One pass over the lines of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found = Comments()
        self._items: list[int] = []  # columns at which the content of the open items begins
        self._paragraph: int | None = None  # where the open paragraph begins
        self._fence = ""
        self._fenced = 0  # items around the open fence
        self._fence_quoted = False
        self._block: _Block | None = None

    def comments(self) -> Comments:
        start = 0
        final = self._text.rfind("<!--")
        for number, words in enumerate(self._text.split("\n"), 1):
            if start > final and self._is_over(final):
                break
            if words[:1] in _MARKS or self._fence or self._block is not None:
                self._take(_Line(start, words), number)
            elif self._paragraph is None:
                # A line of plain words, as most are.
                self._items.clear()
                self._paragraph = start
            start += len(words) + 1
        self._end_paragraph(len(self._text))
        if self._block is not None:
            self._found.open_line = self._block.number
            self._end_block(len(self._text))
        return self._found

    def _is_over(self, final: int) -> bool:
        """Whether nothing that is open holds or goes on behind where the last comment begins."""
        return self._block is None and (self._paragraph is None or self._paragraph > final)

    def _take(self, line: _Line, number: int) -> None:
        if not line.words.strip():
            self._end_paragraph(line.start)
            if self._block is not None and self._block.quoted:
                self._end_block(line.start)
            return
        self._enter(line)
        if self._block is not None and self._goes_on(self._block, line):
            return
        self._begin_items(line)
        rest = line.words[line.place :]
        if self._fence:
            self._close_fence(rest, line.indent)
            return
        if line.indent < _CODE:  # else it is code, unless a paragraph goes on
            self._begin(line, rest, number)

    def _begin(self, line: _Line, rest: str, number: int) -> None:
        """Begin or go on with what the content of a line makes."""
        fence = _FENCE.match(rest)
        comment = rest.startswith("<!--")
        alone = _ALONE.match(rest) is not None
        if fence or comment or alone or line.item:
            self._end_paragraph(line.start)
            del self._items[line.kept :]
        if fence:
            self._fence, self._fenced = fence[0], len(self._items)
            self._fence_quoted = line.quoted
        elif comment:
            self._begin_block(line, number)
        elif self._paragraph is None:
            self._paragraph = line.start
            if alone:
                self._end_paragraph(line.start + len(line.words))

    def _enter(self, line: _Line) -> None:
        """See which of the open items a line belongs to."""
        _skip_blanks(line)
        base = 0
        for content in self._items:
            if line.column < content:
                break
            base = content
            line.kept += 1
        line.indent = line.column - base
        line.quoted = line.words.startswith(">", line.place)

    def _begin_items(self, line: _Line) -> None:
        """Go behind the marks of quotes and of items that begin on a line."""
        if self._paragraph is None:
            del self._items[line.kept :]
        outside = line.kept < self._fenced or (self._fence_quoted and not line.quoted)
        if self._fence and outside:
            self._fence = ""
        if self._fence:
            if self._fence_quoted:
                self._behind(line, 1)
            return
        while line.indent < _CODE:
            mark = _ITEM.match(line.words, line.place)
            if line.words.startswith(">", line.place):
                self._behind(line, 1)
            elif mark and not _ALONE.match(line.words, line.place):
                self._behind(line, len(mark[0]))
                if line.indent < _CODE:  # else it begins with code
                    line.indent = 0
                del self._items[line.kept :]
                self._items.append(line.column - line.indent)
                line.kept += 1
                line.item = True
            else:
                return

    def _behind(self, line: _Line, width: int) -> None:
        """Go behind a mark; one blank behind it belongs to it."""
        line.place += width
        line.column += width
        after = line.column + 1
        _skip_blanks(line)
        line.indent = max(0, line.column - after)

    def _goes_on(self, block: _Block, line: _Line) -> bool:
        """Whether a line belongs to the open comment."""
        if line.kept < block.items or (block.quoted and not line.quoted):
            self._end_block(line.start)
            return False
        end = line.words.find("-->")
        if end >= 0:
            self._end_block_in(line, end)
        return True

    def _begin_block(self, line: _Line, number: int) -> None:
        self._block = _Block(line.start + line.place, number, len(self._items), line.quoted)
        # `<!-->` is a comment too.
        end = line.words.find("-->", line.place + 2)
        if end >= 0:
            self._end_block_in(line, end)

    def _end_block_in(self, line: _Line, end: int) -> None:
        """The block ends with the line that holds the first `-->`, and all comments in it."""
        self._end_block(line.start + end + 3)
        while (place := line.words.find("<!--", end + 3)) >= 0:
            end = line.words.find("-->", place + 2)
            end = len(line.words) if end < 0 else end
            last = min(len(line.words), end + 3)
            self._found.ranges.append((line.start + place, line.start + last))

    def _end_block(self, end: int) -> None:
        if self._block is not None:
            self._found.ranges.append((self._block.start, end))
            self._block = None

    def _close_fence(self, rest: str, indent: int) -> None:
        mark = rest.strip()
        if indent < _CODE and mark.startswith(self._fence) and not mark.strip(self._fence[0]):
            self._fence = ""

    def _end_paragraph(self, end: int) -> None:
        if self._paragraph is not None:
            words = self._text[self._paragraph : end]
            self._found.ranges += _inline(words, self._paragraph)
            self._paragraph = None


def _skip_blanks(line: _Line) -> None:
    words = line.words
    while line.place < len(words) and words[line.place] in " \t":
        line.column += _TAB - line.column % _TAB if words[line.place] == "\t" else 1
        line.place += 1


def _inline(words: str, start: int) -> Iterator[tuple[int, int]]:
    """The comments inside of a paragraph, outside of code between backticks."""
    if "<!--" not in words:
        return
    ticks: dict[int, list[int]] = {}
    for run in _TICKS.finditer(words):
        ticks.setdefault(len(run[0]), []).append(run.start())
    last = words.rfind("-->")
    place = 0
    while token := _TOKEN.search(words, place):
        place = token.end()
        if token[0][0] == "`":
            # Code ends at the next run of as many backticks; without one they are characters.
            runs = ticks.get(len(token[0]), [])
            following = bisect_right(runs, token.start())
            if following < len(runs):
                place = runs[following] + len(token[0])
        elif token[0] == "<!--" and token.start() + 2 <= last:
            place = words.index("-->", token.start() + 2) + 3
            yield start + token.start(), start + place
