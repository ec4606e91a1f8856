"""HTML: the text a reader of the page sees, without navigation, with its structure.

Resiliparse parses as a browser does and writes the tree out again; that canonical text is walked
token by token, which is many times faster than asking for nodes (its own text extraction lost short
lists with `main_content`, and keeps no headings). Headings become locators, lists and table rows
lines, code blocks stay as they are.
"""

import re
from dataclasses import dataclass, field
from html import escape, unescape
from typing import Final

from resiliparse.parse.html import HTMLTree

from activities.ingest.document import Extracted
from activities.ingest.front_matter import iso_date
from activities.ingest.html_tags import Tag, Tags
from activities.ingest.html_writer import TextWriter
from activities.ingest.styles import Effect
from activities.ingest.visibility import Sheet
from workflows.logic.stop_words import word_list

_TAGS: Final = re.compile(r"(</?[a-zA-Z][^>]*>)")
_INLINE: Final = re.compile(
    r"<(?:span|code|em|strong|b|i|tt|var|cite|kbd|samp|abbr|small|big|u|font|mark|time|dfn|ins)"
    r"(?=[\s>])[^>]*>"
)
# A button counts by what it stands in.
_KEPT_WHOLE: Final = re.compile(r"<button\b")
# Comments, and elements whose content is no markup: what looks like a tag in it is none.
_RAW: Final = re.compile(
    r"<!--.*?-->|<(script|style|xmp|iframe|noembed|noframes|plaintext)(?=[\s>])([^>]*)>(.*?)</\1>",
    re.DOTALL,
)
_SHOWN_RAW: Final = frozenset({"xmp", "plaintext"})
# What stands between the two parts of a formula that a browser sets above, below or beside.
_FORMULA: Final = {"mfrac": "/", "msup": "^", "msub": "_"}
_RUNNING_TEXT: Final = frozenset(word_list("p li td dd span em strong b i q"))
_DATES: Final = (
    "article:modified_time",
    "last-modified",
    "dcterms.modified",
    "article:published_time",
    "dcterms.date",
    "dc.date",
    "date",
)
# A word of each of these names: most pages give no date, and asking for elements takes long.
_SAYS_DATE: Final = re.compile("date|modified|published", re.IGNORECASE)
_LEAST_KEPT = 0.02
_LEAST_TEXT = 200


def read_html(text: str) -> Extracted:
    """Extract the visible text of a page.

    Where leaving out navigation would leave nothing, as on a page that is one list of links, it
    is kept.
    """
    page, title, date = _parsed(text)
    sheet = Sheet(text)
    writer = _Walk(page, sheet, navigation=False).written()
    if len(writer.text) < _LEAST_KEPT * len(text):
        whole = _Walk(page, sheet, navigation=True).written()
        if len(writer.text) < _LEAST_TEXT and len(writer.text) * 5 < len(whole.text):
            writer = whole
    return Extracted(
        text=writer.text,
        title=title or next((heading.title for heading in writer.headings), ""),
        headings=writer.headings,
        links=writer.links,
        date=date,
    )


def _parsed(text: str) -> tuple[str, str, str]:
    """The canonical text of a page's body, its title and date; the tree, which is large, goes."""
    tree = HTMLTree.parse(text)
    page = tree.body.html if tree.body is not None else ""
    return page, " ".join((tree.title or "").split()), _date(tree)


@dataclass(frozen=True)
class _Veil:
    """What an element and those around it say of its words."""

    passed_on: dict[str, Effect] = field(default_factory=dict[str, Effect])
    ground: bool = False

    def inside(self, tag: Tag) -> "_Veil":
        return _Veil({**self.passed_on, **tag.passed_on}, self.ground or tag.ground)

    @property
    def shows(self) -> bool:
        said = self.passed_on.values()
        return Effect.HIDES not in said and (self.ground or Effect.WHITENS not in said)


