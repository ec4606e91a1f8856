"""The body of a Word document as text: paragraphs, lists, tables, text boxes."""

import re
from collections.abc import Iterator
from typing import Any, Final

from activities.ingest.document import Heading
from activities.ingest.html_writer import raised

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
_HEADING_NAME: Final = re.compile(r"(?:heading|标题)\s*([1-9])", re.IGNORECASE)
_TITLE_NAMES: Final = frozenset({"title", "标题"})
_OFF: Final = frozenset({"0", "false", "off", "none"})
_WHITE: Final = "FFFFFF"
_DIGITS: Final = frozenset("012345678")  # Word's levels; what else is written there is damage
_SCRIPTS: Final = {"superscript": "sup", "subscript": "sub"}
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
_MOST_BASED: Final = 30


def _value(element: Any, path: str) -> str | None:
    """The `w:val` of a descendant; "" for one without a value, None if there is none."""
    if element is None:
        return None
    found = element.find("/".join(f"{_W}{step}" for step in path.split("/")))
    return None if found is None else found.get(f"{_W}val", "")


def _digit(value: str | None) -> int | None:
    return int(value) if value in _DIGITS else None


def _is_skipped(element: Any) -> bool:
    """Whether an element is no part of what is read: of two ways to show a thing, the second."""
    if not isinstance(element.tag, str) or element.tag in _SKIPPED:
        return True
    return element.tag in _BRANCHES and element.getprevious() is not None


def _inside(root: Any, tag: str) -> Iterator[Any]:
    """The elements of a kind under a root that are read; of boxes the outermost only."""
    stack = [iter(root)]
    while stack:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
        elif not _is_skipped(child):
            if child.tag == tag:
                yield child
            if child.tag != _BOX or tag != _BOX:
                stack.append(iter(child))


class Styles:
    """What styles say: level of a heading, list, hidden; each through what it is based on."""

    def __init__(self, root: Any) -> None:
        self._styles = {s.get(f"{_W}styleId"): s for s in root.iterfind(f"{_W}style")}
        self._chains: dict[str, list[Any]] = {}

    def level(self, paragraph: Any) -> int:
        """Level of a heading from 1, 0 for a paragraph that is none."""
        outline = _value(paragraph.find(f"{_W}pPr"), "outlineLvl")
        if outline is None:
            own = _value(paragraph, "pPr/pStyle") or ""
            if level := 0 if own in self._styles else _named_level(own):
                return level
            for style in self._chain(own):
                names = (_value(style, "name") or "", style.get(f"{_W}styleId", ""))
                if level := _named_level(names[0]) or _named_level(names[1]):
                    return level
                outline = _value(style, "pPr/outlineLvl")
                if outline is not None:
                    break
        level = _digit(outline)
        return 0 if level is None else level + 1

    def depth(self, paragraph: Any) -> int:
        """Depth in a list from 1, 0 outside of lists."""
        own = paragraph.find(f"{_W}pPr/{_W}numPr")
        if own is None:
            styles = self._chain(_value(paragraph, "pPr/pStyle"))
            found = (style.find(f"{_W}pPr/{_W}numPr") for style in styles)
            own = next((number for number in found if number is not None), None)
        if own is None or _value(own, "numId") == "0":
            return 0
        return 1 + (_digit(_value(own, "ilvl")) or 0)

    def script(self, run: Any) -> str:
        """`sup` or `sub` for a run that stands raised or lowered, else ""."""
        properties = run.find(f"{_W}rPr")
        chain = self._chain(_value(properties, "rStyle"))
        places = (
            _value(h, "vertAlign") for h in (properties, *(s.find(f"{_W}rPr") for s in chain))
        )
        return _SCRIPTS.get(next((place for place in places if place is not None), ""), "")

    def is_hidden(self, run: Any, paragraph: Any) -> bool:
        """Whether nobody sees the words of a run."""
        properties = run.find(f"{_W}rPr")
        chain = [
            properties,
            *(s.find(f"{_W}rPr") for s in self._chain(_value(properties, "rStyle"))),
            *(s.find(f"{_W}rPr") for s in self._chain(_value(paragraph, "pPr/pStyle"))),
        ]
        for holder in chain:
            vanish = _value(holder, "vanish")
            if vanish is not None:
                return vanish.lower() not in _OFF
        colour = next((c for c in (_value(h, "color") for h in chain) if c is not None), "")
        return colour.upper() == _WHITE and not self._is_shaded(run)

    def _is_shaded(self, run: Any) -> bool:
        """Whether a run stands on a background that white words are seen on."""
        if _value(run, "rPr/highlight") not in {None, "none", "white"}:
            return True
        for holder in self._grounds(run):
            shade = holder.find(f"{_W}shd") if holder is not None else None
            if shade is not None and shade.get(f"{_W}fill", "auto").upper() not in {"AUTO", _WHITE}:
                return True
        return False

    def _grounds(self, run: Any) -> Iterator[Any]:
        """What may give the background of a run, of its own or by a style."""
        yield run.find(f"{_W}rPr")
        yield from self._of_style(run, "rPr/rStyle", "rPr")
        row: Any = None
        for parent in run.iterancestors():
            for properties in ("pPr", "tcPr", "tblPr"):
                yield parent.find(f"{_W}{properties}")
            yield from self._of_style(parent, "pPr/pStyle", "pPr")
            if parent.tag == f"{_W}tr":
                row = parent
            elif parent.tag == f"{_W}tbl":
                yield from self._of_style(parent, "tblPr/tblStyle", "tcPr")
                if next(parent.iter(f"{_W}tr"), None) is row:
                    head = f"tblStylePr[@{_W}type='firstRow']/{_W}tcPr"
                    yield from self._of_style(parent, "tblPr/tblStyle", head)

    def _of_style(self, element: Any, path: str, properties: str) -> Iterator[Any]:
        for style in self._chain(_value(element, path)):
            yield style.find(f"{_W}{properties}")

    def _chain(self, style_id: str | None) -> list[Any]:
        """A style and what it is based on, as far as anybody bases styles; circles end."""
        known = self._chains.get(style_id or "")
        if known is None:
            known = list[Any]()
            seen: set[str] = set()
            at = style_id
            while at and at not in seen and at in self._styles and len(known) < _MOST_BASED:
                seen.add(at)
                known.append(self._styles[at])
                at = _value(self._styles[at], "basedOn")
            self._chains[style_id or ""] = known
        return known


