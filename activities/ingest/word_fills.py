"""Grounds that a Word document draws: fills of shapes, the colour of the page."""

from typing import Any, Final

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SHAPE: Final = "{http://schemas.microsoft.com/office/word/2010/wordprocessingShape}"
_VML: Final = "{urn:schemas-microsoft-com:vml}"
_WHITE: Final = frozenset({"", "ffffff", "fff", "white", "window", "auto", "none"})
_WHITE_NAMES: Final = frozenset({"bg1", "lt1"})  # colours of the theme, white unless changed
_PICTURES: Final = tuple(f"{_A}{kind}" for kind in ("gradFill", "blipFill", "pattFill"))


def is_filled(element: Any) -> bool:
    """Whether an element around words gives them a ground that is not white."""
    tag = element.tag
    if tag == f"{_SHAPE}wsp":
        return _is_filled_shape(element)
    if isinstance(tag, str) and tag.startswith(_VML):
        return _is_filled_vml(element)
    if tag == f"{_W}document":
        page = element.find(f"{_W}background")
        return page is not None and not _is_white(page.get(f"{_W}color"))
    return False


def _is_filled_shape(shape: Any) -> bool:
    properties = shape.find(f"{_SHAPE}spPr")
    if properties is not None:
        if properties.find(f"{_A}noFill") is not None:
            return False
        if any(properties.find(kind) is not None for kind in _PICTURES):
            return True
        fill = properties.find(f"{_A}solidFill")
        if fill is not None:
            return _is_dark(fill)
    # Without a fill of its own a shape has that of its style, 0 being none.
    style = shape.find(f"{_SHAPE}style/{_A}fillRef")
    return style is not None and style.get("idx", "0") != "0" and _is_dark(style)


def _is_dark(fill: Any) -> bool:
    for colour in fill:
        value = colour.get("lastClr") or colour.get("val") or ""
        # A white that something is done to, as made darker, is none.
        return bool(len(colour)) or not (_is_white(value) or value in _WHITE_NAMES)
    return False


def _is_filled_vml(shape: Any) -> bool:
    if shape.get("filled", "t").lower() in {"f", "false", "0"}:
        return False
    return not _is_white(shape.get("fillcolor"))


def _is_white(colour: str | None) -> bool:
    # VML may add the place of a colour in the theme: `white [3212]`.
    words = (colour or "").lower().split()
    return not words or words[0].lstrip("#") in _WHITE
