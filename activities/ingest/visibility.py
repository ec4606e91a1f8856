"""What of a page a reader sees: hidden elements, navigation, white words on white.

Decided by an element's tag and attributes and by the page's own style sheets. Where these can not
be told for certain, words are shown: a selector that names what stands around an element, or a
condition, only ever shows. Style sheets of other files are not known, so that a class may give a
background there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import Final

from activities.ingest.styles import WHITE, Effect, Effects, Holds, Rule, effects, rules
from workflows.logic.stop_words import word_list

_NEVER: Final = frozenset(
    word_list("""
    script style noscript template svg iframe object embed canvas audio video head title meta link
    input select option datalist textarea map del s strike rt rp annotation annotation-xml
    """)
)
_NAVIGATION_ROLES: Final = frozenset({"navigation", "search", "contentinfo", "menu", "menubar"})
NAVIGATION_NAMES: Final = frozenset(
    word_list("""
    headerlink navheader navfooter toc table-of-contents sphinxsidebar breadcrumb breadcrumbs
    skip-link skip-to-content skiplink navbar navigation mobile-nav menu-wrapper footer site-footer
    page-footer sr-only visually-hidden mw-editsection navbox searchbox
    """)
)
_CONTENT: Final = frozenset({"body", "main", "article"})
_WHITE_MARKS: Final = ("white", "#fff", "rgb(", "rgba(", "hsl")
_WHITE_FONT: Final = re.compile(r"white|#?fff(?:fff)?", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r'([^\s="]+)(?:="([^"]*)")?')
_CLASS_OR_ID: Final = re.compile(r'(?:class|id)="([^"]*)"')
_NAMES: Final = re.compile(r"""\b(?:class|id)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""")
_OUTER_SHEET: Final = re.compile(r"<link\b[^>]*\bstylesheet\b|@import\b", re.IGNORECASE)
_STYLE: Final = re.compile(r"<style\b([^>]*)>(.*?)</style>", re.IGNORECASE | re.DOTALL)
_MEDIA: Final = re.compile(r"""\bmedia\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""", re.IGNORECASE)
_ROOT: Final = re.compile(r"<html\b([^>]*)>", re.IGNORECASE)
_STYLE_VALUE: Final = re.compile(r"""\bstyle\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_REAPPEARS: Final = re.compile(r"visibility\s*:\s*visible", re.IGNORECASE)

_COMPOUND: Final = re.compile(r"(\*|[a-z][a-z0-9-]*)?((?:[.#][\w-]+)*)", re.IGNORECASE)
_NAME: Final = re.compile(r"[.#][\w-]+")
_BETWEEN: Final = re.compile(r"[\s>+~]+")
# What holds while a person points at or uses an element does not hold for a reader.
_STATE: Final = re.compile(
    r":(?:hover|focus|focus-within|focus-visible|active|target|checked|visited|link|open)\b"
)
_PSEUDO: Final = re.compile(r"::?[\w-]+(?:\([^()]*\))?|\[[^\]]*\]")
_TYPE: Final = re.compile(r"(?:^|[\s>+~(,])[a-zA-Z]")
_WHOLE_PAGE: Final = frozenset({"", "*", "html"})
_MOST_SELECTORS: Final = 50_000

# What passes on to the elements inside until one of them says otherwise, and what a page must hold
# for it to hide anything.
INHERITED: Final = {
    "visibility": re.compile(r"visibility\s*:\s*(?:hidden|collapse)"),
    "font-size": re.compile(r"font(?:-size)?\s*:[^;}\"']{0,40}?\b0"),
    "text-indent": re.compile(r"text-indent\s*:\s*-"),
    "color": re.compile(r"color\s*:\s*(?:transparent|rgba|hsla|rgb\([^()]*/)"),
}


@dataclass(frozen=True)
class Look:
    """What an element does to the words in it.

    `passed_on` holds effects for `INHERITED`; `ground`: it has, or may have, a background on which
    white words are seen.
    """

    dropped: bool = False
    passed_on: dict[str, Effect] = field(default_factory=dict[str, Effect])
    ground: bool = False


_PLAIN: Final = Look()
_DROPPED: Final = Look(dropped=True)

# Important, ids, classes, tags, order: the larger one counts (CSS Cascade 4, 6.1).
_Weight = tuple[bool, int, int, int, int]
_STYLED: Final = (1 << 30, 0, 0, 0)
_BY_BROWSER: Final = (-1, 0, 0, 0)


