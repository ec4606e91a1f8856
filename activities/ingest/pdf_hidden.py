"""What of a PDF page nobody sees: white words on white, transparent or invisible ones.

Only a page that holds such words is drawn, small; words in whose place nothing can be told apart
are taken off the page. Invisible words over an image are the text of a scan and stay.
"""

import ctypes
import importlib
from typing import Any, Final

pdfium: Any = importlib.import_module("pypdfium2.raw")  # it ships no types

_WHITE: Final = 250
_CONTRAST: Final = 12
_DRAWN_PIXELS: Final = 1200.0
_LARGEST_SCALE: Final = 2.0
_DEPTH: Final = 3
_MOST_OBJECTS: Final = 50_000


def remove_hidden(page: Any) -> bool:
    """Take hidden words off a page; gives whether the page holds images."""
    suspects: list[Any] = []
    invisible: list[Any] = []
    images = _look(page, suspects, invisible)
    unseen = _unseen(page, suspects) if suspects else []
    for obj in [*unseen, *([] if images else invisible)]:
        if pdfium.FPDFPage_RemoveObject(page.raw, obj):
            pdfium.FPDFPageObj_Destroy(obj)
    return images


def _look(page: Any, suspects: list[Any], invisible: list[Any]) -> bool:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    images = False
    for index in range(min(pdfium.FPDFPage_CountObjects(page.raw), _MOST_OBJECTS)):
        obj = pdfium.FPDFPage_GetObject(page.raw, index)
        kind = pdfium.FPDFPageObj_GetType(obj)
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            images = True
        elif kind == pdfium.FPDF_PAGEOBJ_FORM:
            images = images or _form_has_image(obj, _DEPTH)
        elif kind == pdfium.FPDF_PAGEOBJ_TEXT:
            if pdfium.FPDFTextObj_GetTextRenderMode(obj) == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE:
                invisible.append(obj)
            elif pdfium.FPDFPageObj_GetFillColor(obj, red, green, blue, alpha) and (
                min(red.value, green.value, blue.value) >= _WHITE or alpha.value == 0
            ):
                suspects.append(obj)
    return images


def _form_has_image(form: Any, depth: int) -> bool:
    for index in range(min(max(0, pdfium.FPDFFormObj_CountObjects(form)), _MOST_OBJECTS)):
        obj = pdfium.FPDFFormObj_GetObject(form, index)
        kind = pdfium.FPDFPageObj_GetType(obj)
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            return True
        if kind == pdfium.FPDF_PAGEOBJ_FORM and depth and _form_has_image(obj, depth - 1):
            return True
    return False


def _unseen(page: Any, suspects: list[Any]) -> list[Any]:
    """Those words in whose place the drawn page is of one colour."""
    width, height = page.get_size()
    scale = min(_LARGEST_SCALE, _DRAWN_PIXELS / max(width, height, 1.0))
    bitmap = page.render(scale=scale, grayscale=True)
    try:
        to_bitmap = bitmap.get_posconv(page).to_bitmap
        data = bytes(bitmap.buffer)
        pixels = (bitmap.width, bitmap.height, bitmap.stride)
        return [obj for obj in suspects if _is_plain(data, pixels, _box(obj, to_bitmap))]
    finally:
        bitmap.close()


def _box(obj: Any, to_bitmap: Any) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of an object in pixels."""
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not pdfium.FPDFPageObj_GetBounds(obj, left, bottom, right, top):
        return (0, 0, 0, 0)
    x1, y1 = to_bitmap(left.value, top.value)
    x2, y2 = to_bitmap(right.value, bottom.value)
    return (min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))


def _is_plain(data: bytes, pixels: tuple[int, int, int], box: tuple[int, int, int, int]) -> bool:
    """Whether a part of a drawn page is of one colour, so that no word is seen in it."""
    width, height, stride = pixels
    left, right = max(0, box[0]), min(width, box[2] + 1)
    darkest, lightest = 255, 0
    for y in range(max(0, box[1]), min(height, box[3] + 1)):
        row = data[y * stride + left : y * stride + right]
        if row:
            darkest, lightest = min(darkest, *row), max(lightest, *row)
    return lightest - darkest < _CONTRAST
