"""The body of a Word document as text: paragraphs, lists, tables, text boxes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from activities.ingest.document import Heading
from activities.ingest.html_writer import raised
from activities.ingest.word_styles import Styles, value_of

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MC: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_BRANCHES: Final = frozenset({f"{_MC}Choice", f"{_MC}Fallback"})
_BOX: Final = f"{_W}txbxContent"
# Deletions, instructions of fields, comments: not a part of what is read.
_SKIPPED: Final = frozenset(
    [f"{_W}{tag}" for tag in ("del", "moveFrom", "instrText", "delText", "pPr", "tblPr", "trPr")]
    + [f"{_W}{tag}" for tag in ("sdtPr", "rPr", "sectPr", "tcPr", "tblGrid", "annotationRef", "rt")]
)
_SPACES: Final = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_RAISED: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎"
# The fonts Symbol and Wingdings have their characters at U+F000 and up; of other ones that stand
# there nobody knows what they show.
_SYMBOLS: Final = {
    "symbol": dict(
        zip(
            [*range(0x41, 0x5B), *range(0x61, 0x7B)],
            "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ",
            strict=True,
        )
    )
    | {0xA3: "≤", 0xA5: "∞", 0xAB: "↔", 0xAC: "←", 0xAE: "→", 0xB0: "°", 0xB1: "±", 0xB3: "≥"}
    | {0xB4: "×", 0xB7: "•", 0xB8: "÷", 0xB9: "≠", 0xBB: "≈", 0xD6: "√"},
    "wingdings": {0xA7: "▪", 0xDF: "←", 0xE0: "→", 0xFB: "✗", 0xFC: "✓", 0xFE: "☑", 0xA8: "☐"},
}
_MOST_DEPTH: Final = 200
_MOST_COLUMNS: Final = 63  # of a table: Word allows no more


def _is_skipped(element: Any) -> bool:
    """Whether an element is no part of what is read: of two ways to show a thing, the second."""
    if not isinstance(element.tag, str) or element.tag in _SKIPPED:
        return True
    return element.tag in _BRANCHES and element.getprevious() is not None


def _inside(root: Any, tag: str, is_vanished: Callable[[Any], bool]) -> Iterator[Any]:
    """The elements of a kind under a root that are read; of boxes the outermost only."""
    stack = [iter(root)]
    while stack:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
        elif not _is_skipped(child) and not (child.tag == f"{_W}r" and is_vanished(child)):
            if child.tag == tag:
                yield child
            if child.tag != _BOX or tag != _BOX:
                stack.append(iter(child))


@dataclass(frozen=True)
class _Block:
    """A paragraph or row; `level` of a heading, `joined`: on the line below the one before it."""

    text: str
    level: int = 0
    joined: bool = False
    item: bool = False


class Body:
    """Collects the text of a body; `written` gives it with its headings."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._blocks: list[_Block] = []

    def walk(self, root: Any, depth: int = 0) -> None:
        """Take in paragraphs and tables, also those inside of controls and text boxes."""
        if depth > _MOST_DEPTH:
            raise ValueError(f"nested more than {_MOST_DEPTH} levels")
        for child in root:
            if child.tag == f"{_W}p":
                self._paragraph(child, depth)
            elif child.tag == f"{_W}tbl":
                rows = [text for row in child.iter(f"{_W}tr") if (text := self._row(row, child))]
                self._blocks += [_Block(row, joined=place > 0) for place, row in enumerate(rows)]
            elif not _is_skipped(child):
                self.walk(child, depth + 1)

    def notes(self, root: Any) -> None:
        """Take in foot- or endnotes; their separators hold no words."""
        self.walk(root)

    def written(self) -> tuple[str, list[Heading]]:
        """The whole text and its headings."""
        parts: list[str] = []
        headings: list[Heading] = []
        length = 0
        for block in self._blocks:
            lead = ("\n" if block.joined else "\n\n") if parts else ""
            if block.level:
                title = " ".join(block.text.split())[:200]
                headings.append(Heading(length + len(lead), block.level, title))
            parts += [lead, block.text]
            length += len(lead) + len(block.text)
        return "".join(parts), headings

    def _paragraph(self, paragraph: Any, depth: int) -> None:
        text = self._text(paragraph).strip(" \n")
        level = self._styles.level(paragraph)
        item = 0 if level else self._styles.depth(paragraph)
        if text.strip():
            # Items of one list are lines, not paragraphs.
            joined = bool(item and self._blocks and self._blocks[-1].item)
            lead = "  " * (item - 1) + "- " if item else ""
            self._blocks.append(_Block(lead + text, level, joined, bool(item)))
        for box in _inside(paragraph, _BOX, self._styles.is_vanished):
            self.walk(box, depth + 1)

    def _row(self, row: Any, table: Any) -> str:
        """A row of a table as one line; rows of a table inside of a cell are part of the cell."""
        if next(row.iterancestors(f"{_W}tbl"), None) is not table:
            return ""
        if row.find(f"{_W}trPr/{_W}del") is not None:
            return ""
        # A cell over several columns stands in the first, so that the next ones keep theirs.
        cells = [""] * _columns(row, "trPr/gridBefore", 0)
        after = 0
        for cell in row.iter(f"{_W}tc"):
            if next(cell.iterancestors(f"{_W}tr"), None) is not row:
                continue
            cells += [""] * after
            after = _columns(cell, "tcPr/gridSpan", 1) - 1
            merged = cell.find(f"{_W}tcPr/{_W}vMerge")
            if merged is not None and merged.get(f"{_W}val", "continue") == "continue":
                cells.append("")
                continue
            inside = _inside(cell, f"{_W}p", self._styles.is_vanished)
            words = (self._text(paragraph) for paragraph in inside)
            cells.append(" ".join(" ".join(words).split()))
        return " | ".join(cells) if any(cells) else ""

    def _text(self, paragraph: Any) -> str:
        parts: list[str] = []
        stack = [iter(paragraph)]
        fields: list[bool] = []  # of each open field: whether this is its instruction
        while stack:
            child = next(stack[-1], None)
            if child is None:
                stack.pop()
            elif _is_skipped(child) or child.tag == _BOX:
                continue
            elif child.tag == f"{_W}fldChar":
                _go_on(fields, child.get(f"{_W}fldCharType"))
            elif child.tag == f"{_W}r" and self._styles.is_hidden(child, paragraph):
                _go_through(fields, child)
            elif (words := self._piece(child, parts)) is None:
                stack.append(iter(child))
            elif not any(fields):
                # The result of a field may be a part of the instruction of another one.
                parts.append(words)
        return "".join(parts).replace("\u00ad", "")

    def _piece(self, child: Any, before: list[str]) -> str | None:
        """The words of an element that holds nothing else, None for any other one."""
        if child.tag == f"{_W}t":
            return self._words(child, before)
        if child.tag == f"{_W}sym":
            return _symbol(child)
        return _SPACES.get(child.tag)

    def _words(self, text: Any, before: list[str]) -> str:
        """Words of a run; digits that stand raised behind a word stay so: 10⁶ is not 106."""
        words = text.xpath("string()")  # `text` would end at a comment inside of it
        script = self._styles.script(text.getparent())
        # Word cuts 10⁻⁶ into several runs as it is typed.
        return raised(words, script, "".join(before[-9:]).rstrip(_RAISED)) if script else words


