"""A report that a person edited: checked again, and marked where the evidence does not carry it.

A line of the original stays as it is, byte for byte: a cited one wherever it is put, one without
marks in its own section, a quote behind its locator only. All else is a person's and is written
anew as text (`edited_text`), so that nothing in it can be a link, a mark of other evidence, or hide
what follows. Of that, a sentence stands unmarked only if it is the original's with the same marks,
or a whole sentence of every source it cites; the rest loses its marks and is "by <name>, not
verified" (DESIGN, "People").
"""

import re
from dataclasses import dataclass, field
from typing import Final

from workflows.logic.edited_quotes import is_sentence
from workflows.logic.edited_text import Read, Reader, ends_within, units
from workflows.logic.headings import Words, words_for
from workflows.logic.report_sources import Closing, Composed
from workflows.logic.safe_markdown import literal, visible

_HEADING: Final = re.compile(r"\s{0,3}(#{1,6})\s")
_SECTION: Final = re.compile(r"#{1,2}\s")
_QUOTE: Final = re.compile(r"\s{0,3}>")
_ROW: Final = re.compile(r"\s*\|.*\|\s*$")
_ROW_RULE: Final = re.compile(r"\s*\|(?:\s*:?-+:?\s*\|)+\s*$")
_RULE: Final = re.compile(r"\s{0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
_CELLS: Final = re.compile(r"(?<!\\)\|")
_LEAD: Final = re.compile(
    r"(?P<indent>[ \t]*)(?P<quote>(?:>[ \t]?)*)"
    r"(?P<sign>(?:[-*+]|\d{1,3}[.)])[ \t]+(?=\S)|#{1,6}[ \t]+(?=\S))?(?P<body>.*)"
)
_DEEPEST: Final = 8  # blanks before an item of a list
_TRIED: Final = 8  # sentence ends of one line, before which a sentence of the original may begin

_NO_MARKS: Final = str.maketrans("[]［］【】〔〕", "()（）（）（）")  # in a name

Key = tuple[str, str, str]


def edited_report(closing: Closing, composed: Composed, *, edited: str, editor: str) -> str:
    """The edited text with its marks, and a line on top that says whose it is.

    Args:
        closing: stored texts and entries, to look for quotes in.
        composed: the report as code composed it, and its sources.
        edited: the text a person put in its place.
        editor: who that was.
    """
    name = _name(editor)
    check = _Check(closing, composed, name)
    text = visible(edited.replace("\r\n", "\n").replace("\r", "\n"))
    lines = _Writer(check).written(text.splitlines())
    return "\n".join([*_with_remark(lines, check.words("edited_report", by=name)), ""])


def unverified_in(report: str, editor: str, words: Words) -> int:
    """How many statements of an edited report are marked as not verified."""
    return report.count(words("edited_by", by=_name(editor)))


def _name(editor: str) -> str:
    return literal(visible(editor).translate(_NO_MARKS))


def _with_remark(lines: list[str], remark: str) -> list[str]:
    """The remark behind the title, or on top where there is none."""
    if lines and _HEADING.match(lines[0]):
        return [lines[0], "", f"*{remark}*", *lines[1:]]
    return [f"*{remark}*", "", *lines]


@dataclass
class _Original:
    """What may stand unmarked.

    Attributes:
        verbatim: lines as they are, by their section, "" for cited ones, and without blanks behind.
        known: the same as they are seen: section, kind, text.
        units: sentences with the numbers of their marks.
        quotes: blocks of quotes, each behind the line before it.
        follow: pairs of lines, one right below the other.
    """

    verbatim: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    known: set[Key] = field(default_factory=set[Key])
    units: set[tuple[str, frozenset[int]]] = field(default_factory=set[tuple[str, frozenset[int]]])
    quotes: set[tuple[str, tuple[str, ...]]] = field(
        default_factory=set[tuple[str, tuple[str, ...]]]
    )
    follow: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])


