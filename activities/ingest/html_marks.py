"""What the elements of a page tell the writer of its text where they begin and where they end."""

from collections.abc import Callable
from typing import Final

from activities.ingest.html_writer import TextWriter
from workflows.logic.stop_words import word_list

PARAGRAPHS: Final = frozenset(
    word_list("""
    p div section article main header footer aside ul ol dl table blockquote figure form fieldset
    address details hr center body
    """)
)
_LINES: Final = frozenset(word_list("br caption figcaption summary legend thead tbody"))

Mark = Callable[[TextWriter], None]


def _marks() -> tuple[dict[str, Mark], dict[str, Mark]]:
    """What the writer is told where an element begins, and where it ends."""
    enter: dict[str, Mark] = {}
    leave: dict[str, Mark] = {}
    for tag in PARAGRAPHS:
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


ENTER, LEAVE = _marks()
