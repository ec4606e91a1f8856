"""Writes the text of a page: blanks folded, paragraphs apart, headings and links with places."""

import re
from typing import Final

from activities.ingest.document import Heading

_BLANKS: Final = re.compile(r"[ \t\n\r\f\u00a0\u200b]+")
# A line end between two Chinese or Japanese characters is no blank.
_CJK_LINE_END: Final = re.compile(
    r"(?<=[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef])[ \t]*\r?\n\s*"
    r"(?=[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef])"
)
_FIRST_CJK: Final = "\u3000"
_RAISED: Final = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_LOWERED: Final = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_SCRIPTS: Final = {"sup": _RAISED, "sub": _LOWERED}
_SOFT_HYPHEN: Final = "\u00ad"
_TITLE_CHARACTERS = 200


def raised(words: str, script: str, before: str) -> str:
    """Words of a `sup` or `sub` as raised or lowered characters, where each of them has one."""
    table = _SCRIPTS[script]
    # What was raised before is part of the word.
    behind_a_word = before[-1:].isalnum() or before[-1:] in tuple(")）]⁺⁻⁼⁾₊₋₌₎")
    core = words.rstrip()
    written = bool(core) and all(ord(c) in table for c in core)
    return core.translate(table) + words[len(core) :] if behind_a_word and written else words


class TextWriter:
    """Collects text; breaks are asked for and written before the next word.

    After `close`, `text`, `headings` and `links` are final and every place is in `text`.
    """

    def __init__(self) -> None:
        self.text = ""
        self.headings: list[Heading] = []
        self.links: list[tuple[int, int]] = []
        self._parts: list[str] = []
        self._length = 0
        self._breaks = 0
        self._blank = False
        self._mark = ""
        # True until the first words of an item or cell: what asks for a break there gets none.
        self._fresh = False
        self._column = 0
        self._pre = 0
        self._script = ""  # `sup` or `sub` while inside of one
        self._links_open = 0
        self._heading: tuple[int, int, int] | None = None

    def write(self, text: str) -> None:
        """Text of the page; inside of preformatted blocks as it is."""
        if text == "\n" and not self._pre:  # as between most tags
            self._blank = True
            return
        plain = text.isascii()
        if not plain:
            text = text.replace(_SOFT_HYPHEN, "")
        if self._pre:
            self._put(text)
            return
        if not text:
            return
        if not plain:
            if "\n" in text and max(text) >= _FIRST_CJK:
                text = _CJK_LINE_END.sub("", text)
            text = _BLANKS.sub(" ", text)
        words = " ".join(text.split()) if plain else text.strip(" ")
        if not words:
            self._blank = self._blank or bool(text)
            return
        self._blank = self._blank or text[0] <= " "
        self._put(self._scripted(words) if self._script else words)
        self._blank = text[-1] <= " "

    def script(self, tag: str, *, entering: bool) -> None:
        """Start or end of raised (`sup`) or lowered (`sub`) words."""
        self._script = tag if entering else ""

    def _scripted(self, words: str) -> str:
        """Digits that stand raised behind a word stay so: 10⁶ is not 106."""
        if self._blank or self._breaks or not self._parts:
            return words
        return raised(words, self._script, self._parts[-1])

    def paragraph(self) -> None:
        """A blank line before what follows."""
        self._break(2)

    def line(self) -> None:
        """A new line before what follows."""
        if self._pre:
            self._put("\n")
        else:
            self._break(1)

    def item(self, mark: str, *, entering: bool) -> None:
        """A list item or definition: its mark and its first words are one line."""
        self._fresh = False
        if entering:
            self._break(1)
            self._mark = mark
            self._fresh = True
        else:
            self._breaks, self._mark, self._blank = 1, "", False

    def row(self) -> None:
        """Start or end of a table row: one line, ` | ` between its cells."""
        self._fresh = False
        self._break(1)
        self._column, self._mark = 0, ""

    def cell(self, *, entering: bool) -> None:
        """A cell of a table; paragraphs at its ends do not break the row."""
        if entering:
            self._mark += " | " if self._column else ""
            self._column += 1
            self._fresh = True
        elif not self._fresh:
            self._breaks = 0
        else:
            self._fresh = False
        self._blank = False

    def icon(self) -> None:
        """An image without words: a cell that holds nothing else is no column."""
        if self._fresh and self._column:
            self._column -= 1
            self._mark = self._mark.removesuffix(" | ")

    def preformatted(self, *, entering: bool) -> None:
        """Start or end of a block whose blanks and line ends count, but for those at its end."""
        if not entering and self._parts:
            last = self._parts[-1]
            self._parts[-1] = last.rstrip() or last[:1]
            self._length += len(self._parts[-1]) - len(last)
        self._break(2)
        self._pre = max(0, self._pre + (1 if entering else -1))

    def link(self, *, entering: bool) -> None:
        """Start or end of a link's words."""
        self._links_open += 1 if entering else -1

    def heading(self, level: int, *, entering: bool) -> None:
        """Start or end of a heading; what it holds is its title."""
        self._break(2)
        if entering:
            self._heading = (level, len(self._parts), self._length)
            return
        if self._heading is None:
            return
        level, part, start = self._heading
        self._heading = None
        written = "".join(self._parts[part:])
        title = " ".join(written.split())
        if title:
            start += len(written) - len(written.lstrip())
            self.headings.append(Heading(start, level, title[:_TITLE_CHARACTERS]))

    def close(self) -> None:
        """No more text comes."""
        self.text = "".join(self._parts).rstrip()

    def _break(self, lines: int) -> None:
        if self._breaks < lines and not self._fresh:
            self._breaks = lines
        self._blank = False

    def _put(self, text: str) -> None:
        if not text:
            return
        if self._parts:
            lead = "\n" * self._breaks or (" " if self._blank and not self._mark else "")
        else:
            lead = ""
        lead += self._mark.lstrip() if lead.endswith("\n") or not self._parts else self._mark
        self._breaks, self._blank, self._mark, self._fresh = 0, False, "", False
        self._parts.append(lead + text)
        start = self._length + len(lead)
        self._length = start + len(text)
        if self._links_open:
            self._add_link(start, self._length)

    def _add_link(self, start: int, end: int) -> None:
        if self.links and start - self.links[-1][1] <= 1:
            self.links[-1] = (self.links[-1][0], end)
        else:
            self.links.append((start, end))
