"""Lines of PDF pages as paragraphs.

Lines stay as they are printed; a blank line is put where a paragraph visibly ends, and a word that
was broken at a line's end is joined where the document itself writes it so.
"""

import re
from typing import Final

_FIRST_WIDE: Final = "\u2e80"
_TITLE_CHARACTERS: Final = 200

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


def paragraphs(pages: dict[int, str]) -> dict[int, str]:
    """Pages with the hyphens at the ends of lines undone and their paragraphs parted."""
    words: set[str] = set()
    for text in pages.values():
        words.update(word.casefold() for word in _WORD.findall(text))

    def whole(match: re.Match[str]) -> str:
        first, second = match[1], match[2]
        if f"{first}-{second}".casefold() in words:
            return f"{first}-{second}"
        plain = (first + second).casefold() in words or second.islower()
        return first + second if plain else f"{first}-{second}"

    return {
        number: _parted(printable(_BROKEN.sub(whole, text).replace("\x02", "-"))).strip("\n")
        for number, text in pages.items()
    }


def printable(text: str) -> str:
    """Text without control characters, but for tabs and line ends."""
    return _CONTROL.sub("", text)


def one_line(words: str) -> str:
    """A title on one line, cut."""
    return " ".join(printable(words).split())[:_TITLE_CHARACTERS]


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