class _Walk:
    """One walk over the canonical text of a page; every element in it is closed in order."""

    def __init__(self, page: str, sheet: Sheet, *, navigation: bool) -> None:
        self._writer = TextWriter()
        self._open: list[Tag] = []
        # What the open elements pass on to their words, and whether these are seen.
        self._veils: list[_Veil] = []
        self._seen = True
        self._tags = Tags(sheet, navigation=navigation)
        page = _RAW.sub(_without_markup, page)
        # Text and tags by turns: text, tag, text, ..., text.
        self._parts = _TAGS.split(self._without_inert(page))

    def written(self) -> TextWriter:
        parts, known, last = self._parts, self._tags.known, len(self._parts) - 1
        write, place = self._writer.write, 0
        while True:
            if (text := parts[place]) and self._seen:
                write(unescape(text) if "&" in text else text)
            if place == last:
                break
            written = parts[place + 1]
            tag = known.get(written) or self._tags.learnt(written)
            place += 2
            if tag.ends:
                self._leave(tag, place)
            else:
                place = self._enter(tag, place)
        self._writer.close()
        return self._writer

    def _without_inert(self, page: str) -> str:
        """The page without the tags that change nothing, such as those of coloured code.

        A kind of tag goes when every one of its kind on the page is shown and says nothing; most
        tags of a page of documentation do, and words between them are then written at once.
        """
        if _KEPT_WHOLE.search(page):
            return page
        kinds: dict[str, bool] = {}
        for written in set(_INLINE.findall(page)):
            tag = self._tags.learnt(written)
            kinds[tag.name] = kinds.get(tag.name, True) and tag.inert
        inert = sorted(name for name, always in kinds.items() if always)
        return re.sub(rf"</?(?:{'|'.join(inert)})(?=[\s>])[^>]*>", "", page) if inert else page

    def _enter(self, tag: Tag, place: int) -> int:
        """Begin an element; gives the place to go on at: behind it if it is left out."""
        if tag.dropped:
            return place if tag.void else self._behind(tag.name, place)
        if tag.name == "button" and self._is_control():
            return self._behind(tag.name, place)
        writer = self._writer
        if tag.block:
            writer.line()
        if tag.enter:
            tag.enter(writer)
        if tag.void:
            if tag.name == "img" and self._seen:
                _image(writer, tag.alt)
            return place
        if tag.link:
            writer.link(entering=True)
        self._open.append(tag)
        if tag.veils:
            self._veils.append((self._veils[-1] if self._veils else _Veil()).inside(tag))
            self._seen = self._veils[-1].shows
        return place

    def _is_control(self) -> bool:
        """A button in running text is a word of it; elsewhere it is a control of the page."""
        return not (self._open and self._open[-1].name in _RUNNING_TEXT)

    def _leave(self, end: Tag, place: int) -> None:
        opened, name = self._open, end.name
        if not opened or (opened[-1].name != name and all(tag.name != name for tag in opened)):
            return
        while opened:
            tag = opened.pop()
            if tag.veils:
                self._veils.pop()
                self._seen = not self._veils or self._veils[-1].shows
            if tag.block:
                self._writer.line()
            if tag.leave:
                tag.leave(self._writer)
            if tag.link:
                self._writer.link(entering=False)
            if tag.name == name:
                break
        formula = self._seen and opened and opened[-1].name in _FORMULA
        if formula and not self._ends_at(place):
            self._writer.write(_FORMULA[opened[-1].name])

    def _ends_at(self, place: int) -> bool:
        """Whether the next thing on the page is the end of an element."""
        parts = self._parts
        return not parts[place] and place + 1 < len(parts) and parts[place + 1].startswith("</")

    def _behind(self, name: str, place: int) -> int:
        """Where an element that is left out ends."""
        edge = re.compile(rf"<(/?){re.escape(name)}(?=[\s>])")
        depth = 1
        for index in range(place + 1, len(self._parts), 2):
            if match := edge.match(self._parts[index]):
                depth += -1 if match[1] else 1
                if not depth:
                    return index + 1
        return len(self._parts) - 1


def _without_markup(match: re.Match[str]) -> str:
    """A comment or an element without markup: nothing, but for what a browser shows of it."""
    name, attrs, content = match.groups()
    if name is None or name not in _SHOWN_RAW:
        return ""
    return f"<{name}{attrs}>{escape(content, quote=False)}</{name}>"


def _image(writer: TextWriter, alt: str) -> None:
    # The icon of a note stands in brackets and repeats the word beside it.
    if alt and not (alt.startswith("[") and alt.endswith("]")):
        writer.write(f" {alt} ")
    else:
        writer.icon()


def _date(tree: HTMLTree) -> str:
    """ISO date that the page's meta elements give, "" if none does."""
    head = tree.head
    if head is None or not _SAYS_DATE.search(head.html):
        return ""
    dates: dict[str, str] = {}
    for meta in head.query_selector_all("meta"):
        name = (meta.getattr("name") or meta.getattr("property") or "").lower()
        if name in _DATES and (date := iso_date(meta.getattr("content") or "")):
            dates.setdefault(name, date)
    return next((dates[name] for name in _DATES if name in dates), "")
