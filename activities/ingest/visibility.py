"""What of a page a reader sees: hidden elements, navigation, white words on white.

Decided by an element's tag and attributes and by the simple rules of the page's own style sheets;
style sheets of other files are not known, so that a class may give a background there.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

from workflows.logic.stop_words import word_list

SHOWN: Final = 0
DROPPED: Final = 1
WHITE: Final = 2  # seen only on a background that is not white

_NEVER: Final = frozenset(
    word_list("""
    script style noscript template svg iframe object embed canvas audio video head title meta link
    input select option datalist textarea map dialog del s strike rt rp annotation annotation-xml
    """)
)
_NAVIGATION_ROLES: Final = frozenset({"navigation", "search", "contentinfo", "menu", "menubar"})
_NAVIGATION_NAMES: Final = frozenset(
    word_list("""
    headerlink navheader navfooter toc table-of-contents sphinxsidebar breadcrumb breadcrumbs
    skip-link skip-to-content skiplink navbar navigation mobile-nav menu-wrapper footer site-footer
    page-footer sr-only visually-hidden mw-editsection navbox searchbox
    """)
)
_CONTENT: Final = frozenset({"body", "main", "article"})
_HIDING: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?![.\d])"
    r"|opacity\s*:\s*0(?:\.0*)?(?![.\d])|(?<![\w-])color\s*:\s*transparent"
    r"|clip-path\s*:\s*inset\(\s*(?:50|100)%",
    re.IGNORECASE,
)
_WHITE: Final = (
    r"(?:white\b|#fff(?:fff)?\b|rgba?\(\s*25[45]\s*[, ]\s*25[45]\s*[, ]\s*25[45]\b"
    r"|rgba?\(\s*100%\s*[, ]\s*100%\s*[, ]\s*100%)"
)
_WHITE_MARKS: Final = ("white", "#fff", "rgb(", "rgba(")
_WHITE_WORDS: Final = re.compile(rf"(?<![\w-])color\s*:\s*{_WHITE}", re.IGNORECASE)
_WHITE_FONT: Final = re.compile(r"white|#?fff(?:fff)?", re.IGNORECASE)
_GROUND: Final = re.compile(
    rf"(?<![\w-])background(?:-color|-image)?\s*:\s*(?!\s|{_WHITE}|none|transparent|inherit|initial)",
    re.IGNORECASE,
)
_SIMPLE_SELECTOR: Final = re.compile(r"[a-z][a-z0-9]*|[a-z0-9]*[.#][\w-]+", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r'([^\s="]+)(?:="([^"]*)")?')
_CLASS_OR_ID: Final = re.compile(r'(?:class|id)="([^"]*)"')
_OUTER_SHEET: Final = re.compile(r"<link\b[^>]*\bstylesheet\b|@import\b", re.IGNORECASE)


def attributes(text: str) -> dict[str, str]:
    """The attributes of a canonical tag, entities undone."""
    found: dict[str, str] = dict(_ATTRIBUTE.findall(text))
    return {name: unescape(value) for name, value in found.items()} if "&" in text else found


class Sheet:
    """The page's own style sheets, as far as their selectors are simple."""

    def __init__(self, page: str) -> None:
        self._hidden: set[str] = set()
        self._white: set[str] = set()
        self.grounds: set[str] = set()
        # Whether anything on the page may be white at all.
        lower = page.lower()
        self.whitens = any(mark in lower for mark in _WHITE_MARKS) and bool(
            re.search(rf"color\s*[:=]\s*[\"']?{_WHITE}", lower)
        )
        self.others = _OUTER_SHEET.search(page) is not None
        styled = page[: lower.rfind("</style>") + len("</style>")]  # behind it none ends
        for sheet in re.findall(r"<style\b[^>]*>(.*?)</style>", styled, re.IGNORECASE | re.DOTALL):
            for selectors, rules in _plain_rules(sheet):
                self._take(selectors, rules)

    def _take(self, selectors: str, rules: str) -> None:
        simple = [part.strip() for part in selectors.split(",")]
        simple = [part for part in simple if _SIMPLE_SELECTOR.fullmatch(part)]
        if _HIDING.search(rules):
            self._hidden.update(simple)
        elif _GROUND.search(rules):
            self.grounds.update(simple)
        elif _WHITE_WORDS.search(rules):
            self._white.update(simple)

    def verdict(self, tag: str, attrs: str, *, navigation: bool) -> int:
        """`SHOWN`, `DROPPED` or `WHITE`; `navigation` keeps navigation."""
        if tag in _NEVER or (tag == "nav" and not navigation):
            return DROPPED
        if not (self._hidden or self._white or _may_tell(attrs)):
            return SHOWN
        given = attributes(attrs)
        names = set(given.get("class", "").split())
        if self._is_hidden(tag, given, names):
            return DROPPED
        if not navigation and tag not in _CONTENT and _is_navigation(given, names):
            return DROPPED
        return WHITE if self._is_white(tag, given, names) else SHOWN

    def _is_hidden(self, tag: str, given: dict[str, str], names: set[str]) -> bool:
        if "hidden" in given or given.get("aria-hidden") == "true":
            return True
        if _HIDING.search(given.get("style", "")):
            return True
        return bool(self._hidden) and not self._hidden.isdisjoint(selectors(tag, given, names))

    def _is_white(self, tag: str, given: dict[str, str], names: set[str]) -> bool:
        style = given.get("style", "")
        if tag == "font" and _WHITE_FONT.fullmatch(given.get("color", "").strip()):
            return True
        return (_WHITE_WORDS.search(style) is not None and not _GROUND.search(style)) or (
            bool(self._white) and not self._white.isdisjoint(selectors(tag, given, names))
        )