class _Check:
    """One report's sentences and sources."""

    def __init__(self, closing: Closing, composed: Composed, name: str) -> None:
        self.words: Words = words_for(closing.language)
        self.label = " " + self.words("edited_by", by=name)
        numbers = {s.number for s in composed.sources if not s.empty}
        links = {s.origin or s.source_id for s in composed.sources}
        self.reader = Reader(numbers, links, self.words("link_removed"))
        hashes = {entry.number: entry.sha256 for entry in closing.entries}
        self._texts = {
            number: closing.texts[sha] for number, sha in hashes.items() if sha in closing.texts
        }
        self.first_section = ""
        self.original = self._read(composed.report.splitlines())

    def _read(self, lines: list[str]) -> _Original:
        found = _Original()
        section, before, above = "", "", ""
        for block in _blocks(lines):
            line = block[0].rstrip()
            found.follow.add((above, line))
            above = block[-1].rstrip()
            if _QUOTE.match(line):
                found.quotes.add((before, tuple(each.rstrip() for each in block)))
            elif line:
                section = line if _SECTION.match(line) else section
                self.first_section = self.first_section or section
                self._add(found, block[0], section)
            before = above or before
        return found

    def _add(self, found: _Original, raw: str, section: str) -> None:
        line = raw.rstrip()
        _, kind, read = self.parsed(line)
        bound = section if kind == "row" or not read.marks else ""
        found.verbatim[bound, line] = raw
        found.known.add((bound, kind, read.whole()))
        if kind == "text":
            found.units |= {(unit.bare(), unit.marks) for unit in units(read) if unit.marks}

    def parsed(self, line: str) -> tuple[str, str, Read]:
        """What leads a line, what kind of line it is, and its text."""
        lead = _LEAD.fullmatch(line.expandtabs(4))
        if lead is None:
            return "", "text", self.reader.read(line)
        sign = lead["sign"] or ""
        kind = "quote" if lead["quote"] else "heading" if sign.startswith("#") else "text"
        start = "> " * lead["quote"].count(">") + (f"{sign.split()[0]} " if sign else "")
        if not start and _ROW.match(line):
            return "", "row", self.reader.read(line)
        indent = " " * min(len(lead["indent"]), _DEEPEST) if _ITEM.match(start) else ""
        return indent + start, kind, self.reader.read(lead["body"].strip())

    def original_line(self, line: str, section: str) -> str | None:
        """The line of the original that this is, if it may stand in this section."""
        verbatim = self.original.verbatim
        return verbatim.get(("", line), verbatim.get((section, line)))

    def is_known(self, kind: str, section: str, whole: str) -> bool:
        """Whether a line reads as one of the original that may stand in this section."""
        return bool({("", kind, whole), (section, kind, whole)} & self.original.known)

    def marked(self, read: Read) -> str:
        """A text with its sentences, each run of those that are not carried with the label."""
        parts: list[tuple[Read, bool]] = []
        for unit in units(read):
            parts += self._judged(unit)
        out: list[str] = []
        for n, (part, carried) in enumerate(parts):
            last = n + 1 == len(parts) or parts[n + 1][1] != carried
            text = part.markdown(marks=carried, leads=n == 0)
            out.append(text if carried or not last else text + self.label)
        return " ".join(out)

    def _judged(self, unit: Read) -> list[tuple[Read, bool]]:
        """A unit in one or two parts, each with whether it is carried."""
        if not unit.text.strip():
            return []
        if not unit.says or self._carried(unit):
            return [(unit, True)]
        for place in ends_within(unit, _TRIED):
            before, rest = unit.part(0, place), unit.part(place)
            if not before.marks and self._carried(rest):
                return [(before, False), (rest, True)]
        return [(unit, False)]

    def _carried(self, unit: Read) -> bool:
        """Whether it is the original's with the same marks, or stands in each source it cites."""
        if not unit.marks:
            return False
        if (unit.bare(), unit.marks) in self.original.units:
            return True
        found = unit.quoted()
        return bool(found) and all(
            number in self._texts and all(is_sentence(self._texts[number], each) for each in found)
            for number in unit.marks
        )


