"""A PDF page as it is drawn, and boxes on it: whether words in their place are seen."""

from collections.abc import Iterator
from typing import Any, Final

_CONTRAST: Final = 12
_DRAWN_PIXELS: Final = 1200.0
_LARGEST_SCALE: Final = 2.0

Box = tuple[float, float, float, float]  # left, bottom, right, top, in points of the page
Pixels = tuple[int, int, int, int]  # left, top, right, bottom


def common(box: Box, other: Box) -> Box:
    """What two boxes share, of no area if nothing."""
    left, bottom = max(box[0], other[0]), max(box[1], other[1])
    return (left, bottom, max(left, min(box[2], other[2])), max(bottom, min(box[3], other[3])))


def shared(box: Box, other: Box) -> float:
    """The area that two boxes share."""
    return area(common(box, other))


def area(box: Box) -> float:
    """The area of a box."""
    return (box[2] - box[0]) * (box[3] - box[1])


class Drawn:
    """A page as it is drawn, small and gray."""

    def __init__(self, page: Any) -> None:
        width, height = page.get_size()
        scale = min(_LARGEST_SCALE, _DRAWN_PIXELS / max(width, height, 1.0))
        bitmap = page.render(scale=scale, grayscale=True)
        try:
            self._to_bitmap = bitmap.get_posconv(page).to_bitmap
            self._data = bytes(bitmap.buffer)
            self._size = (bitmap.width, bitmap.height, bitmap.stride)
        finally:
            bitmap.close()

    def box(self, box: Box) -> Pixels:
        """Left, top, right, bottom in pixels."""
        corners = [self._to_bitmap(x, y) for x in (box[0], box[2]) for y in (box[1], box[3])]
        across, down = zip(*corners, strict=True)
        return (min(across), min(down), max(across), max(down))

    def is_plain(self, box: Pixels) -> bool:
        """Whether a part is of one colour, so that no word is seen in it."""
        darkest, lightest = 255, 0
        for row in self._rows(box):
            darkest, lightest = min(darkest, *row), max(lightest, *row)
        return lightest - darkest < _CONTRAST

    def is_like(self, other: "Drawn", box: Pixels) -> bool:
        """Whether a part looks the same on another drawing of the same page."""
        pairs = zip(self._rows(box), other._rows(box), strict=True)
        return all(
            row == again or max(abs(a - b) for a, b in zip(row, again, strict=True)) < _CONTRAST
            for row, again in pairs
        )

    def _rows(self, box: Pixels) -> Iterator[bytes]:
        width, height, stride = self._size
        left, right = max(0, box[0]), min(width, box[2] + 1)
        for y in range(max(0, box[1]), min(height, box[3] + 1)):
            if row := self._data[y * stride + left : y * stride + right]:
                yield row
