"""HTML: the text a reader of the page sees, without navigation, with its structure.

Resiliparse parses as a browser does and writes the tree out again; that canonical text is walked
token by token, which is many times faster than asking for nodes (its own text extraction lost short
lists with `main_content`, and keeps no headings). Headings become locators, lists and table rows
lines, code blocks stay as they are.
"""

import re
from collections.abc import Callable
from html import unescape
from typing import Final, NamedTuple

from resiliparse.parse.html import HTMLTree

from activities.ingest.document import Extracted
from activities.ingest.front_matter import iso_date
from activities.ingest.html_writer import TextWriter
from activities.ingest.visibility import DROPPED, SHOWN, Sheet, attributes, has_ground
from workflows.logic.stop_words import word_list

_TOKEN: Final = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)([^>]*)>|<!--.*?-->|([^<]+)|<", re.DOTALL)
_TAG_GROUPS = 3
_TEXT_GROUP = 4
_VOID: Final = frozenset(
    word_list(
        "area base basefont bgsound br col embed frame hr img input keygen link meta param source"
        " track wbr"
    )
)
_INLINE: Final = re.compile(
    r"<(span|code|em|strong|b|i|tt|var|cite|kbd|samp|abbr|small|big|u|font|mark|time|dfn|ins)"
    r"(?=[\s>])([^>]*)>"
)
# A button counts by what it stands in, and these two hold text that only looks like tags.
_KEPT_WHOLE: Final = re.compile(r"<(?:button|xmp|plaintext)\b")
# Their content is no markup, so that what looks like a tag in it is none.
_RAW: Final = "script|style|xmp|iframe|noembed|noframes|plaintext"
_BLOCK_STYLE: Final = re.compile(
    r"display\s*:\s*(?:block|flex|grid|table|list-item)", re.IGNORECASE
)
# What stands between the two parts of a formula that a browser sets above, below or beside.
_FORMULA: Final = {"mfrac": "/", "msup": "^", "msub": "_"}
_RUNNING_TEXT: Final = frozenset(word_list("p li td dd span em strong b i q"))
_PARAGRAPHS: Final = frozenset(
    word_list("""
    p div section article main header footer aside ul ol dl table blockquote figure form fieldset
    address details hr center body
    """)
)
_LINES: Final = frozenset(word_list("br caption figcaption summary legend thead tbody"))
_DATES: Final = (
    "article:modified_time",
    "last-modified",
    "dcterms.modified",
    "article:published_time",
    "dcterms.date",
    "dc.date",
    "date",
)
_LEAST_KEPT = 0.02
_LEAST_TEXT = 200

_Mark = Callable[[TextWriter], None]


def _marks() -> tuple[dict[str, _Mark], dict[str, _Mark]]:
    """What the writer is told where an element begins, and where it ends."""
    enter: dict[str, _Mark] = {}
    leave: dict[str, _Mark] = {}
    for tag in _PARAGRAPHS:
        enter[tag] = leave[tag] = TextWriter.paragraph
    for tag in _LINES:
        enter[tag] = leave[tag] = TextWriter.line
    for level in range(1, 7):
        enter[f"h{level}"] = lambda w, n=level: w.heading(n, entering=True)
        leave[f"h{level}"] = lambda w, n=level: w.heading(n, entering=False)
    for tag in ("td", "th"):
        enter[tag] = lambda w: w.cell(entering=True)
        leave[tag] = lambda w: w.cell(entering=False)
    for tag, mark in (("li", "- "), ("dt", ""), ("dd", "")):
        enter[tag] = lambda w, m=mark: w.item(m, entering=True)
        leave[tag] = lambda w, m=mark: w.item(m, entering=False)
    for tag in ("sup", "sub"):
        enter[tag] = lambda w, t=tag: w.script(t, entering=True)
        leave[tag] = lambda w, t=tag: w.script(t, entering=False)
    enter["tr"] = leave["tr"] = TextWriter.row
    enter["pre"] = lambda w: w.preformatted(entering=True)
    leave["pre"] = lambda w: w.preformatted(entering=False)
    return enter, leave


_ENTER, _LEAVE = _marks()


def read_html(text: str) -> Extracted:
    """Extract the visible text of a page.

    Where leaving out navigation would leave nothing, as on a page that is one list of links, it
    is kept.
    """
    tree = HTMLTree.parse(text)
    page = tree.body.html if tree.body is not None else ""
    sheet = Sheet(text)
    writer = _Walk(page, sheet, navigation=False).written()
    if len(writer.text) < _LEAST_KEPT * len(text):
        whole = _Walk(page, sheet, navigation=True).written()
        if len(writer.text) < _LEAST_TEXT and len(writer.text) * 5 < len(whole.text):
            writer = whole
    title = " ".join((tree.title or "").split()) or next(
        (heading.title for heading in writer.headings), ""
    )
    return Extracted(
        text=writer.text,
        title=title,
        headings=writer.headings,
        links=writer.links,
        date=_date(tree),
    )


class _Element(NamedTuple):
    """What a tag with its attributes means; pages repeat most of them many times."""

    verdict: int
    link: bool = False
    block: bool = False  # its style makes it a block
    ground: bool = False  # it gives, or may give, a background


_INERT: Final = _Element(SHOWN)


