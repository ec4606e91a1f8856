"""Markdown and plain text: the text as it is written, with its headings and links.

Quotes stay verbatim, so marks are kept; only HTML comments, which no reader of a page sees, are
taken out.
"""

import re

from activities.ingest.comments import Comments, comments
from activities.ingest.document import Extracted, Heading
from activities.ingest.front_matter import front_matter

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_NOT_A_TITLE = re.compile(r"\s{4}|\s*(?:[-*+>|]|\d+[.)])\s|\s*$")
# Nothing here may start over at each of a million brackets: a class stops at the next opening one.
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)|<https?://[^<>\s]+>")
_BESIDE = 200  # blanks that are looked at
_UNDERLINE = re.compile(r"([=\-~^\"*+#])\1{2,}[ \t]*$")


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
    lines = ["", "", *text.split("\n")]
    start = previous_start = 0
    for before, title, line in zip(lines, lines[1:], lines[2:], strict=False):
        mark = _UNDERLINE.match(line)
        words = title.strip()
        if mark and words and not before.strip() and len(line.rstrip()) >= len(words):
            if mark[1] not in levels:
                levels.append(mark[1])
            headings.append(Heading(previous_start, levels.index(mark[1]) + 1, words[:200]))
        previous_start = start
        start += len(line) + 1
    return Extracted(text=text, title=headings[0].title if headings else "", headings=headings)


def _headings(body: str) -> list[Heading]:
    found: list[Heading] = []
    fence = ""
    previous, previous_start, start = "", 0, 0
    for line in body.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            # A fence closes with at least as many of its marks.
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        elif atx := _ATX.match(line):
            found.append(Heading(start, len(atx[1]), _plain(atx[2] or "")))
        elif (setext := _SETEXT.match(line)) and not _NOT_A_TITLE.match(previous):
            found.append(Heading(previous_start, 1 if "=" in setext[1] else 2, _plain(previous)))
        previous, previous_start = ("" if fence or mark else line), start
        start += len(line) + 1
    return [h for h in found if h.title]


def _plain(title: str) -> str:
    title = _LINK.sub(lambda m: m[1] or "", title)
    return " ".join(re.sub(r"[`*]|\s\{#[\w-]+\}\s*$", "", title).split())[:200]