@dataclass(frozen=True)
class _Selector:
    """One selector of a rule: what an element must be, what its declarations do."""

    tag: str
    names: frozenset[str]
    effects: Effects
    weight: tuple[int, int, int, int]


def attributes(text: str) -> dict[str, str]:
    """The attributes of a canonical tag, entities undone."""
    found: dict[str, str] = dict(_ATTRIBUTE.findall(text))
    return {name: unescape(value) for name, value in found.items()} if "&" in text else found


class Sheet:
    """The page's own style sheets, as far as they say what is seen."""

    def __init__(self, page: str) -> None:
        self._selectors: dict[str, list[_Selector]] = {}
        self._order = 0
        self._page = page
        self._names: frozenset[str] | None = None
        # Whether anything on the page may be white at all.
        lower = page.lower()
        self.whitens = any(mark in lower for mark in _WHITE_MARKS) and bool(
            re.search(rf"color\s*[:=]\s*[\"']?{WHITE}", lower)
        )
        self._passed_on = [
            about
            for about, hiding in INHERITED.items()
            if (about == "color" and self.whitens) or hiding.search(lower)
        ]
        sheets = "stylesheet" in lower or "@import" in lower
        self._others = sheets and _OUTER_SHEET.search(page) is not None
        self._reappears = "visib" in lower and _REAPPEARS.search(page) is not None
        styled = page[: lower.rfind("</style>") + len("</style>")]  # behind it none ends
        for given, sheet in _STYLE.findall(styled):
            media = _MEDIA.search(given)
            for rule in rules(
                sheet, unescape("".join(filter(None, media.groups()))) if media else ""
            ):
                self._take(rule)
        self.whitens = self.whitens and not self._has_dark_root()

    @property
    def asks_for_ids(self) -> bool:
        """Whether it makes a difference which ids elements have."""
        return self.whitens or any(name.startswith("#") for name in self._selectors)

    @property
    def says_nothing(self) -> bool:
        """Whether a tag means the same on every page of which this is true."""
        return not (self._selectors or self.whitens or self._passed_on or self._reappears)

    def _has_dark_root(self) -> bool:
        """Whether the element of the whole page, which is not walked, gives a background."""
        root = _ROOT.search(self._page)
        if root is None:
            return False
        style = _STYLE_VALUE.search(root[1])
        given = {"style": unescape(style[1] or style[2] or "")} if style else {}
        names = {name for match in _NAMES.findall(root[1]) for name in "".join(match).split()}
        return self._effects("html", given, names).get("ground") == Effect.SHOWS

    def _take(self, rule: Rule) -> None:
        if self._order > _MOST_SELECTORS or ":" not in rule.declarations:
            return
        found = effects(rule.declarations)
        self._order += 1
        if not found:
            return
        for written in _parted(rule.selectors):
            self._order += 1
            self._add(written, found, certain=rule.holds == Holds.ALWAYS)

    def _add(self, written: str, found: Effects, *, certain: bool) -> None:
        if _STATE.search(written):
            return
        compound = _COMPOUND.fullmatch(written)
        if compound is None:
            certain = False
            bare = _PSEUDO.sub("", written).strip()
            compound = _COMPOUND.fullmatch(_BETWEEN.split(bare)[-1])
            if not all(name[1:] in self._known_names() for name in _NAME.findall(bare)):
                return  # it is for a state that the page is not in
        tag = (compound[1] or "").lower().replace("*", "") if compound else ""
        names = frozenset(_NAME.findall(compound[2])) if compound else frozenset[str]()
        if not names and tag in _WHOLE_PAGE and _gives_ground(found):
            self.whitens = False
        if not names and not tag and not certain:
            return
        if not certain:
            found = {about: one for about, one in found.items() if one[0] == Effect.SHOWS}
        if found:
            selector = _Selector(tag, names, found, (*_specificity(written), self._order))
            self._selectors.setdefault(min(names, default=tag), []).append(selector)

    def _known_names(self) -> frozenset[str]:
        """Every class and id that an element of the page has."""
        if self._names is None:
            found = ("".join(match).split() for match in _NAMES.findall(self._page))
            self._names = frozenset(name for names in found for name in names)
        return self._names

    def look(self, tag: str, attrs: str, *, navigation: bool) -> Look:
        """What an element does to the words in it; `navigation` keeps navigation."""
        if tag in _NEVER or (tag == "nav" and not navigation):
            return _DROPPED
        ruled = tag in self._selectors or "" in self._selectors
        named = "class=" in attrs or "id=" in attrs
        if not (ruled or (named and (self._selectors or self.whitens)) or _may_tell(tag, attrs)):
            return _PLAIN
        given = attributes(attrs)
        names = set(given.get("class", "").split())
        if not navigation and tag not in _CONTENT and _is_navigation(given, names):
            return _DROPPED
        return self._seen(tag, given, names)

    def _seen(self, tag: str, given: dict[str, str], names: set[str]) -> Look:
        found = self._effects(tag, given, names)
        hides = {about for about, effect in found.items() if effect == Effect.HIDES}
        hides.discard("ground")
        if not self.whitens and found.get("color") == Effect.WHITENS:
            found["color"] = Effect.SHOWS
        if given.get("aria-hidden") == "true" or not hides.issubset(INHERITED):
            return _DROPPED
        if "visibility" in hides and not self._reappears:
            return _DROPPED
        return Look(
            passed_on={about: found[about] for about in self._passed_on if about in found},
            ground=self.whitens and self._has_ground(found, given),
        )

    def _has_ground(self, found: dict[str, Effect], given: dict[str, str]) -> bool:
        if found.get("ground") == Effect.SHOWS:
            return True
        if given.get("bgcolor") or given.get("background"):
            return not _WHITE_FONT.fullmatch(given.get("bgcolor", "-"))
        return self._others and ("class" in given or "id" in given)

    def _effects(self, tag: str, given: dict[str, str], names: set[str]) -> dict[str, Effect]:
        """What counts for an element, of all that is said of it."""
        heaviest: dict[str, tuple[_Weight, Effect]] = {}
        for weight, about, effect in self._said(tag, given, names):
            if about not in heaviest or weight >= heaviest[about][0]:
                heaviest[about] = (weight, effect)
        return {about: effect for about, (_, effect) in heaviest.items()}

    def _said(
        self, tag: str, given: dict[str, str], names: set[str]
    ) -> Iterator[tuple[_Weight, str, Effect]]:
        if "hidden" in given or (tag == "dialog" and "open" not in given):
            yield (False, *_BY_BROWSER), "display", Effect.HIDES
        if tag == "font" and "color" in given:
            white = _WHITE_FONT.fullmatch(given["color"].strip())
            yield (False, *_BY_BROWSER), "color", Effect.WHITENS if white else Effect.SHOWS
        for about, (effect, important) in effects(given.get("style", "")).items():
            yield (important, *_STYLED), about, effect
        marks = {f".{name}" for name in names}
        if identity := given.get("id"):
            marks.add(f"#{identity}")
        for key in ("", tag, *marks):
            for selector in self._selectors.get(key, ()):
                if selector.tag in {"", tag} and selector.names <= marks:
                    for about, (effect, important) in selector.effects.items():
                        yield (important, *selector.weight), about, effect


