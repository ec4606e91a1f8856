"""The body of a Word document as text: paragraphs, lists, tables, text boxes."""

import re
from collections.abc import Iterator
from typing import Any, Final

from activities.ingest.document import Heading
from activities.ingest.html_writer import raised

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_CHOICE: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_BOX: Final = f"{_W}txbxContent"
# Deletions, instructions of fields, comments: not a part of what is read.
_SKIPPED: Final = frozenset(
    [f"{_W}{tag}" for tag in ("del", "moveFrom", "instrText", "delText", "pPr", "tblPr", "trPr")]
    + [f"{_W}{tag}" for tag in ("sdtPr", "rPr", "sectPr", "tcPr", "tblGrid", "annotationRef")]
    + [_CHOICE, _BOX]
)
_SPACES: Final = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_HEADING_NAME: Final = re.compile(r"(?:heading|标题)\s*([1-9])", re.IGNORECASE)
_TITLE_NAMES: Final = frozenset({"title", "标题"})
_OFF: Final = frozenset({"0", "false", "off", "none"})
_WHITE: Final = "FFFFFF"
_MOST_LEVELS: Final = 9
_MOST_DEPTH: Final = 200


def _value(element: Any, path: str) -> str | None:
    """The `w:val` of a descendant; "" for one without a value, None if there is none."""
    if element is None:
        return None
    found = element.find("/".join(f"{_W}{step}" for step in path.split("/")))
    return None if found is None else found.get(f"{_W}val", "")


class Styles:
    """What styles say: level of a heading, list, hidden; each through what it is based on."""

    def __init__(self, root: Any) -> None:
        self._styles = {s.get(f"{_W}styleId"): s for s in root.iterfind(f"{_W}style")}

    def level(self, paragraph: Any) -> int:
        """Level of a heading from 1, 0 for a paragraph that is none."""
        outline = _value(paragraph.find(f"{_W}pPr"), "outlineLvl")
        if outline is None:
            for style in self._chain(_value(paragraph, "pPr/pStyle")):
                name = (_value(style, "name") or "").strip().lower()
                if match := _HEADING_NAME.fullmatch(name):
                    return int(match[1])
                if name in _TITLE_NAMES:
                    return 1
                outline = _value(style, "pPr/outlineLvl")
                if outline is not None:
                    break
        if outline is None or not outline.isdigit() or int(outline) >= _MOST_LEVELS:
            return 0
        return int(outline) + 1

    def depth(self, paragraph: Any) -> int:
        """Depth in a list from 1, 0 outside of lists."""
        own = paragraph.find(f"{_W}pPr/{_W}numPr")
        if own is None:
            styles = self._chain(_value(paragraph, "pPr/pStyle"))
            found = (style.find(f"{_W}pPr/{_W}numPr") for style in styles)
            own = next((number for number in found if number is not None), None)
        if own is None or _value(own, "numId") == "0":
            return 0
        level = _value(own, "ilvl") or "0"
        return 1 + (int(level) if level.isdigit() else 0)

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
        return colour.upper() == _WHITE and not _is_shaded(run)

    def _chain(self, style_id: str | None) -> Iterator[Any]:
        """A style and what it is based on; circles end."""
        seen: set[str] = set()
        while (
            style_id and style_id not in seen and (style := self._styles.get(style_id)) is not None
        ):
            seen.add(style_id)
            yield style
            style_id = _value(style, "basedOn")


def _is_shaded(run: Any) -> bool:
    """Whether a run stands on a background that white words are seen on."""
    if _value(run, "rPr/highlight") not in {None, "none", "white"}:
        return True
    holders = [run.find(f"{_W}rPr")]
    for parent in run.iterancestors():
        holders += [parent.find(f"{_W}pPr"), parent.find(f"{_W}tcPr"), parent.find(f"{_W}tblPr")]
    for holder in holders:
        shade = holder.find(f"{_W}shd") if holder is not None else None
        if shade is not None and shade.get(f"{_W}fill", "auto").upper() not in {"AUTO", _WHITE}:
            return True
    return False


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
            elif child.tag not in _SKIPPED and isinstance(child.tag, str):
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
        for box in paragraph.iter(_BOX):
            if not any(parent.tag == _CHOICE for parent in box.iterancestors()):
                self.walk(box, depth + 1)

    def _row(self, row: Any, table: Any) -> str:
        """A row of a table as one line; rows of a table inside of a cell are part of the cell."""
        if next(row.iterancestors(f"{_W}tbl"), None) is not table:
            return ""
        cells: list[str] = []
        for cell in row.iter(f"{_W}tc"):
            if next(cell.iterancestors(f"{_W}tr"), None) is not row:
                continue
            merged = cell.find(f"{_W}tcPr/{_W}vMerge")
            if merged is not None and merged.get(f"{_W}val", "continue") == "continue":
                cells.append("")
                continue
            words = (self._text(paragraph) for paragraph in cell.iter(f"{_W}p"))
            cells.append(" ".join(" ".join(words).split()))
        return " | ".join(cells) if any(cells) else ""

    def _text(self, paragraph: Any) -> str:
        parts: list[str] = []
        stack = [iter(paragraph)]
        while stack:
            child = next(stack[-1], None)
            if child is None:
                stack.pop()
            elif child.tag in _SKIPPED or not isinstance(child.tag, str):
                continue
            elif child.tag == f"{_W}t":
                parts.append(_scripted(child, "".join(parts[-1:])))
            elif child.tag in _SPACES:
                parts.append(_SPACES[child.tag])
            elif child.tag == f"{_W}r" and self._styles.is_hidden(child, paragraph):
                continue
            else:
                stack.append(iter(child))
        return "".join(parts).replace("\u00ad", "")


def _scripted(text: Any, before: str) -> str:
    """Words of a run; digits that stand raised behind a word stay so: 10⁶ is not 106."""
    words = text.text or ""
    place = _value(text.getparent(), "rPr/vertAlign")
    return (
        raised(words, "sup" if place == "superscript" else "sub", before)
        if place
        in {
            "superscript",
            "subscript",
        }
        else words
    )
