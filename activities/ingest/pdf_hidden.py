"""What of a PDF page nobody sees: white words on white, transparent, invisible or tiny ones.

Only a page that holds such words is drawn, small; words in whose place nothing can be told apart
are taken off the page. Invisible words over an image are the text of a scan and stay.
"""

import ctypes
import importlib
import math
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

pdfium: Any = importlib.import_module("pypdfium2.raw")  # it ships no types

_WHITE: Final = 250
_CONTRAST: Final = 12
_DRAWN_PIXELS: Final = 1200.0
_LARGEST_SCALE: Final = 2.0
_SMALLEST: Final = 1.0  # points, as printed
_DEPTH: Final = 3
_MOST_OBJECTS: Final = 50_000


_Matrix = tuple[float, float, float, float, float, float]
# Asked for at each object of a page, so they are made once; one thread reads.
_COLOUR: Final = tuple(ctypes.c_uint() for _ in range(4))
_FONT_SIZE: Final = ctypes.c_float()
_FOUND_MATRIX: Final = pdfium.FS_MATRIX()
_PLAIN: Final[_Matrix] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class _Words(NamedTuple):
    """A text object, the form it stands in (None: the page), and the matrix of that form."""

    obj: Any
    form: Any
    matrix: _Matrix


@dataclass
class _Page:
    """What a page holds that may be hidden."""

    suspects: list[_Words] = field(default_factory=list[_Words])
    invisible: list[_Words] = field(default_factory=list[_Words])
    tiny: list[_Words] = field(default_factory=list[_Words])
    images: bool = False
    left: int = _MOST_OBJECTS


def remove_hidden(page: Any) -> bool:
    """Take hidden words off a page; gives whether the page holds images."""
    found = _Page()
    for index in range(min(pdfium.FPDFPage_CountObjects(page.raw), found.left)):
        _look(_Words(pdfium.FPDFPage_GetObject(page.raw, index), None, _PLAIN), found, _DEPTH)
    unseen = _unseen(page, found.suspects) if found.suspects else []
    for words in [*found.tiny, *unseen, *([] if found.images else found.invisible)]:
        if words.form is None:
            removed = pdfium.FPDFPage_RemoveObject(page.raw, words.obj)
        else:
            removed = pdfium.FPDFFormObj_RemoveObject(words.form, words.obj)
        if removed:
            pdfium.FPDFPageObj_Destroy(words.obj)
    return found.images


def _look(words: _Words, found: _Page, depth: int) -> None:
    found.left -= 1
    kind = pdfium.FPDFPageObj_GetType(words.obj)
    if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
        found.images = True
    elif kind == pdfium.FPDF_PAGEOBJ_TEXT:
        _look_at_words(words, found)
    elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth:
        form = words.obj
        matrix = _times(_matrix(form), words.matrix)
        for index in range(min(max(0, pdfium.FPDFFormObj_CountObjects(form)), found.left)):
            inner = pdfium.FPDFFormObj_GetObject(form, index)
            _look(_Words(inner, form, matrix), found, depth - 1)


def _look_at_words(words: _Words, found: _Page) -> None:
    obj = words.obj
    if pdfium.FPDFTextObj_GetTextRenderMode(obj) == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE:
        found.invisible.append(words)
    elif _size(words) < _SMALLEST:
        found.tiny.append(words)
    else:
        red, green, blue, alpha = _COLOUR
        filled = pdfium.FPDFPageObj_GetFillColor(obj, red, green, blue, alpha)
        if filled and (min(red.value, green.value, blue.value) >= _WHITE or alpha.value == 0):
            found.suspects.append(words)


def _size(words: _Words) -> float:
    """Size of the letters as printed, in points."""
    if not pdfium.FPDFTextObj_GetFontSize(words.obj, _FONT_SIZE):
        return _SMALLEST
    _, _, c, d, _, _ = _times(_matrix(words.obj), words.matrix)
    return abs(_FONT_SIZE.value) * math.hypot(c, d)


def _matrix(obj: Any) -> _Matrix:
    found = _FOUND_MATRIX
    if not pdfium.FPDFPageObj_GetMatrix(obj, found):
        return _PLAIN
    return (found.a, found.b, found.c, found.d, found.e, found.f)


def _times(first: _Matrix, second: _Matrix) -> _Matrix:
    """The matrix that applies the first, then the second."""
    if second is _PLAIN:
        return first
    a, b, c, d, e, f = first
    g, h, i, j, k, m = second
    return (
        a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j,
        e * g + f * i + k, e * h + f * j + m,
    )  # fmt: skip


def _unseen(page: Any, suspects: list[_Words]) -> list[_Words]:
    """Those words in whose place the drawn page is of one colour."""
    width, height = page.get_size()
    scale = min(_LARGEST_SCALE, _DRAWN_PIXELS / max(width, height, 1.0))
    bitmap = page.render(scale=scale, grayscale=True)
    try:
        to_bitmap = bitmap.get_posconv(page).to_bitmap
        data = bytes(bitmap.buffer)
        pixels = (bitmap.width, bitmap.height, bitmap.stride)
        return [words for words in suspects if _is_plain(data, pixels, _box(words, to_bitmap))]
    finally:
        bitmap.close()


def _box(words: _Words, to_bitmap: Any) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of words in pixels."""
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not pdfium.FPDFPageObj_GetBounds(words.obj, left, bottom, right, top):
        return (0, 0, 0, 0)
    a, b, c, d, e, f = words.matrix
    corners = [
        to_bitmap(a * x + c * y + e, b * x + d * y + f)
        for x in (left.value, right.value)
        for y in (bottom.value, top.value)
    ]
    across, down = zip(*corners, strict=True)
    return (min(across), min(down), max(across), max(down))


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
