"""What of a PDF page nobody sees: white, transparent, invisible, tiny and covered words.

Those of a layer that is switched off belong to them. Only a page that holds such words is drawn,
small. Words in whose place nothing can be told apart, or whose place looks the same without them,
are switched off before the text is taken. Invisible words over the image of a scanned page are its
text and stay.
"""

import ctypes
import importlib
import math
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from activities.ingest.pdf_drawn import Box, Drawn, area, common, shared

pdfium: Any = importlib.import_module("pypdfium2.raw")  # it ships no types

_WHITE: Final = 250
_SMALLEST: Final = 1.0  # points, as printed
_DEPTH: Final = 3
_MOST_OBJECTS: Final = 50_000
# A page of which images take less is no scan; margins of a scan may be cut off.
_IMAGE_SHARE: Final = 0.3
_OPAQUE: Final = 255
_MOST_COVERS: Final = 50
_LEAST_COVER: Final = 4.0  # points: lines and rules cover nothing
_COVERED: Final = 0.6  # of a line's area
_COVERING: Final = frozenset({pdfium.FPDF_ANNOT_SQUARE, pdfium.FPDF_ANNOT_REDACT})


_Matrix = tuple[float, float, float, float, float, float]
# Asked for at each object of a page, so they are made once; one thread reads.
_COLOUR: Final = tuple(ctypes.c_uint() for _ in range(4))
_EDGES: Final = tuple(ctypes.c_float() for _ in range(4))
_FONT_SIZE: Final = ctypes.c_float()
_FILL: Final = ctypes.c_int()
_STROKE: Final = ctypes.c_int()
_FOUND_MATRIX: Final = pdfium.FS_MATRIX()
_PLAIN: Final[_Matrix] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class _Words(NamedTuple):
    """An object of a page and the matrix of the form it stands in."""

    obj: Any
    matrix: _Matrix


class Seen(NamedTuple):
    """What a page is like: whether it holds images, whether most of its words are turned."""

    images: bool
    turned: bool


@dataclass
class _Page:
    """What a page holds that may be hidden."""

    suspects: list[_Words] = field(default_factory=list[_Words])
    invisible: list[_Words] = field(default_factory=list[_Words])
    tiny: list[_Words] = field(default_factory=list[_Words])
    shown: list[_Words] = field(default_factory=list[_Words])
    images: list[Box] = field(default_factory=list[Box])
    # What may cover words: its box, and how many shown words were drawn before it.
    covers: list[tuple[Box, int]] = field(default_factory=list[tuple[Box, int]])
    layers: dict[int, bool] = field(default_factory=dict[int, bool])
    turned: int = 0  # objects of words that run up or down, less those that run along
    left: int = _MOST_OBJECTS


def remove_hidden(page: Any) -> Seen:
    """Switch off the hidden words of a page; gives what the page is like."""
    found = _Page()
    for index in range(min(pdfium.FPDFPage_CountObjects(page.raw), found.left)):
        _look(_Words(pdfium.FPDFPage_GetObject(page.raw, index), _PLAIN), found, _DEPTH)
    hidden = [*found.tiny, *_no_scan(page, found)]
    _switch(hidden, on=False)
    suspects = [*found.suspects, *_covered(page, found)]
    if suspects:
        _switch(_unseen(page, suspects), on=False)
    return Seen(images=bool(found.images), turned=found.turned > 0)


def _switch(words: list[_Words], *, on: bool) -> None:
    """Have words drawn and read, or neither."""
    for one in words:
        pdfium.FPDFPageObj_SetIsActive(one.obj, on)


def _look(words: _Words, found: _Page, depth: int, *, layered: bool = False) -> None:
    found.left -= 1
    kind = pdfium.FPDFPageObj_GetType(words.obj)
    if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
        found.images.append(_bounds(words))
    elif kind == pdfium.FPDF_PAGEOBJ_TEXT:
        _look_at_words(words, found, layered=layered or _is_layered(words.obj, found))
    elif kind == pdfium.FPDF_PAGEOBJ_PATH:
        _look_at_path(words, found)
    elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth:
        form = words.obj
        layered = layered or _is_layered(form, found)
        matrix = _times(_matrix(form), words.matrix)
        for index in range(min(max(0, pdfium.FPDFFormObj_CountObjects(form)), found.left)):
            inner = pdfium.FPDFFormObj_GetObject(form, index)
            _look(_Words(inner, matrix), found, depth - 1, layered=layered)


def _is_layered(obj: Any, found: _Page) -> bool:
    """Whether an object belongs to a layer, which may be switched off; drawing it tells."""
    for index in range(pdfium.FPDFPageObj_CountMarks(obj)):
        mark = pdfium.FPDFPageObj_GetMark(obj, index)
        place = ctypes.cast(mark, ctypes.c_void_p).value or 0
        # Neighbours share their marks.
        if place not in found.layers:
            found.layers[place] = _name_of(mark) == "OC"
        if found.layers[place]:
            return True
    return False


def _name_of(mark: Any) -> str:
    buffer = ctypes.create_string_buffer(16)
    size = ctypes.c_ulong()
    text = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))
    if not pdfium.FPDFPageObjMark_GetName(mark, text, len(buffer), size):
        return ""
    # A name that is longer than the buffer is not written at all.
    return buffer.raw[: max(0, min(size.value, len(buffer)) - 2)].decode("utf-16-le", "ignore")


