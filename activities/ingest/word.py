"""Word documents (DOCX): what a reader of the printed page sees, with headings, lists and tables.

python-docx opens the package and knows styles and properties; the body is walked here, because its
own text of a paragraph loses insertions, content controls and fields. Left out are deletions,
hidden and white words, comments, headers and footers; notes come at the end.
"""

import datetime
import importlib
from typing import Any, BinaryIO, Final

from activities.ingest.document import Extracted, Heading, UnreadableFileError
from activities.ingest.word_text import Body, Styles
from activities.ingest.zips import checked_names

_MAIN: Final = "word/document.xml"
_OTHERS: Final = (
    ("xl/workbook", "Excel workbook"),
    ("ppt/presentation", "PowerPoint presentation"),
    ("META-INF/container.xml", "EPUB book"),
    ("META-INF/MANIFEST.MF", "Java archive"),
    ("content.xml", "OpenDocument file"),
)
_NOTES: Final = ("footnotes", "endnotes")
_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def read_docx(file: BinaryIO) -> Extracted:
    """Extract the text of a Word document.

    Raises:
        UnreadableFileError: `unsupported` (another kind of archive), `corrupt`, `encrypted`,
            `too_large`, `scanned` (images without a word) or `empty`.
    """
    names = checked_names(file)
    if _MAIN not in names:
        kind = next((kind for start, kind in _OTHERS for n in names if n.startswith(start)), "")
        raise UnreadableFileError(
            "unsupported", f"{kind or 'ZIP archive'}: not a format that is read"
        )
    docx: Any = importlib.import_module("docx")  # slow to load, and many folders hold no DOCX
    try:
        package = docx.Document(file)
        body = Body(Styles(package.styles.element))
        body.walk(package.element.body)
        for part in _note_parts(package):
            body.notes(part)
        title, date = _properties(package)
    except UnreadableFileError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the library says of a damaged file
        raise UnreadableFileError("corrupt", _damaged(error)) from None
    text, headings = body.written()
    if not text.strip():
        if any(name.startswith("word/media/") for name in names):
            raise UnreadableFileError("scanned", "a document of images without a word")
        raise UnreadableFileError("empty", "the document holds no text")
    return Extracted(text=text, title=title or _first_title(headings), headings=headings, date=date)


def _damaged(error: Exception) -> str:
    return f"damaged Word document: {type(error).__name__}: {str(error)[:160]}"


def _note_parts(package: Any) -> list[Any]:
    """The roots of the parts that hold foot- and endnotes."""
    etree: Any = importlib.import_module("lxml.etree")
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    return [
        etree.fromstring(relation.target_part.blob, parser)
        for relation in package.part.rels.values()
        if not relation.is_external and relation.reltype.rsplit("/", 1)[-1] in _NOTES
    ]


def _properties(package: Any) -> tuple[str, str]:
    """Title and ISO date of the last change; "" where unknown or damaged."""
    try:
        core = package.core_properties
        title = " ".join((core.title or "").split())[:200]
        changed = core.modified or core.created
    except Exception:  # noqa: BLE001 - a damaged date is none
        return "", ""
    return title, changed.date().isoformat() if isinstance(changed, datetime.datetime) else ""


def _first_title(headings: list[Heading]) -> str:
    return headings[0].title if headings else ""