def _may_tell(attrs: str) -> bool:
    """Whether attributes may hide an element or make it navigation; most say nothing of it."""
    if "hidden" in attrs or "style=" in attrs or "role=" in attrs or "color=" in attrs:
        return True
    for value in _CLASS_OR_ID.findall(attrs):
        names = value.split()
        if "local" in names or not _NAVIGATION_NAMES.isdisjoint(names):
            return True
    return False


def has_ground(tag: str, attrs: str, sheet: Sheet) -> bool:
    """Whether an element gives, or may give, a background that white words are seen on."""
    given = attributes(attrs)
    if given.get("bgcolor") or given.get("background") or _GROUND.search(given.get("style", "")):
        return not _WHITE_FONT.fullmatch(given.get("bgcolor", "-"))
    if sheet.others and ("class" in given or "id" in given):
        return True
    names = set(given.get("class", "").split())
    return bool(sheet.grounds) and not sheet.grounds.isdisjoint(selectors(tag, given, names))


def selectors(tag: str, given: dict[str, str], names: set[str]) -> set[str]:
    """The simple selectors that an element matches."""
    found = {tag, *(f".{name}" for name in names), *(f"{tag}.{name}" for name in names)}
    if identity := given.get("id"):
        found |= {f"#{identity}", f"{tag}#{identity}"}
    return found


def _is_navigation(given: dict[str, str], names: set[str]) -> bool:
    return (
        given.get("role", "") in _NAVIGATION_ROLES
        or given.get("id") in _NAVIGATION_NAMES
        or not names.isdisjoint(_NAVIGATION_NAMES)
        or {"contents", "local"} <= names
    )


def _plain_rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Selectors and declarations of the rules that hold always, not inside of an `@` block."""
    depth = start = inside = 0
    selectors_ = ""
    for brace in re.finditer(r"[{}]", sheet):
        if brace[0] == "{":
            if depth == 0:
                selectors_, inside = sheet[start : brace.start()].rpartition(";")[2], brace.end()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                if not selectors_.lstrip().startswith("@"):
                    yield selectors_, sheet[inside : brace.start()]
                start = brace.end()