def _look_at_words(words: _Words, found: _Page, *, layered: bool) -> None:
    obj = words.obj
    size, turned = _size(words)
    found.turned += 1 if turned else -1
    if pdfium.FPDFTextObj_GetTextRenderMode(obj) == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE:
        found.invisible.append(words)
    elif size < _SMALLEST:
        found.tiny.append(words)
    elif layered or _is_white(obj):
        found.suspects.append(words)
    else:
        found.shown.append(words)


def _is_white(obj: Any) -> bool:
    red, green, blue, alpha = _COLOUR
    filled = pdfium.FPDFPageObj_GetFillColor(obj, red, green, blue, alpha)
    return filled and (min(red.value, green.value, blue.value) >= _WHITE or alpha.value == 0)


def _look_at_path(path: _Words, found: _Page) -> None:
    """Keep what is filled and large enough to cover words that were drawn before it."""
    if not found.shown or not pdfium.FPDFPath_GetDrawMode(path.obj, _FILL, _STROKE):
        return
    if not _FILL.value or not pdfium.FPDFPageObj_GetFillColor(path.obj, *_COLOUR):
        return
    if _COLOUR[3].value < _OPAQUE:
        return
    left, bottom, right, top = box = _bounds(path)
    if min(right - left, top - bottom) >= _LEAST_COVER:
        found.covers.append((box, len(found.shown)))


def _covered(page: Any, found: _Page) -> list[_Words]:
    """Shown words over which something was drawn that may hide them."""
    covers = found.covers + [(box, len(found.shown)) for box in _annotated(page)]
    covers = sorted(covers, key=lambda cover: area(cover[0]))[-_MOST_COVERS:]
    last = max((before for _, before in covers), default=0)
    out: list[_Words] = []
    for place, words in enumerate(found.shown[:last]):
        box = _bounds(words)
        least = _COVERED * area(box)
        if any(place < before and shared(box, cover) > least for cover, before in covers):
            out.append(words)
    return out


def _annotated(page: Any) -> Iterator[Box]:
    """The boxes of annotations that are drawn over the page."""
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page.raw), _MOST_COVERS)):
        with annotation_of(page, index) as annotation:
            rect = pdfium.FS_RECTF()
            if (
                annotation
                and pdfium.FPDFAnnot_GetSubtype(annotation) in _COVERING
                and pdfium.FPDFAnnot_GetRect(annotation, rect)
            ):
                low, high = sorted((rect.bottom, rect.top))
                yield (rect.left, low, rect.right, high)


@contextmanager
def annotation_of(page: Any, index: int) -> Generator[Any]:
    """An annotation of a page, null where it is damaged."""
    annotation = pdfium.FPDFPage_GetAnnot(page.raw, index)
    try:
        yield annotation
    finally:
        if annotation:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _no_scan(page: Any, found: _Page) -> list[_Words]:
    """The invisible words that are not the text of a scanned page."""
    if not found.invisible:
        return []
    frame = page.get_bbox()
    images = [common(box, frame) for box in found.images]
    if not images or sum(map(area, images)) < _IMAGE_SHARE * area(frame):
        return found.invisible
    lefts, bottoms, rights, tops = zip(*images, strict=True)
    scan = (min(lefts), min(bottoms), max(rights), max(tops))
    return [words for words in found.invisible if not _is_in(_bounds(words), scan)]


def _is_in(box: Box, scan: Box) -> bool:
    """Whether the middle of a box is in another."""
    across, up = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return scan[0] <= across <= scan[2] and scan[1] <= up <= scan[3]


def _size(words: _Words) -> tuple[float, bool]:
    """Size of the letters as printed, in points, and whether they run up or down."""
    _, _, c, d, _, _ = _times(_matrix(words.obj), words.matrix)
    turned = abs(c) > abs(d)
    if not pdfium.FPDFTextObj_GetFontSize(words.obj, _FONT_SIZE):
        return _SMALLEST, turned
    return abs(_FONT_SIZE.value) * math.hypot(c, d), turned


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
    """Those words in whose place the drawn page is of one colour, or the same without them."""
    drawn = Drawn(page)
    boxes = [drawn.box(_bounds(words)) for words in suspects]
    plain = [drawn.is_plain(box) for box in boxes]
    out = [words for words, is_plain in zip(suspects, plain, strict=True) if is_plain]
    doubtful = [
        (words, box) for words, box, known in zip(suspects, boxes, plain, strict=True) if not known
    ]
    if doubtful:
        _switch([words for words, _ in doubtful], on=False)
        without = Drawn(page)
        _switch([words for words, _ in doubtful], on=True)
        out += [words for words, box in doubtful if drawn.is_like(without, box)]
    return out


def _bounds(words: _Words) -> Box:
    """Where an object is on the page."""
    if not pdfium.FPDFPageObj_GetBounds(words.obj, *_EDGES):
        return (0.0, 0.0, 0.0, 0.0)
    left, bottom, right, top = (edge.value for edge in _EDGES)
    if words.matrix is _PLAIN:
        return (left, bottom, right, top)
    a, b, c, d, e, f = words.matrix
    corners = [(a * x + c * y + e, b * x + d * y + f) for x in (left, right) for y in (bottom, top)]
    across, up = zip(*corners, strict=True)
    return (min(across), min(up), max(across), max(up))
