"""PDF: the text of its pages in order, with pages and outline as locators.

What a person cannot see on a page is left out (`pdf_hidden`); what was filled into forms and noted
on a page follows its text (`pdf_notes`); lines become paragraphs in `pdf_lines`, the outline
headings in `pdf_outline`.
"""

import datetime
import importlib
import re
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

from activities.ingest import pdf_hidden
from activities.ingest.document import Extracted, UnreadableFileError, spans
from activities.ingest.pdf_lines import one_line, paragraphs
from activities.ingest.pdf_notes import notes_of, with_forms
from activities.ingest.pdf_outline import joined, outline_of

pypdfium2: Any = importlib.import_module("pypdfium2")  # it ships no types

MOST_CHARACTERS: Final = 20_000_000
_RANGES_SHOWN: Final = 20
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
    notes: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
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
        pages = _read(document, with_forms(document), most_characters)
        if not pages.texts:
            raise _without_text(pages)
        text, headings = joined(pages.texts, pages.count, outline_of(document))
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


def _read(document: Any, forms: Any, most_characters: int) -> _Pages:
    pages = _Pages(count=len(document))
    room = most_characters
    for number in range(1, pages.count + 1):
        if room <= 0:
            pages.unread = list(range(number, pages.count + 1))
            break
        try:
            with closing(document[number - 1]) as page:
                seen = pdf_hidden.remove_hidden(page)
                with closing(page.get_textpage()) as textpage:
                    text = _text(textpage, turned=seen.turned)
                pages.notes[number] = notes_of(page, forms)
        except MemoryError:
            raise  # no damage: the process has reached its limit, and says so
        except Exception:  # noqa: BLE001 - one damaged page, whatever the library says of it
            pages.broken.append(number)
            continue
        _sort(pages, number, text, images=seen.images)
        room -= len(text) + sum(map(len, pages.notes[number]))
    pages.texts = paragraphs(pages.texts)
    for number, notes in pages.notes.items():
        if notes:
            pages.texts[number] = "\n\n".join(filter(None, [pages.texts.get(number, ""), *notes]))
    return pages


def _text(textpage: Any, *, turned: bool) -> str:
    """The words of a page, without those that stand outside of it.

    Only the whole text keeps all lines of turned words apart, so it is taken where nothing stands
    outside; of words that run along it would part what is raised or lowered from its line.
    """
    bounded: str = textpage.get_text_bounded()
    if not turned:
        return bounded
    whole: str = textpage.get_text_range()
    return whole if "".join(whole.split()) == "".join(bounded.split()) else bounded


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


def _property(document: Any, key: str) -> str:
    try:
        return document.get_metadata_value(key)
    except ValueError:  # half a character, as damage leaves it
        return ""


def _title(document: Any) -> str:
    title = one_line(_property(document, "Title"))
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
