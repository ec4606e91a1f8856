"""PDF: the text of its pages in order, with pages and outline as locators.

What a person cannot see on a page is left out (see `pdf_hidden`). Lines stay as they are printed;
a blank line is put where a paragraph visibly ends, and a word that was broken at a line's end is
joined where the document itself writes it so.
"""

import datetime
import importlib
import re
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO, Final

from activities.ingest import pdf_hidden
from activities.ingest.document import PAGE, Extracted, Heading, UnreadableFileError, spans

pypdfium2: Any = importlib.import_module("pypdfium2")  # it ships no types

MOST_CHARACTERS: Final = 20_000_000
PAGE_LEVEL: Final = 9  # below every level of an outline
_MOST_ENTRIES: Final = 2_000
_MOST_LEVELS: Final = 6
_MOST_TRIES: Final = 20  # places of a title on a page that are looked at
_TITLE_CHARACTERS: Final = 200
_RANGES_SHOWN: Final = 20
_FIRST_WIDE: Final = "\u2e80"

# It starts where a word does: else a page of one long word takes the square of its length.
_BROKEN: Final = re.compile(r"(?<![^\W\d_])([^\W\d_]+)[\x02\ufffe\u00ad]\s*([^\W\d_]+)")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ufeff]")
_WORD: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_SENTENCE_END: Final = re.compile(r"[.!?:。！？：][)\]\"'”’）」』]*$")
_ITEM: Final = re.compile(
    r"\s*(?:[•·‣◦▪●■–—-]|\(?\d{1,3}[.)]|\(?[a-z][.)]|[（(]?[一二三四五六七八九十]+[）)、])\s"
)
_SHORT: Final = 0.85
_LONG_LINE: Final = 0.9
_GARBAGE: Final = re.compile(r"[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f]")
_MOST_GARBAGE: Final = 0.3
_NO_TITLE: Final = re.compile(
    r"\s*(?:untitled.*|microsoft (?:word|powerpoint|excel) - .*"
    r"|.*\.(?:docx?|tex|dvi|indd|pdf|qxd))\s*",
    re.IGNORECASE,
)
_DATE: Final = re.compile(r"(?:D:)?(\d{4})(\d{2})(\d{2})")


@dataclass
class _Pages:
    """What was found on the pages, by their numbers from 1."""

    texts: dict[int, str] = field(default_factory=dict[int, str])
    scanned: list[int] = field(default_factory=list[int])
    broken: list[int] = field(default_factory=list[int])
    unmapped: list[int] = field(default_factory=list[int])
    unread: list[int] = field(default_factory=list[int])
    count: int = 0


def read_pdf(file: BinaryIO, most_characters: int = MOST_CHARACTERS) -> Extracted:
    """Extract the text of a PDF file.

    Args:
        file: the open file; it is read where needed, never as a whole.
        most_characters: pages beyond are left out, and said to be.

    Raises:
        UnreadableFileError: `encrypted`, `corrupt`, `scanned` or `empty`.
    """
    try:
        document = pypdfium2.PdfDocument(file)
    except pypdfium2.PdfiumError as error:
        raise _refused(str(error)) from None
    try:
        pages = _read(document, most_characters)
        if not pages.texts:
            raise _without_text(pages)
        outline = _outline(document)
        text, headings = _joined(pages, outline)
        return Extracted(
            text=text,
            title=_title(document),
            headings=headings,
            date=_date(document),
            problem=_problem(pages, most_characters),
        )
    finally:
        document.close()


def _refused(message: str) -> UnreadableFileError:
    if "password" in message.lower():
        return UnreadableFileError("encrypted", "the PDF needs a password")
    return UnreadableFileError("corrupt", f"damaged PDF: {message[:200]}")


def _without_text(pages: _Pages) -> UnreadableFileError:
    if pages.unmapped:
        return UnreadableFileError("corrupt", "the fonts of the PDF carry no Unicode mapping")
    if pages.broken:
        return UnreadableFileError("corrupt", f"damaged PDF: {_named('pages', pages.broken)}")
    if pages.scanned:
        reason = f"{len(pages.scanned)} pages of images without text: scanned"
        return UnreadableFileError("scanned", reason)
    return UnreadableFileError("empty", "the PDF holds no text")


def _read(document: Any, most_characters: int) -> _Pages:
    pages = _Pages(count=len(document))
    room = most_characters
    for number in range(1, pages.count + 1):
        if room <= 0:
            pages.unread = list(range(number, pages.count + 1))
            break
        try:
            with closing(document[number - 1]) as page:
                images = pdf_hidden.remove_hidden(page)
                with closing(page.get_textpage()) as textpage:
                    text = textpage.get_text_bounded()
        except MemoryError:
            raise  # no damage: the process has reached its limit, and says so
        except Exception:  # noqa: BLE001 - one damaged page, whatever the library says of it
            pages.broken.append(number)
            continue
        _sort(pages, number, text, images=images)
        room -= len(text)
    _join_words(pages)
    return pages


def _sort(pages: _Pages, number: int, text: str, *, images: bool) -> None:
    """Put a page where it belongs by what it holds."""
    shown = re.sub(r"\s", "", text)
    if not shown:
        if images:
            pages.scanned.append(number)
    elif len(_GARBAGE.findall(shown)) > _MOST_GARBAGE * len(shown):
        pages.unmapped.append(number)
    else:
        pages.texts[number] = text.replace("\r\n", "\n").replace("\r", "\n")


