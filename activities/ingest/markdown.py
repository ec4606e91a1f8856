"""Markdown and plain text: the text as it is written, with its headings and links.

Quotes stay verbatim, so marks are kept; only HTML comments, which no reader of a page sees, are
taken out.
"""

import re

from activities.ingest.document import Extracted, Heading
from activities.ingest.front_matter import front_matter

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_NOT_A_TITLE = re.compile(r"\s{4}|\s*(?:[-*+>|]|\d+[.)])\s|\s*$")
# Nothing here may start over at each of a million brackets: a class stops at the next opening one.
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)|<https?://[^<>\s]+>")
_HIDDEN = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,}).*?(?:^ {0,3}(?P=fence)|\Z)|`[^`\n]+`|(?P<comment><!--.*?-->)",
    re.DOTALL | re.MULTILINE,
)
_BEHIND = 200
_UNDERLINE = re.compile(r"([=\-~^\"*+#])\1{2,}[ \t]*$")


def read_markdown(text: str) -> Extracted:
    """Extract Markdown: front matter, ATX and setext headings outside of code fences."""
    head = front_matter(text)
    body = _without_comments(text[head.body :])
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


def _without_comments(text: str) -> str:
    """Without HTML comments outside of code; one inside a line parts it, so no quote spans it."""
    last = text.rfind("-->")
    if last < 0:
        return text
    # Far behind it no comment ends, so none is looked for; code around it may end a little later.
    shown, rest = text[: last + _BEHIND], text[last + _BEHIND :]

    def seen(match: re.Match[str]) -> str:
        if not match["comment"]:
            return match[0]
        before = shown[max(0, match.start() - 200) : match.start()].rstrip(" \t")
        alone = before[-1:] in ("", "\n")
        alone = alone and shown[match.end() : match.end() + 200].lstrip(" \t")[:1] in ("", "\n")
        return "" if alone else "\n\n"

    return _HIDDEN.sub(seen, shown) + rest


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
