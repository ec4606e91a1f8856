"""The head of a Markdown file: `title:`, `date:` and `topics:` between two lines of `---`.

A small, careful subset of YAML: plain and quoted scalars, inline and block lists, comments. Other
keys are passed over; what these three keys hold and can not be read is reported, not guessed.
"""

import datetime
import re
from dataclasses import dataclass, field

_HEAD = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
# A line of YAML that is not part of a value above it.
_ENTRY = re.compile(r"(?:[\w.$@-]+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*:(?=[ \t]|$)")
_OWN = re.compile(r"[^\s#\-\]})]")
_ENTRIES = 0.5
_KEY = re.compile(r"^(title|topics|date)[ \t]*:(?:[ \t]+(.*)|[ \t]*)$", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?=$|[T\s])")
_MOST_TOPICS = 50


@dataclass
class FrontMatter:
    """What the head says, where the body starts, and what could not be read."""

    body: int = 0
    title: str = ""
    date: str = ""
    topics: list[str] = field(default_factory=list[str])
    problems: list[str] = field(default_factory=list[str])


def front_matter(text: str) -> FrontMatter:
    """Read the head of a Markdown text; without one the body starts at 0."""
    match = _HEAD.match(text)
    if match is None or not _is_yaml(match[1]):
        return FrontMatter()
    found = FrontMatter(body=match.end())
    lines = match[1].split("\n")
    for number, line in enumerate(lines):
        key = _KEY.match(line)
        if key is None:
            continue
        value = _without_comment(key[2] or "")
        try:
            _take(found, key[1].lower(), value, lines[number + 1 :])
        except ValueError as error:
            found.problems.append(f"front matter, {key[1].lower()}: {error}")
    return found


def _is_yaml(head: str) -> bool:
    """Whether most lines name a key, the first of them included; else two rules stand in prose.

    A blank line behind the first rule is unusual in front matter: then a known key is needed.
    """
    lines = [line for line in head.split("\n") if _OWN.match(line)]
    if not lines or not _ENTRY.match(lines[0]):
        return False
    if not head.split("\n", 1)[0].strip() and not any(map(_KEY.match, lines)):
        return False
    return sum(_ENTRY.match(line) is not None for line in lines) > _ENTRIES * len(lines)


def iso_date(text: str) -> str:
    """The ISO date a text starts with, "" if it is none."""
    match = _DATE.match(text.strip())
    if match is None:
        return ""
    try:
        return datetime.date(int(match[1]), int(match[2]), int(match[3])).isoformat()
    except ValueError:
        return ""


def _take(found: FrontMatter, key: str, value: str, following: list[str]) -> None:
    if key == "title":
        found.title = " ".join(_scalar(value).split())
    elif key == "date":
        found.date = iso_date(_scalar(value))
        if value and not found.date:
            raise ValueError(f"expected YYYY-MM-DD, found {value[:40]!r}")
    else:
        topics = _topics(value, following)
        found.topics = list(dict.fromkeys(t for t in topics if t))[:_MOST_TOPICS]


def _topics(value: str, following: list[str]) -> list[str]:
    if value.startswith("["):
        # An inline list may go on over several lines.
        joined = value
        for line in following:
            if "]" in joined:
                break
            joined += " " + _without_comment(line.strip())
        return _inline_list(joined)
    if value:
        return [_scalar(value)]
    items: list[str] = []
    for line in following:
        stripped = line.strip()
        if stripped.startswith("- ") or stripped == "-":
            items.append(_scalar(_without_comment(stripped[1:].strip())))
        elif stripped and not stripped.startswith("#"):
            break
    return items


def _inline_list(text: str) -> list[str]:
    if not text.rstrip().endswith("]"):
        raise ValueError(f"expected a list that ends with ], found {text[:60]!r}")
    items: list[str] = []
    current, quote = "", ""
    for character in text.strip()[1:-1]:
        if quote:
            quote = "" if character == quote else quote
            current += character
        elif character in "\"'" and not current.strip():
            quote = character
            current += character
        elif character == ",":
            items.append(_scalar(current))
            current = ""
        else:
            current += character
    if quote:
        raise ValueError(f"a quote is not closed in {text[:60]!r}")
    return [*items, _scalar(current)]


def _scalar(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1].replace("''", "'") if text[0] == "'" else text[1:-1].replace('\\"', '"')
    return text


def _without_comment(text: str) -> str:
    """Cut ` # ...` outside of quotes."""
    quote = ""
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and not text[:place].strip():
            quote = character
        elif character == "#" and (place == 0 or text[place - 1] in " \t"):
            return text[:place].strip()
    return text.strip()