def _go_on(fields: list[bool], kind: str | None) -> None:
    """Begin a field, go on from its instruction to its result, or end it."""
    if kind == "begin":
        fields.append(True)
    elif fields and kind == "separate":
        fields[-1] = False
    elif fields and kind == "end":
        fields.pop()


def _go_through(fields: list[bool], run: Any) -> None:
    """The marks of fields count in a hidden run as well."""
    for mark in run.iterfind(f"{_W}fldChar"):
        _go_on(fields, mark.get(f"{_W}fldCharType"))


def _columns(element: Any, path: str, without: int) -> int:
    """A number of columns; `without` where none is given."""
    written = value_of(element, path) or ""
    known = written.isascii() and written.isdigit() and len(written) <= 3  # noqa: PLR2004 - digits
    return min(int(written), _MOST_COLUMNS) if known else without


def _symbol(element: Any) -> str:
    """The character of a symbol; "" where its font alone knows it."""
    try:
        code = int(element.get(f"{_W}char", ""), 16)
        if not 0xE000 <= code <= 0xF8FF:  # noqa: PLR2004 - the private use area
            return chr(code) if chr(code).isprintable() else ""
    except (ValueError, OverflowError):
        return ""
    font = element.get(f"{_W}font", "").lower()
    return _SYMBOLS.get(font, {}).get(code - 0xF000, "")