def _named_level(name: str) -> int:
    """Level that the name of a style gives, 0 for none."""
    name = name.strip().lower()
    match = _HEADING_NAME.fullmatch(name)
    return int(match[1]) if match else int(name in _TITLE_NAMES)


class Body:
    """Collects the text of a body; `written` gives it with its headings."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._blocks: list[tuple[str, int, bool]] = []  # text, level of a heading, joins the last

    def walk(self, root: Any, depth: int = 0) -> None:
        """Take in paragraphs and tables, also those inside of controls and text boxes."""
        if depth > _MOST_DEPTH:
            raise ValueError(f"nested more than {_MOST_DEPTH} levels")
        for child in root:
            if child.tag == f"{_W}p":
                self._paragraph(child, depth)
            elif child.tag == f"{_W}tbl":
                rows = [text for row in child.iter(f"{_W}tr") if (text := self._row(row, child))]
                self._blocks += [(row, 0, place > 0) for place, row in enumerate(rows)]
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
        for text, level, joined in self._blocks:
            lead = ("\n" if joined else "\n\n") if parts else ""
            if level:
                title = " ".join(text.split())[:200]
                headings.append(Heading(length + len(lead), level, title))
            parts += [lead, text]
            length += len(lead) + len(text)
        return "".join(parts), headings

    def _paragraph(self, paragraph: Any, depth: int) -> None:
        text = self._text(paragraph).strip(" \n")
        level = self._styles.level(paragraph)
        item = 0 if level else self._styles.depth(paragraph)
        if text.strip():
            # Items of one list are lines, not paragraphs.
            joined = bool(item and self._blocks and self._blocks[-1][0].lstrip().startswith("- "))
            lead = "  " * (item - 1) + "- " if item else ""
            self._blocks.append((lead + text, level, joined))
        for box in _inside(paragraph, _BOX):
            self.walk(box, depth + 1)

    def _row(self, row: Any, table: Any) -> str:
        """A row of a table as one line; rows of a table inside of a cell are part of the cell."""
        if next(row.iterancestors(f"{_W}tbl"), None) is not table:
            return ""
        if row.find(f"{_W}trPr/{_W}del") is not None:
            return ""
        cells: list[str] = []
        for cell in row.iter(f"{_W}tc"):
            if next(cell.iterancestors(f"{_W}tr"), None) is not row:
                continue
            merged = cell.find(f"{_W}tcPr/{_W}vMerge")
            if merged is not None and merged.get(f"{_W}val", "continue") == "continue":
                cells.append("")
                continue
            words = (self._text(paragraph) for paragraph in _inside(cell, f"{_W}p"))
            cells.append(" ".join(" ".join(words).split()))
        return " | ".join(cells) if any(cells) else ""

    def _text(self, paragraph: Any) -> str:
        parts: list[str] = []
        stack = [iter(paragraph)]
        while stack:
            child = next(stack[-1], None)
            if child is None:
                stack.pop()
            elif _is_skipped(child) or child.tag == _BOX:
                continue
            elif child.tag == f"{_W}t":
                parts.append(self._words(child, parts))
            elif child.tag == f"{_W}sym":
                parts.append(_symbol(child))
            elif child.tag in _SPACES:
                parts.append(_SPACES[child.tag])
            elif child.tag == f"{_W}r" and self._styles.is_hidden(child, paragraph):
                continue
            else:
                stack.append(iter(child))
        return "".join(parts).replace("\u00ad", "")

    def _words(self, text: Any, before: list[str]) -> str:
        """Words of a run; digits that stand raised behind a word stay so: 10⁶ is not 106."""
        words = text.xpath("string()")  # `text` would end at a comment inside of it
        script = self._styles.script(text.getparent())
        # Word cuts 10⁻⁶ into several runs as it is typed.
        return raised(words, script, "".join(before[-9:]).rstrip(_RAISED)) if script else words


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
