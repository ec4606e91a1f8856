"""What was filled into the forms of a PDF page and noted on it; the page's own text lacks both.

Each is a line of its own that says what it is, `[Form field Name: value]` or `[Note: words]`, so
that a quote of it is not taken for a sentence of the document.
"""

import ctypes
import importlib
import re
from collections.abc import Callable
from typing import Any, Final

from activities.ingest.pdf_hidden import annotation_of
from activities.ingest.pdf_lines import printable

pdfium: Any = importlib.import_module("pypdfium2.raw")  # it ships no types

_MOST_NOTES: Final = 5_000  # of a page
_MOST_BYTES: Final = 1_000_000
_UNSEEN: Final = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_PASSWORD: Final = 1 << 13  # bit 14 of a text field's flags: PDF 32000-1, table 228
_FILLED: Final = frozenset(
    {
        pdfium.FPDF_FORMFIELD_TEXTFIELD,
        pdfium.FPDF_FORMFIELD_COMBOBOX,
        pdfium.FPDF_FORMFIELD_LISTBOX,
    }
)
_CHECKED: Final = frozenset({pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON})
_KINDS: Final = {
    pdfium.FPDF_ANNOT_TEXT: "Note",
    pdfium.FPDF_ANNOT_FREETEXT: "Text on the page",
    pdfium.FPDF_ANNOT_HIGHLIGHT: "Note",
    pdfium.FPDF_ANNOT_UNDERLINE: "Note",
    pdfium.FPDF_ANNOT_SQUIGGLY: "Note",
    pdfium.FPDF_ANNOT_STRIKEOUT: "Note",
    pdfium.FPDF_ANNOT_CARET: "Note",
}
# White by the operators that set a colour (PDF 32000-1, 12.7.3.3), without a ground of its own.
_WHITE: Final = re.compile(r"(?:^|\s)(?:1(?:\.0*)?\s+){1,3}(?:g|rg)(?:\s|$)")


def with_forms(document: Any) -> Any:
    """The form environment of a document just opened, None if it has no forms."""
    document.init_forms()
    return document.formenv


def notes_of(page: Any, forms: Any) -> list[str]:
    """What was filled in and noted on a page, as a reader of it sees; none of it twice."""
    count = min(pdfium.FPDFPage_GetAnnotCount(page.raw), _MOST_NOTES)
    found: dict[str, None] = {}
    for index in range(count):
        with annotation_of(page, index) as annotation:
            if annotation and (line := _line(annotation, forms)):
                found[line] = None
    return list(found)


def _line(annotation: Any, forms: Any) -> str:
    if pdfium.FPDFAnnot_GetFlags(annotation) & _UNSEEN:
        return ""
    kind = pdfium.FPDFAnnot_GetSubtype(annotation)
    if kind == pdfium.FPDF_ANNOT_WIDGET:
        return _field(annotation, forms) if forms and _has_room(annotation) else ""
    if kind not in _KINDS:
        return ""
    drawn = kind == pdfium.FPDF_ANNOT_FREETEXT
    if drawn and not (_has_room(annotation) and _is_dark(annotation)):
        return ""
    words = _value(annotation, "Contents")
    return f"[{_KINDS[kind]}: {words}]" if words else ""


def _field(annotation: Any, forms: Any) -> str:
    kind = pdfium.FPDFAnnot_GetFormFieldType(forms, annotation)
    if kind in _CHECKED:
        value = "checked" if pdfium.FPDFAnnot_IsChecked(forms, annotation) else ""
    elif kind not in _FILLED or _is_password(kind, annotation, forms):
        value = ""
    else:
        value = _string(lambda *out: pdfium.FPDFAnnot_GetFormFieldValue(forms, annotation, *out))
    if not value:
        return ""
    name = _string(lambda *out: pdfium.FPDFAnnot_GetFormFieldAlternateName(forms, annotation, *out))
    name = name or _string(lambda *out: pdfium.FPDFAnnot_GetFormFieldName(forms, annotation, *out))
    return f"[Form field {name}: {value}]" if name else f"[Form field: {value}]"


def _is_password(kind: int, annotation: Any, forms: Any) -> bool:
    text = kind == pdfium.FPDF_FORMFIELD_TEXTFIELD
    return text and bool(pdfium.FPDFAnnot_GetFormFieldFlags(forms, annotation) & _PASSWORD)


def _has_room(annotation: Any) -> bool:
    """Whether there is a place on the page where it is drawn."""
    rect = pdfium.FS_RECTF()
    if not pdfium.FPDFAnnot_GetRect(annotation, rect):
        return False
    return abs(rect.right - rect.left) >= 1 and abs(rect.top - rect.bottom) >= 1


def _is_dark(annotation: Any) -> bool:
    """Whether words written on the page differ from the white page, as far as it says."""
    return not _WHITE.search(_value(annotation, "DA")) or bool(
        pdfium.FPDFAnnot_HasKey(annotation, b"C")
    )


def _value(annotation: Any, key: str) -> str:
    return _string(
        lambda *out: pdfium.FPDFAnnot_GetStringValue(annotation, key.encode("ascii"), *out)
    )


def _string(read: Callable[..., int]) -> str:
    """A text that the library writes as UTF-16 into a buffer it is given."""
    size = read(None, 0)
    if not 2 < size <= _MOST_BYTES:  # noqa: PLR2004 - the two bytes that end it
        return ""
    buffer = ctypes.create_string_buffer(size)
    read(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    text = buffer.raw[: size - 2].decode("utf-16-le", "ignore")
    return printable(text.replace("\r\n", "\n").replace("\r", "\n")).strip()
