"""HTML: the text a reader of the page sees, without navigation, with its structure.

Resiliparse parses (its own text extraction lost short lists with `main_content`, and keeps no
headings); the walk over the tree is ours. Headings become locators, lists and table rows lines,
code blocks stay as they are. Left out: scripts, styles, forms' controls, what is hidden, and what
declares itself navigation by tag, role or the usual class names.
"""

import re
from collections.abc import Iterator
from typing import Final

from resiliparse.parse.html import TEXT, ElementNode, HTMLTree, Node

from activities.ingest.document import Extracted
from activities.ingest.front_matter import iso_date
from activities.ingest.html_writer import TextWriter
from workflows.logic.stop_words import word_list

_NEVER: Final = frozenset(
    word_list("""
    script style noscript template svg iframe object embed canvas audio video head title meta link
    input select option datalist textarea map dialog del s strike rt rp annotation annotation-xml
    """)
)
# A button in running text is a word of it; elsewhere it is a control of the page.
_RUNNING_TEXT: Final = frozenset(word_list("p li td dd span em strong b i q"))
_NAVIGATION_ROLES: Final = frozenset({"navigation", "search", "contentinfo", "menu", "menubar"})
_NAVIGATION_NAMES: Final = frozenset(
    word_list("""
    headerlink navheader navfooter toc table-of-contents sphinxsidebar breadcrumb breadcrumbs
    skip-link skip-to-content skiplink navbar navigation mobile-nav menu-wrapper footer site-footer
    page-footer sr-only visually-hidden mw-editsection navbox searchbox
    """)
)
_HIDING: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?![.\d])"
    r"|opacity\s*:\s*0(?:\.0*)?(?![.\d])|(?<![\w-])color\s*:\s*transparent"
    r"|clip-path\s*:\s*inset\(\s*(?:50|100)%",
    re.IGNORECASE,
)
_BLOCK_STYLE: Final = re.compile(
    r"display\s*:\s*(?:block|flex|grid|table|list-item)", re.IGNORECASE
)
_SIMPLE_SELECTOR: Final = re.compile(r"[a-z][a-z0-9]*|[a-z0-9]*[.#][\w-]+", re.IGNORECASE)
# What stands between the two parts of a formula that a browser sets above, below or beside.
_FORMULA: Final = {"mfrac": "/", "msup": "^", "msub": "_"}

_HEADINGS: Final = {f"h{n}": n for n in range(1, 7)}
_PARAGRAPHS: Final = frozenset(
    word_list("""
    p div section article main header footer aside ul ol dl table blockquote figure form fieldset
    address details hr pre center body h1 h2 h3 h4 h5 h6
    """)
)
_LINES: Final = frozenset(word_list("br caption figcaption summary legend thead tbody"))
_ITEMS: Final = {"li": "- ", "dt": "", "dd": ""}
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


def read_html(text: str) -> Extracted:
    """Extract the visible text of a page.

    Where leaving out navigation would leave nothing, as on a page that is one list of links, it
    is kept.
    """
    tree = HTMLTree.parse(text)
    root = tree.body
    hidden = _hidden_selectors(text)
    writer = _written(root, hidden, navigation=False)
    if len(writer.text) < _LEAST_KEPT * len(text):
        whole = _written(root, hidden, navigation=True)
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


def _written(root: ElementNode | None, hidden: frozenset[str], *, navigation: bool) -> TextWriter:
    writer = TextWriter()
    if root is not None:
        for node, entering in _walk(root, hidden, navigation=navigation):
            if node.type == TEXT:
                writer.write(node.value or "")
            elif isinstance(node, ElementNode):
                _inline(writer, node.tag or "", node, entering=entering)
                _mark(writer, node.tag or "", node, entering=entering)
        writer.close()
    return writer


def _walk(
    root: ElementNode, hidden: frozenset[str], *, navigation: bool
) -> Iterator[tuple[Node, bool]]:
    """Texts once, elements when entered and when left; no recursion: pages nest deeply."""
    stack: list[tuple[Node, bool]] = [(root, True)]
    while stack:
        node, entering = stack.pop()
        if not entering:
            yield node, False
            continue
        if node is not root and (sibling := node.next) is not None:
            stack.append((sibling, True))
        if node.type == TEXT:
            yield node, True
        elif isinstance(node, ElementNode) and not _left_out(node, hidden, navigation=navigation):
            yield node, True
            stack.append((node, False))
            if (child := node.first_child) is not None:
                stack.append((child, True))