class _Walk:
    """One walk over the canonical text of a page; every element in it is closed in order."""

    def __init__(self, page: str, sheet: Sheet, *, navigation: bool) -> None:
        self._sheet = sheet
        self._navigation = navigation
        self._writer = TextWriter()
        self._open: list[tuple[str, _Element]] = []
        self._grounds: list[int] = []  # depths of the elements that give a background
        self._known: dict[tuple[str, str], _Element] = {}
        self._page = self._without_inert(page)

    def written(self) -> TextWriter:
        page, match, place = self._page, _TOKEN.match, 0
        while token := match(page, place):
            place = token.end()
            if token.lastindex == _TEXT_GROUP:
                self._text(token[4])
            elif token.lastindex == _TAG_GROUPS:
                if token[1]:
                    self._leave(token[2], place)
                else:
                    place = self._enter(token[2], token[3], place)
            elif token[0] == "<":
                self._text("<")
        self._writer.close()
        return self._writer

    def _without_inert(self, page: str) -> str:
        """The page without the tags that change nothing, such as those of coloured code.

        A kind of tag goes when every one of its kind on the page is shown and says nothing; most
        tags of a page of documentation do, and words between them are then written at once.
        """
        if _KEPT_WHOLE.search(page):
            return page
        found: dict[str, set[str]] = {}
        for tag, attrs in _INLINE.findall(page):
            found.setdefault(tag, set()).add(attrs)
        inert = [
            tag
            for tag, several in found.items()
            if all(self._element(tag, attrs) == _INERT for attrs in several)
        ]
        return re.sub(rf"</?(?:{'|'.join(inert)})(?=[\s>])[^>]*>", "", page) if inert else page

    def _element(self, tag: str, attrs: str) -> _Element:
        return self._known.get((tag, attrs)) or self._learnt(tag, attrs)

    def _text(self, text: str) -> None:
        self._writer.write(unescape(text) if "&" in text else text)

    def _enter(self, tag: str, attrs: str, place: int) -> int:
        """Begin an element; gives the place to go on at: behind it if it is left out."""
        element = self._element(tag, attrs)
        verdict, link, block, ground = element
        if verdict and (verdict == DROPPED or not self._grounds):
            return place if tag in _VOID else self._behind(tag, place)
        if tag == "button" and self._is_control():
            return self._behind(tag, place)
        writer = self._writer
        if block:
            writer.line()
        if mark := _ENTER.get(tag):
            mark(writer)
        if tag in _VOID:
            if tag == "img":
                _image(writer, attributes(attrs).get("alt", "").strip())
            return place
        if link:
            writer.link(entering=True)
        self._open.append((tag, element))
        if ground:
            self._grounds.append(len(self._open))
        return place

    def _learnt(self, tag: str, attrs: str) -> _Element:
        element = _Element(self._sheet.verdict(tag, attrs, navigation=self._navigation))
        if attrs and element.verdict != DROPPED:
            element = _Element(
                verdict=element.verdict,
                link=tag == "a" and " href=" in attrs,
                block="style=" in attrs
                and tag not in _PARAGRAPHS
                and bool(_BLOCK_STYLE.search(attrs)),
                ground=self._sheet.whitens and has_ground(tag, attrs, self._sheet),
            )
        self._known[tag, attrs] = element
        return element

    def _is_control(self) -> bool:
        """A button in running text is a word of it; elsewhere it is a control of the page."""
        return not (self._open and self._open[-1][0] in _RUNNING_TEXT)

    def _leave(self, tag: str, place: int) -> None:
        opened = self._open
        if not opened or (opened[-1][0] != tag and all(known != tag for known, _ in opened)):
            return
        while opened:
            known, element = opened.pop()
            if element.ground:
                self._grounds.pop()
            if element.block:
                self._writer.line()
            if mark := _LEAVE.get(known):
                mark(self._writer)
            if element.link:
                self._writer.link(entering=False)
            if known == tag:
                break
        if opened and opened[-1][0] in _FORMULA and not self._page.startswith("</", place):
            self._writer.write(_FORMULA[opened[-1][0]])

    def _behind(self, tag: str, place: int) -> int:
        """Where an element that is left out ends."""
        if re.fullmatch(_RAW, tag):
            end = self._page.find(f"</{tag}>", place)
            return len(self._page) if end < 0 else end + len(tag) + len("</>")
        name = re.escape(tag)
        edge = re.compile(
            rf"<(/?){name}(?=[\s>])[^>]*>|<({_RAW})(?=[\s>])[^>]*>.*?</\2>|<!--.*?-->", re.DOTALL
        )
        depth = 1
        for match in edge.finditer(self._page, place):
            if match[1] is None:
                continue
            depth += -1 if match[1] else 1
            if not depth:
                return match.end()
        return len(self._page)


def _image(writer: TextWriter, alt: str) -> None:
    # The icon of a note stands in brackets and repeats the word beside it.
    if alt and not (alt.startswith("[") and alt.endswith("]")):
        writer.write(f" {alt} ")
    else:
        writer.icon()


def _date(tree: HTMLTree) -> str:
    """ISO date that the page's meta elements give, "" if none does."""
    head = tree.head
    if head is None:
        return ""
    dates: dict[str, str] = {}
    for meta in head.query_selector_all("meta"):
        name = (meta.getattr("name") or meta.getattr("property") or "").lower()
        if name in _DATES and (date := iso_date(meta.getattr("content") or "")):
            dates.setdefault(name, date)
    return next((dates[name] for name in _DATES if name in dates), "")
