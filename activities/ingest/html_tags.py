"""What the tags of a page mean: pages repeat most of them, so each kind is looked at once."""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from activities.ingest.html_marks import ENTER, LEAVE, PARAGRAPHS, Mark
from activities.ingest.styles import Effect
from activities.ingest.visibility import NAVIGATION_NAMES, Sheet, attributes
from workflows.logic.stop_words import word_list

_TAG: Final = re.compile(r"</?([a-zA-Z][^\s/>]*)([^>]*)>")
# What tells tags apart and says nothing of how they look: the values of links and titles, and
# names of places, where no style sheet asks for one.
_TARGET: Final = re.compile(r'(?:(?<= href)|(?<= title))="[^"]*"')
_PLACE: Final = re.compile(
    rf'(?:(?<= href)|(?<= title))="[^"]*"| (?:name|id)="(?!(?:{"|".join(NAVIGATION_NAMES)})")[^"]*"'
)
_VOID: Final = frozenset(
    word_list(
        "area base basefont bgsound br col embed frame hr img input keygen link meta param source"
        " track wbr"
    )
)
_BLOCK_STYLE: Final = re.compile(
    r"display\s*:\s*(?:block|flex|grid|table|list-item)", re.IGNORECASE
)


@dataclass(slots=True)
class Tag:
    """What a tag means; pages repeat most of them many times, but for where links lead to."""

    name: str
    ends: bool = False
    void: bool = False
    dropped: bool = False
    link: bool = False
    block: bool = False  # its style makes it a block
    ground: bool = False  # it gives, or may give, a background
    passed_on: dict[str, Effect] = field(default_factory=dict[str, Effect])
    veils: bool = False  # one of both: it says of its words whether they are seen
    enter: Mark | None = None
    leave: Mark | None = None
    alt: str = ""

    @property
    def inert(self) -> bool:
        """Whether an inline element of it changes nothing."""
        return not (self.dropped or self.link or self.block or self.veils)


# What tags mean on pages without style sheets of their own, without and with navigation.
_MEANINGS: Final[dict[bool, dict[str, Tag]]] = {False: {}, True: {}}
_MOST_MEANINGS: Final = 4096


class Tags:
    """The tags of one page; `known` are those met before, as they are written."""

    def __init__(self, sheet: Sheet, *, navigation: bool) -> None:
        self.known: dict[str, Tag] = {}
        self._sheet = sheet
        self._navigation = navigation
        self._meanings = _MEANINGS[navigation] if sheet.says_nothing else {}
        if len(self._meanings) > _MOST_MEANINGS:
            self._meanings.clear()
        self._varying = _TARGET if sheet.asks_for_ids else _PLACE

    def learnt(self, written: str) -> Tag:
        """What a tag means; tags that differ in what they link to, or are called, mean the same."""
        if written.startswith("</"):
            tag = self.known[written] = _end(written)
            return tag
        plain = self._varying.sub("", written)
        tag = self._meanings.get(plain)
        if tag is None:
            match = _TAG.match(plain)
            # The pattern that parts the page lets nothing else through.
            tag = self._meaning(match[1], match[2]) if match else Tag("")
            self._meanings[plain] = tag
        self.known[written] = tag
        return tag

    def _meaning(self, name: str, attrs: str) -> Tag:
        look = self._sheet.look(name, attrs, navigation=self._navigation)
        tag = Tag(name, void=name in _VOID, dropped=look.dropped, enter=ENTER.get(name))
        tag.leave = LEAVE.get(name)
        tag.ground, tag.passed_on = look.ground, look.passed_on
        tag.veils = tag.ground or bool(tag.passed_on)
        if attrs and not look.dropped:
            tag.link = name == "a" and " href" in attrs
            tag.block = "style=" in attrs and name not in PARAGRAPHS
            tag.block = tag.block and bool(_BLOCK_STYLE.search(attrs))
            tag.alt = attributes(attrs).get("alt", "").strip() if name == "img" else ""
        return tag


@lru_cache(maxsize=512)
def _end(written: str) -> Tag:
    """The end of an element, which means the same on every page."""
    match = _TAG.match(written)
    return Tag(match[1] if match else "", ends=True)