def _gives_ground(found: Effects) -> bool:
    return "ground" in found and found["ground"][0] == Effect.SHOWS


def _specificity(selector: str) -> tuple[int, int, int]:
    """Ids, classes and the like, tags of a selector; what is inside of brackets counts too."""
    ids, classes = selector.count("#"), sum(map(selector.count, ".[:"))
    return (ids, classes, len(_TYPE.findall(selector)))


def _parted(selectors: str) -> list[str]:
    """The selectors of a list; commas inside of brackets part nothing."""
    parts: list[list[str]] = [[]]
    depth = 0
    for piece in re.split(r"([,()])", selectors):
        depth = max(0, depth + (piece == "(") - (piece == ")"))
        if piece == "," and not depth:
            parts.append([])
        else:
            parts[-1].append(piece)
    return [part for pieces in parts if (part := "".join(pieces).strip())]


def _may_tell(tag: str, attrs: str) -> bool:
    """Whether attributes may hide an element or make it navigation; most say nothing of it."""
    if tag in {"dialog", "font"}:
        return True
    if "hidden" in attrs or "style=" in attrs or "role=" in attrs or "color=" in attrs:
        return True
    if " background=" in attrs:
        return True
    for value in _CLASS_OR_ID.findall(attrs):
        names = value.split()
        if "local" in names or not NAVIGATION_NAMES.isdisjoint(names):
            return True
    return False


def _is_navigation(given: dict[str, str], names: set[str]) -> bool:
    return (
        given.get("role", "") in _NAVIGATION_ROLES
        or given.get("id") in NAVIGATION_NAMES
        or not names.isdisjoint(NAVIGATION_NAMES)
        or {"contents", "local"} <= names
    )