def _blocks(lines: list[str]) -> list[list[str]]:
    """Lines one by one, those of one block of quotes together."""
    found: list[list[str]] = []
    for line in lines:
        quote = bool(_QUOTE.match(line))
        if quote and found and _QUOTE.match(found[-1][0]):
            found[-1].append(line)
        else:
            found.append([line])
    return found


class _Writer:
    """Writes a report line by line, and knows what a line stands under."""

    def __init__(self, check: _Check) -> None:
        self._check = check
        self._out: list[str] = []
        self._before = ""  # the line before as it was typed, blank ones left out
        self._section = check.first_section
        self._columns = 0  # of the table that goes on here

    def written(self, lines: list[str]) -> list[str]:
        """The lines of the report."""
        for block in _blocks(lines):
            typed = tuple(line.rstrip() for line in block)
            if (self._before, typed) in self._check.original.quotes:
                self._put(typed[0], *typed)
            else:
                for line in typed:
                    self._line(line)
            self._before = typed[-1] or self._before
        return self._out

    def _line(self, line: str) -> None:
        check = self._check
        if not line.strip():
            self._columns = 0
            self._out.append("")
        elif _ROW_RULE.match(line) and not self._columns and self._cells() == _cells(line):
            self._columns = _cells(line)
            self._out.append(line.strip())
        elif _RULE.match(line) and not (self._out and self._out[-1]):
            self._out.append("---")
        elif _ROW.match(line):
            self._row(line)
        elif (kept := check.original_line(line, self._section_at(line))) is not None:
            self._section = self._section_at(line)
            self._put(line, kept)
        else:
            self._put(line, self._anew(line))

    def _section_at(self, line: str) -> str:
        return line if _SECTION.match(line) else self._section

    def _cells(self) -> int:
        """Cells of the row right above; 0 if none is there."""
        above = self._out[-1] if self._out else ""
        return _cells(above) if _ROW.match(above) else 0

    def _put(self, typed: str, *lines: str) -> None:
        """Lines below what they do not belong to, apart from it: no table, no quote goes on."""
        above = self._out[-1] if self._out else ""
        goes_on = bool(_QUOTE.match(lines[0])) if _QUOTE.match(above) else not self._columns
        if above and not goes_on and (above.rstrip(), typed) not in self._check.original.follow:
            self._out.append("")
        self._columns = 0
        self._out += lines

    def _anew(self, line: str) -> str:
        """A line that a person wrote."""
        start, kind, read = self._check.parsed(line)
        above = next((each for each in reversed(self._out) if each), "")
        if start.startswith(" ") and not _ITEM.match(above):
            start = start.lstrip()
        if not read.says or self._check.is_known(kind, self._section, read.whole()):
            return (start + read.markdown(leads=True)).rstrip()
        return start + self._check.marked(read)

    def _row(self, line: str) -> None:
        """A row of a table. No cell may be more than its table has: it would not be shown."""
        check = self._check
        if _QUOTE.match(self._out[-1] if self._out else ""):
            self._out.append("")
        kept = check.original_line(line, self._section)
        if kept is not None and self._columns in (0, _cells(line)):
            self._out.append(kept)
            return
        cells = _CELLS.split(line.strip()[1:-1])
        reads = [check.reader.read(cell) for cell in cells]
        whole = check.reader.read(line).whole()
        carried = check.is_known("row", self._section, whole) or not any(r.says for r in reads)
        most = self._columns or len(reads)
        texts = [read.markdown(marks=carried, leads=not read.says) for read in reads]
        texts = [*texts[: most - 1], " \\| ".join(texts[most - 1 :])]
        self._out.append(f"| {' | '.join(texts)}{'' if carried else check.label} |")


def _cells(row: str) -> int:
    return len(_CELLS.split(row.strip())) - 2
