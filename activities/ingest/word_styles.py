"""What the styles of a Word document say: headings, lists, hidden and white words."""

import re
from collections.abc import Iterator
from typing import Any, Final

from activities.ingest.word_fills import is_filled

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING_NAME: Final = re.compile(r"(?:heading|标题)\s*([1-9])", re.IGNORECASE)
_TITLE_NAMES: Final = frozenset({"title", "标题"})
_OFF: Final = frozenset({"0", "false", "off", "none"})
_WHITE: Final = "FFFFFF"
_NO_GROUND: Final = frozenset({"AUTO", _WHITE})
_DIGITS: Final = frozenset("012345678")  # Word's levels; what else is written there is damage
_SCRIPTS: Final = {"superscript": "sup", "subscript": "sub"}
_MOST_BASED: Final = 30


def value_of(element: Any, path: str) -> str | None:
    """The `w:val` of a descendant; "" for one without a value, None if there is none."""
    if element is None:
        return None
    found = element.find("/".join(f"{_W}{step}" for step in path.split("/")))
    return None if found is None else found.get(f"{_W}val", "")


def _digit(value: str | None) -> int | None:
    return int(value) if value in _DIGITS else None


class Styles:
    """What styles say: level of a heading, list, hidden; each through what it is based on."""

    def __init__(self, root: Any) -> None:
        self._styles = {s.get(f"{_W}styleId"): s for s in root.iterfind(f"{_W}style")}
        self._chains: dict[str, list[Any]] = {}

    def level(self, paragraph: Any) -> int:
        """Level of a heading from 1, 0 for a paragraph that is none."""
        outline = value_of(paragraph.find(f"{_W}pPr"), "outlineLvl")
        if outline is None:
            own = value_of(paragraph, "pPr/pStyle") or ""
            if level := 0 if own in self._styles else _named_level(own):
                return level
            for style in self._chain(own):
                names = (value_of(style, "name") or "", style.get(f"{_W}styleId", ""))
                if level := _named_level(names[0]) or _named_level(names[1]):
                    return level
                outline = value_of(style, "pPr/outlineLvl")
                if outline is not None:
                    break
        level = _digit(outline)
        return 0 if level is None else level + 1

    def depth(self, paragraph: Any) -> int:
        """Depth in a list from 1, 0 outside of lists."""
        own = paragraph.find(f"{_W}pPr/{_W}numPr")
        if own is None:
            styles = self._chain(value_of(paragraph, "pPr/pStyle"))
            found = (style.find(f"{_W}pPr/{_W}numPr") for style in styles)
            own = next((number for number in found if number is not None), None)
        if own is None or value_of(own, "numId") == "0":
            return 0
        return 1 + (_digit(value_of(own, "ilvl")) or 0)

    def script(self, run: Any) -> str:
        """`sup` or `sub` for a run that stands raised or lowered, else ""."""
        properties = run.find(f"{_W}rPr")
        chain = self._chain(value_of(properties, "rStyle"))
        places = (
            value_of(h, "vertAlign") for h in (properties, *(s.find(f"{_W}rPr") for s in chain))
        )
        return _SCRIPTS.get(next((place for place in places if place is not None), ""), "")

    def is_hidden(self, run: Any, paragraph: Any) -> bool:
        """Whether nobody sees the words of a run."""
        chain = self._properties(run, paragraph)
        if _vanishes(chain):
            return True
        colour = next((c for c in (value_of(h, "color") for h in chain) if c is not None), "")
        return colour.upper() == _WHITE and not self._is_shaded(run)

    def is_vanished(self, run: Any) -> bool:
        """Whether a run is hidden with all it holds, boxes too."""
        return _vanishes(self._properties(run, next(run.iterancestors(f"{_W}p"), None)))

    def _properties(self, run: Any, paragraph: Any) -> list[Any]:
        """What says how a run looks, what counts first before the others."""
        properties = run.find(f"{_W}rPr")
        return [
            properties,
            *(s.find(f"{_W}rPr") for s in self._chain(value_of(properties, "rStyle"))),
            *(s.find(f"{_W}rPr") for s in self._chain(value_of(paragraph, "pPr/pStyle"))),
        ]

    def _is_shaded(self, run: Any) -> bool:
        """Whether a run stands on a background that white words are seen on."""
        if value_of(run, "rPr/highlight") not in {None, "none", "white"}:
            return True
        for holder in self._grounds(run):
            shade = holder.find(f"{_W}shd") if holder is not None else None
            if shade is not None and shade.get(f"{_W}fill", "auto").upper() not in _NO_GROUND:
                return True
        return any(map(is_filled, run.iterancestors()))

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
        for style in self._chain(value_of(element, path)):
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
                at = value_of(self._styles[at], "basedOn")
            self._chains[style_id or ""] = known
        return known


def _vanishes(chain: list[Any]) -> bool:
    vanish = next(
        (v for v in (value_of(holder, "vanish") for holder in chain) if v is not None), "0"
    )
    return vanish.lower() not in _OFF


def _named_level(name: str) -> int:
    """Level that the name of a style gives, 0 for none."""
    name = name.strip().lower()
    match = _HEADING_NAME.fullmatch(name)
    return int(match[1]) if match else int(name in _TITLE_NAMES)
