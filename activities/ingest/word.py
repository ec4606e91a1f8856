"""Word documents (DOCX): what a reader of the printed page sees, with headings, lists and tables.

python-docx opens the package and reads its properties; the body is walked here (`word_text`),
because its own text of a paragraph loses insertions, content controls and fields. Left out are
deletions, hidden and white words, comments, headers and footers; notes come at the end.
"""

import importlib
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from activities.ingest.document import Extracted, Heading, UnreadableFileError
from activities.ingest.word_styles import Styles
from activities.ingest.word_text import Body
from activities.ingest.zips import check_contents, checked_names

# Word on the web also writes `document2.xml`.
_MAIN: Final = re.compile(r"word/document\d*\.xml")
_OTHERS: Final = (
    ("xl/workbook", "Excel workbook"),
    ("ppt/presentation", "PowerPoint presentation"),
    ("META-INF/container.xml", "EPUB book"),
    ("META-INF/MANIFEST.MF", "Java archive"),
    ("content.xml", "OpenDocument file"),
)
_NOTES: Final = ("footnotes", "endnotes")
_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT: Final = "{http://purl.oclc.org/ooxml/"
_NOT_READ: Final = "not read: "
_UNREAD: Final = {
    f"{_W}altChunk": "embedded documents",
    "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath": "formulas",
    "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart": "charts",
    "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart": "charts",
    "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds": "diagrams (SmartArt)",
}


def read_docx(file: BinaryIO) -> Extracted:
    """Extract the text of a Word document.

    Raises:
        UnreadableFileError: `unsupported` (another kind of archive), `corrupt`, `encrypted`,
            `too_large`, `scanned` (images without a word) or `empty`.
    """
    names = checked_names(file)
    if not any(_MAIN.fullmatch(name) for name in names):
        kind = next((kind for start, kind in _OTHERS for n in names if n.startswith(start)), "")
        raise _unsupported(kind or "ZIP archive")
    check_contents(file)
    try:
        found = _read(file)
    except (UnreadableFileError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever the library says of a damaged file
        raise _damaged(f"{type(error).__name__}: {str(error)[:160]}") from None
    if not found.text.strip():
        if found.problem:
            kinds = found.problem.removeprefix(_NOT_READ)
            raise _unsupported(f"Word document of {kinds}")
        if any(name.startswith("word/media/") for name in names):
            raise UnreadableFileError("scanned", "a document of images without a word")
        raise UnreadableFileError("empty", "the document holds no text")
    return found


def _read(file: BinaryIO) -> Extracted:
    package = _package(file)
    main = next(_related(package, "officeDocument"))
    root = _root(main)
    if root.tag.startswith(_STRICT):
        raise _unsupported("Word document in the strict form of Open XML")
    styles = next(_related(main, "styles"), None)
    body = Body(Styles(root if styles is None else _root(styles)))  # a body holds no styles
    body.walk(root)
    for kind in _NOTES:
        for part in _related(main, kind):
            body.notes(_root(part))
    text, headings = body.written()
    unread = dict.fromkeys(
        what for tag, what in _UNREAD.items() if any(True for _ in root.iter(tag))
    )
    return Extracted(
        text=text,
        title=_property(package, "title") or _first_title(headings),
        headings=headings,
        date=_property(package, "modified") or _property(package, "created"),
        problem=f"{_NOT_READ}{', '.join(unread)}" if unread else "",
    )


def _package(file: BinaryIO) -> Any:
    importlib.import_module("docx")  # tells the package what its parts are; slow to load
    # Not `docx.Document`: it refuses templates and documents with macros, whose text is the same.
    return importlib.import_module("docx.package").Package.open(file)


def _related(source: Any, kind: str) -> Iterator[Any]:
    """The parts a package or part names as its `kind`, in either form of Open XML."""
    for relation in source.rels.values():
        if not relation.is_external and relation.reltype.rsplit("/", 1)[-1] == kind:
            yield relation.target_part


def _root(part: Any) -> Any:
    """The root element of a part.

    Raises:
        UnreadableFileError: `corrupt`; a document type, which Open XML forbids, could put in words.
    """
    root = getattr(part, "element", None)
    if root is None:
        etree: Any = importlib.import_module("lxml.etree")
        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        root = etree.fromstring(part.blob, parser)
    if root.getroottree().docinfo.internalDTD is not None:
        raise _damaged("it declares a document type")
    return root


def _property(package: Any, name: str) -> str:
    """A core property, a time as ISO date; "" where unknown or damaged.

    `core_properties` of a package without any would invent a title, and today as the date.
    """
    try:
        part = next(_related(package, "core-properties"), None)
        value: Any = None if part is None else getattr(part.core_properties, name)
        return value.date().isoformat() if name != "title" else " ".join(value.split())[:200]
    except Exception:  # noqa: BLE001 - a damaged property is none
        return ""


def _first_title(headings: list[Heading]) -> str:
    return headings[0].title if headings else ""


def _damaged(what: str) -> UnreadableFileError:
    return UnreadableFileError("corrupt", f"damaged Word document: {what}")


def _unsupported(kind: str) -> UnreadableFileError:
    return UnreadableFileError("unsupported", f"{kind}: not a format that is read")
