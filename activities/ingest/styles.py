"""Style sheets of a page, as far as they say whether words are seen: rules, declarations, media.

What is certain holds for a reader at a screen; what stands under a condition (a width of the
window, what the browser can do) is told apart, so that it only ever shows and never hides.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final


class Effect(IntEnum):
    """What a declaration does to words."""

    SHOWS = 0
    HIDES = 1
    WHITENS = 2  # seen only on a background that is not white


class Holds(IntEnum):
    """Whether rules hold for a reader at a screen."""

    NEVER = 0
    MAYBE = 1
    ALWAYS = 2


# An effect, and whether it is declared important.
Effects = dict[str, tuple[Effect, bool]]

WHITE: Final = (
    r"(?:white\b|#fff(?:fff)?\b|rgba?\(\s*25[45]\s*[, ]\s*25[45]\s*[, ]\s*25[45]\b"
    r"|rgba?\(\s*100%\s*[, ]\s*100%\s*[, ]\s*100%|hsla?\([^()]*[, ]\s*100%)"
)
_WHITE_WORDS: Final = re.compile(WHITE)
_PICTURE: Final = re.compile(r"url\(|gradient\(")
_NO_GROUND: Final = re.compile(
    rf"{WHITE}|none\b|transparent\b|inherit\b|initial\b|unset\b|revert|0\b|$"
)
_TRANSPARENT: Final = re.compile(r"transparent\b|(?:rgb|hsl)a?\([^()]*[,/]\s*0?(?:\.0+)?%?\s*\)")
_ZERO: Final = re.compile(r"[+-]?(?:0+(?:\.0*)?|\.0+)(?:[a-z]+|%)?")
_ZERO_FONT: Final = re.compile(r"(?:[a-z]+\s+)*0+(?:\.0*)?(?:[a-z]+|%)?\s*(?:/|\s)")
_RELATIVE: Final = re.compile(r"[\d.]+(?:em|%)|smaller|larger|inherit|unset")
_ALMOST_NOTHING: Final = re.compile(r"[01]?(?:\.\d+)?(?:px|pt)?")
_FAR: Final = re.compile(r"-(?:\d{4,}|999)(?:\.\d+)?(?:px|pt)?\b|-\d{3,}(?:\.\d+)?(?:r?em|v[wh]|%)")
_CLIPPED: Final = re.compile(r"rect\((?:\s*[01]?(?:px)?\s*,?\s*){4}\)")
_CLIP_PATH: Final = re.compile(
    r"inset\(\s*(?:50|100)%|circle\(\s*0|polygon\(\s*0(?:px)?\s+0(?:px)?\)"
)
_OUT_OF_FLOW: Final = frozenset({"absolute", "fixed", "relative"})
_INHERITING: Final = frozenset({"inherit", "unset", "initial", "revert", "revert-layer", ""})
_IMPORTANT: Final = re.compile(r"\s*!\s*important$")
_SKIPPED_MEDIA: Final = re.compile(r"(?:print|speech|aural|braille|tty|not\s+(?:screen|all))\b")
_CONDITIONS: Final = frozenset({"supports", "layer", "container", "scope", "starting-style"})
_AT: Final = re.compile(r"@([\w-]+)\s*(.*)", re.DOTALL)


def effects(style: str) -> Effects:
    """What declarations do, by what they are about; what says nothing of it is left out.

    `visibility`, `font-size`, `color` and `text-indent` pass on to the elements inside.
    """
    given = _declared(style)
    found: Effects = {}
    for about, (properties, judge) in _JUDGES.items():
        values = {name: given[name][0] for name in properties if name in given}
        effect = judge(values) if values else None
        if effect is not None:
            found[about] = (effect, any(given[name][1] for name in values))
    return found


def _declared(style: str) -> dict[str, tuple[str, bool]]:
    """Values and whether they are important, by property; of two the later one counts."""
    found: dict[str, tuple[str, bool]] = {}
    for piece in style.split(";"):
        name, colon, value = piece.partition(":")
        if not colon:
            continue
        name, value = name.strip().lower(), value.strip().lower()
        plain = _IMPORTANT.sub("", value)
        important = plain != value
        if important or not found.get(name, ("", False))[1]:
            found[name] = (plain, important)
    return found


def _display(values: dict[str, str]) -> Effect | None:
    return _hides(values["display"] == "none")


def _visibility(values: dict[str, str]) -> Effect | None:
    value = values["visibility"]
    return None if value in _INHERITING else _hides(value in {"hidden", "collapse"})


def _opacity(values: dict[str, str]) -> Effect | None:
    return _hides(_ZERO.fullmatch(values["opacity"]) is not None)


def _font_size(values: dict[str, str]) -> Effect | None:
    size = values.get("font-size")
    if size is None:
        return _hides(_ZERO_FONT.match(values["font"]) is not None)
    if _ZERO.fullmatch(size):
        return Effect.HIDES
    return None if _RELATIVE.fullmatch(size) else Effect.SHOWS


def _color(values: dict[str, str]) -> Effect | None:
    value = values["color"]
    if value in _INHERITING or value == "currentcolor":
        return None
    if _TRANSPARENT.match(value):
        return Effect.HIDES
    return Effect.WHITENS if _WHITE_WORDS.match(value) else Effect.SHOWS


def _text_indent(values: dict[str, str]) -> Effect | None:
    return _hides(_FAR.match(values["text-indent"]) is not None)


def _clip(values: dict[str, str]) -> Effect | None:
    clipped = _CLIPPED.match(values.get("clip", "")) is not None
    # `clip` works on what is out of the flow only.
    clipped = clipped and values.get("position", "absolute") in {"absolute", "fixed"}
    if clipped or _CLIP_PATH.match(values.get("clip-path", "")):
        return Effect.HIDES
    return None if set(values) == {"position"} else Effect.SHOWS


def _place(values: dict[str, str]) -> Effect | None:
    moved = [values[name] for name in _OFFSETS if name in values]
    if values.get("position") in _OUT_OF_FLOW and any(map(_FAR.match, moved)):
        return Effect.HIDES
    pushed = [values[name] for name in _MARGINS if name in values]
    if any(map(_FAR.match, pushed)) or _FAR_MOVE.search(values.get("transform", "")):
        return Effect.HIDES
    return Effect.SHOWS if moved or values.get("position") == "static" else None


def _size(values: dict[str, str]) -> Effect | None:
    sides = [values.get(name) or "auto" for name in ("width", "height")]
    cut = values.get("overflow", "visible") in {"hidden", "clip"}
    if cut and all(map(_ALMOST_NOTHING.fullmatch, sides)):
        return Effect.HIDES
    return None if cut and sides == ["auto", "auto"] else Effect.SHOWS


def _ground(values: dict[str, str]) -> Effect | None:
    """`HIDES` for a background on which white words are not seen, `SHOWS` for any other one."""
    shown = any(_PICTURE.search(value) or not _NO_GROUND.match(value) for value in values.values())
    return _hides(not shown)


def _hides(hides: bool) -> Effect:
    return Effect.HIDES if hides else Effect.SHOWS


_OFFSETS: Final = ("left", "right", "top", "bottom", "inset", "inset-inline-start")
_MARGINS: Final = ("margin-left", "margin-top", "margin")
_FAR_MOVE: Final = re.compile(r"translate[xy3d]*\(\s*-\d{4,}|scale[xy]?\(\s*0(?:\.0*)?\s*[,)]")
_JUDGES: Final[dict[str, tuple[tuple[str, ...], Callable[[dict[str, str]], Effect | None]]]] = {
    "display": (("display",), _display),
    "visibility": (("visibility",), _visibility),
    "opacity": (("opacity",), _opacity),
    "font-size": (("font-size", "font"), _font_size),
    "color": (("color",), _color),
    "text-indent": (("text-indent",), _text_indent),
    "clip": (("clip", "clip-path", "position"), _clip),
    "place": (("position", *_OFFSETS, *_MARGINS, "transform"), _place),
    "size": (("width", "height", "overflow"), _size),
    "ground": (("background", "background-color", "background-image"), _ground),
}


_Block = tuple[str, list[str], Holds]


@dataclass(frozen=True)
class Rule:
    """Selectors and declarations as written, and whether they hold."""

    selectors: str
    declarations: str
    holds: Holds


def rules(sheet: str, media: str = "") -> Iterator[Rule]:
    """The rules of a style sheet that hold or may hold, those inside of `@` blocks too.

    Args:
        sheet: the text of the sheet.
        media: what its element says it is for.
    """
    sheet = without_comments(sheet)
    # Of each open block: what stands before it, its declarations so far, whether it holds.
    blocks: list[_Block] = []
    start = 0
    for brace in re.finditer(r"[{}]", sheet):
        words = sheet[start : brace.start()]
        start = brace.end()
        if brace[0] == "{":
            declared, _, before = words.rpartition(";")
            if blocks:
                blocks[-1][1].append(declared)
            holds = _inside(blocks[-1]) if blocks else _media(media)
            before = before.strip()
            blocks.append((before, list[str](), min(holds, _condition(before))))
        elif blocks:
            before, parts, holds = blocks.pop()
            if not before.startswith("@") and holds:
                yield Rule(before, ";".join([*parts, words]), holds)


def _inside(block: _Block) -> Holds:
    """Whether what stands inside of a block holds; a rule in a rule is for some places only."""
    return block[2] if block[0].startswith("@") else min(block[2], Holds.MAYBE)


def without_comments(sheet: str) -> str:
    """A style sheet without its comments; one that is not closed goes on to the end."""
    parts: list[str] = []
    place = 0
    while (start := sheet.find("/*", place)) >= 0:
        parts.append(sheet[place:start])
        end = sheet.find("*/", start + 2)
        if end < 0:
            return "".join(parts)
        place = end + 2
    return "".join([*parts, sheet[place:]]).replace("<!--", "").replace("-->", "")


def _condition(before: str) -> Holds:
    """Whether the content of a block holds, by what stands before it."""
    match = _AT.match(before)
    if match is None:
        return Holds.ALWAYS
    name = match[1].lower()
    if name == "media":
        return _media(match[2])
    return Holds.MAYBE if name in _CONDITIONS else Holds.NEVER


def _media(query: str) -> Holds:
    parts = [part.strip().removeprefix("only ").strip() for part in query.lower().split(",")]
    if any(part in {"", "all", "screen"} for part in parts):
        return Holds.ALWAYS
    return Holds.NEVER if all(map(_SKIPPED_MEDIA.match, parts)) else Holds.MAYBE
