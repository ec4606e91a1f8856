"""Markdown and plain text: the text as it is written, with its headings and links.

Quotes stay verbatim, so marks are kept; only HTML comments, which no reader of a page sees, are
taken out.
"""

import re

from activities.ingest.comments import Comments, comments
from activities.ingest.document import Extracted, Heading
from activities.ingest.front_matter import front_matter

# A line that may be more than plain words; the line end before it is found fast.
_MARKED = re.compile(r"\n(?= {0,3}[`~#=-])")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_NOT_A_TITLE = re.compile(r"\s{4}|\s*(?:[-*+>|]|\d+[.)])\s|\s*$")
# Nothing here may start over at each of a million brackets: a class stops at the next opening one.
# Each way to begin is written out, so that the places in between are passed over fast.
_LINK = re.compile(
    r"\[([^\[\]\n]*)\]\([^()\n]*\)|!\[([^\[\]\n]*)\]\([^()\n]*\)|<https?://[^<>\s]+>"
)
_BESIDE = 200  # blanks that are looked at
_UNDERLINE = re.compile(r"\n(([=\-~^\"*+#])\2{2,}[ \t]*)(?=\n|\Z)")


def read_markdown(text: str) -> Extracted:
    """Extract Markdown: front matter, ATX and setext headings outside of code fences."""
    head = front_matter(text)
    shown = text[head.body :]
    found = comments(shown)
    if found.open_line:
        line = found.open_line + text.count("\n", 0, head.body)
        head.problems.append(
            f"line {line} begins a comment that never ends: what follows is not shown, and left out"
        )
    body = _without_comments(shown, found)
    headings = _headings(body)
    top = min((h.level for h in headings), default=0)
    title = head.title or next((h.title for h in headings if h.level == top), "")
    return Extracted(
        text=body,
        title=title,
        headings=headings,
        links=[match.span() for match in _LINK.finditer(body)],
        topics=head.topics,
        date=head.date,
        problem="; ".join(head.problems),
    )


def _without_comments(text: str, found: Comments) -> str:
    """Without comments; one inside a line parts it, so that no quote spans it."""
    parts: list[str] = []
    place = 0
    for start, end in found.ranges:
        before, after = _blank_before(text, start), _blank_after(text, end)
        parts += [text[place:start], "" if before and after else "\n\n"]
        place = end
    return "".join([*parts, text[place:]])


def _blank_before(text: str, place: int) -> bool:
    return text[max(0, place - _BESIDE) : place].rstrip(" \t")[-1:] in ("", "\n")


def _blank_after(text: str, place: int) -> bool:
    return text[place : place + _BESIDE].lstrip(" \t")[:1] in ("", "\n")


def read_text(text: str) -> Extracted:
    """Extract plain text; a line underlined over its whole length is a heading."""
    headings: list[Heading] = []
    levels: list[str] = []
    for mark in _UNDERLINE.finditer(text):
        start, title = _line_before(text, mark.start())
        words = title.strip()
        blank = not _line_before(text, start - 1)[1].strip()
        if words and blank and len(mark[1].rstrip()) >= len(words):
            if mark[2] not in levels:
                levels.append(mark[2])
            headings.append(Heading(start, levels.index(mark[2]) + 1, words[:200]))
    return Extracted(text=text, title=headings[0].title if headings else "", headings=headings)


def _line_before(text: str, end: int) -> tuple[int, str]:
    """The line that ends at a place: where it begins, and what it says."""
    start = text.rfind("\n", 0, max(0, end)) + 1
    return start, text[start : max(0, end)]


def _headings(body: str) -> list[Heading]:
    found: list[Heading] = []
    fence = ""
    end_of_fence = -1
    for match in _MARKED.finditer("\n" + body):
        start = match.start()  # the line end that was put before moves every place by one
        end = body.find("\n", start)
        line = body[start:] if end < 0 else body[start:end]
        mark = _FENCE.match(line)
        if fence:
            # A fence closes with at least as many of its marks.
            if mark and mark[1].startswith(fence):
                fence, end_of_fence = "", start + len(line) + 1
        elif mark:
            fence = mark[1]
        elif atx := _ATX.match(line):
            found.append(Heading(start, len(atx[1]), _plain(atx[2] or "")))
        elif setext := _SETEXT.match(line):
            before, title = _line_before(body, start - 1)
            if start not in (0, end_of_fence) and not _NOT_A_TITLE.match(title):
                found.append(Heading(before, 1 if "=" in setext[1] else 2, _plain(title)))
    return [h for h in found if h.title]


def _plain(title: str) -> str:
    title = _LINK.sub(lambda m: m[1] or m[2] or "", title)
    return " ".join(re.sub(r"[`*]|\s\{#[\w-]+\}\s*$", "", title).split())[:200]