def _left_out(node: ElementNode, hidden: frozenset[str], *, navigation: bool) -> bool:
    tag = node.tag or ""
    if tag in _NEVER or (tag == "nav" and not navigation):
        return True
    if tag == "button" and (node.parent is None or node.parent.tag not in _RUNNING_TEXT):
        return True
    if not node.attrs:
        return False
    names = set((node.getattr("class") or "").split())
    if _is_hidden(node, names, hidden):
        return True
    if navigation or tag in {"body", "main", "article"}:
        return False
    return (
        (node.getattr("role") or "") in _NAVIGATION_ROLES
        or node.getattr("id") in _NAVIGATION_NAMES
        or not names.isdisjoint(_NAVIGATION_NAMES)
        or {"contents", "local"} <= names
    )


def _is_hidden(node: ElementNode, names: set[str], hidden: frozenset[str]) -> bool:
    if node.hasattr("hidden") or node.getattr("aria-hidden") == "true":
        return True
    if _HIDING.search(node.getattr("style") or ""):
        return True
    if not hidden:
        return False
    tag, ids = node.tag or "", node.getattr("id")
    simple = {tag, f"#{ids}", f"{tag}#{ids}", *(f".{name}" for name in names)}
    return not hidden.isdisjoint(simple | {f"{tag}.{name}" for name in names})


def _mark(writer: TextWriter, tag: str, node: ElementNode, *, entering: bool) -> None:
    """Tell the writer where an element begins or ends."""
    if tag in _HEADINGS:
        writer.heading(_HEADINGS[tag], entering=entering)
    elif tag == "pre":
        writer.preformatted(entering=entering)
    elif tag in _PARAGRAPHS:
        writer.paragraph()
    elif tag in {"td", "th"}:
        writer.cell(entering=entering)
    elif tag == "tr":
        writer.row()
    elif tag in _ITEMS:
        writer.item(_ITEMS[tag], entering=entering)
    elif tag in _LINES:
        writer.line()
    elif tag == "a" and node.hasattr("href"):
        writer.link(entering=entering)
    elif tag == "img" and entering:
        _image(writer, (node.getattr("alt") or "").strip())


def _inline(writer: TextWriter, tag: str, node: ElementNode, *, entering: bool) -> None:
    """What a reader sees beside the words: raised digits, formulas, spans that are blocks."""
    if tag in {"sup", "sub"}:
        writer.script(tag, entering=entering)
    elif node.attrs and tag not in _PARAGRAPHS and _BLOCK_STYLE.search(node.getattr("style") or ""):
        writer.line()
    parent = node.parent
    if not entering and parent is not None and parent.tag in _FORMULA and node.next is not None:
        writer.write(_FORMULA[parent.tag])


def _image(writer: TextWriter, alt: str) -> None:
    # The icon of a note stands in brackets and repeats the word beside it.
    if alt and not (alt.startswith("[") and alt.endswith("]")):
        writer.write(f" {alt} ")
    else:
        writer.icon()


def _hidden_selectors(text: str) -> frozenset[str]:
    """Classes and ids that the page's own style sheets hide, where the selector is that simple."""
    found: set[str] = set()
    styled = text[: text.lower().rfind("</style>") + len("</style>")]  # behind it no sheet ends
    for sheet in re.findall(r"<style\b[^>]*>(.*?)</style>", styled, re.IGNORECASE | re.DOTALL):
        for selectors, rules in _plain_rules(sheet):
            if _HIDING.search(rules):
                parts = (part.strip() for part in selectors.split(","))
                found.update(part for part in parts if _SIMPLE_SELECTOR.fullmatch(part))
    return frozenset(found)


def _plain_rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Selectors and declarations of the rules that hold always, not inside of an `@` block."""
    depth = start = inside = 0
    selectors = ""
    for brace in re.finditer(r"[{}]", sheet):
        if brace[0] == "{":
            if depth == 0:
                selectors, inside = sheet[start : brace.start()].rpartition(";")[2], brace.end()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                if not selectors.lstrip().startswith("@"):
                    yield selectors, sheet[inside : brace.start()]
                start = brace.end()


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