def _join_words(pages: _Pages) -> None:
    """Undo the hyphens at the ends of lines, then part the paragraphs."""
    words: set[str] = set()
    for text in pages.texts.values():
        words.update(word.casefold() for word in _WORD.findall(text))

    def whole(match: re.Match[str]) -> str:
        first, second = match[1], match[2]
        if f"{first}-{second}".casefold() in words:
            return f"{first}-{second}"
        plain = (first + second).casefold() in words or second.islower()
        return first + second if plain else f"{first}-{second}"

    for number, text in pages.texts.items():
        joined = _CONTROL.sub("", _BROKEN.sub(whole, text).replace("\x02", "-"))
        pages.texts[number] = _parted(joined).strip("\n")


def _parted(text: str) -> str:
    """A blank line behind each paragraph: a short last line, or before an item of a list."""
    lines = [line.rstrip() for line in text.split("\n")]
    widths = [_width(line) for line in lines]
    lengths = sorted(filter(None, widths))
    if not lengths:
        return ""
    short = _SHORT * lengths[int(_LONG_LINE * (len(lengths) - 1))]
    out: list[str] = []
    for line, width, following in zip(lines, widths, [*lines[1:], ""], strict=True):
        out.append(line)
        ends = width < short and _SENTENCE_END.search(line) is not None
        if line and following and (ends or _ITEM.match(following)):
            out.append("")
    return "\n".join(out)


def _width(line: str) -> int:
    """Columns: a character of Chinese takes two."""
    return len(line) if line.isascii() else len(line) + sum(c >= _FIRST_WIDE for c in line)


def _outline(document: Any) -> dict[int, list[tuple[int, str]]]:
    """Page number to the entries of the outline that lead to it: level from 1, title."""
    found: dict[int, list[tuple[int, str]]] = {}
    for entry in islice(document.get_toc(max_depth=_MOST_LEVELS), _MOST_ENTRIES):
        try:
            target = entry.get_dest()
            index = target.get_index() if target is not None else None
            title = _line(entry.get_title())
        except Exception:  # noqa: BLE001 - a damaged entry is none; the others are there
            continue
        if index is not None and title:
            found.setdefault(index + 1, []).append((entry.level + 1, title))
    return found


def _joined(pages: _Pages, outline: dict[int, list[tuple[int, str]]]) -> tuple[str, list[Heading]]:
    """The whole text with the places of pages and outline."""
    parts: list[str] = []
    headings: list[Heading] = []
    start = 0
    pending: list[tuple[int, str]] = []
    for number in range(1, pages.count + 1):
        pending += outline.get(number, [])
        text = pages.texts.get(number)
        if text is None:
            continue
        mark = Heading(start, PAGE_LEVEL, f"{PAGE}{number}")
        headings.append(mark)
        for place, level, title in _placed(text, pending):
            headings.append(Heading(start + place, level, title))
            # A heading ends what stands below it, so the page is named again.
            headings.append(Heading(start + place, PAGE_LEVEL, mark.title))
        pending = []
        parts.append(text)
        start += len(text) + 2
    return "\n\n".join(parts), headings


def _placed(text: str, entries: list[tuple[int, str]]) -> Iterator[tuple[int, int, str]]:
    """Entries with their places on a page, in order; at its start where a title is not found."""
    squeezed: list[str] = []
    places: list[int] = []
    ends: set[int] = set()  # of lines, in what is squeezed
    for place, character in enumerate(f"{text}\n"):
        if character == "\n":
            ends.add(len(places))
        elif not character.isspace():
            folded = character.casefold()
            squeezed.append(folded)
            places += [place] * len(folded)
    page = "".join(squeezed)
    after = last = 0
    for level, title in entries:
        found = _found(page, "".join(title.casefold().split()), after, ends)
        if found >= 0:
            after = found + 1
            # The number of a heading stands before its title.
            last = max(last, text.rfind("\n", 0, places[found]) + 1)
        yield last, level, title


def _found(page: str, title: str, after: int, ends: set[int]) -> int:
    """Where a title is: at a line's end if it can be, for running text may name it before."""
    matches = re.compile(re.escape(title)).finditer(page, after)
    starts = [match.start() for match in islice(matches, _MOST_TRIES)]
    return next(iter([s for s in starts if s + len(title) in ends] or starts), -1)


def _line(words: str) -> str:
    return " ".join(_CONTROL.sub("", words).split())[:_TITLE_CHARACTERS]


def _property(document: Any, key: str) -> str:
    try:
        return document.get_metadata_value(key)
    except ValueError:  # half a character, as damage leaves it
        return ""


def _title(document: Any) -> str:
    title = _line(_property(document, "Title"))
    return "" if _NO_TITLE.fullmatch(title) else title


def _date(document: Any) -> str:
    for key in ("ModDate", "CreationDate"):
        match = _DATE.match(_property(document, key).strip())
        if match:
            with suppress(ValueError):
                return datetime.date(int(match[1]), int(match[2]), int(match[3])).isoformat()
    return ""


def _problem(pages: _Pages, most_characters: int) -> str:
    named = (
        ("pages without text (scanned?):", pages.scanned),
        ("pages that could not be read:", pages.broken),
        ("pages that could not be read, their fonts carry no Unicode mapping:", pages.unmapped),
    )
    problems = [_named(words, numbers) for words, numbers in named if numbers]
    if pages.unread:
        span = f"pages {pages.unread[0]} to {pages.unread[-1]} were not read"
        problems.append(f"{span}: the limit is {most_characters:,} characters")
    return "; ".join(problems)


def _named(words: str, numbers: list[int]) -> str:
    """Numbers of pages, runs of them as ranges."""
    found = spans(numbers)
    more = ", …" if len(found) > _RANGES_SHOWN else ""
    return f"{words} {', '.join(found[:_RANGES_SHOWN])}{more}"
