"""Citation marks: `[E1]`, and the ways people and models write them (REQUIREMENTS 69, 70; C42).

Lists, ranges, full-width and spaced brackets are normalised; lower case is no mark; marks inside
code are text, not citations. The bare layer functions of the case files take the exact form only.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

_STRICT: Final = re.compile(r"\[E([1-9][0-9]{0,5})\]")
_OPEN: Final = r"\[［【〔"
_CLOSE: Final = r"\]］】〕"
_NUMBER: Final = r"[EＥ]\s?([0-9０-９]{1,9})"
_BETWEEN: Final = r"\s*(?:[,，、;；/&]|and|und|和|与)?\s*"
_MARK: Final = re.compile(
    rf"[{_OPEN}]\s*([EＥ]\s?[0-9０-９][^{_OPEN}{_CLOSE}\n]{{0,200}}?)\s*[{_CLOSE}]"
)
_ONE: Final = re.compile(
    rf"{_NUMBER}(?:\s*(?:-|–|—|~|～|至|to)\s*(?:[EＥ]\s?)?([0-9０-９]{{1,9}}))?"
)
_SEPARATOR: Final = re.compile(_BETWEEN)
_WIDEST: Final = 50
_MOST: Final = 999_999
_CODE: Final = re.compile(r"^(```|~~~).*?^\1[^\n]*$|^(?:```|~~~).*\Z|(`+)(?!`).+?(?<!`)\2(?!`)",
                          re.DOTALL | re.MULTILINE)  # fmt: skip


def citations(text: str) -> list[int]:
    """Evidence numbers that a text cites, each once, in order; a number beyond any stays in."""
    return list(dict.fromkeys(n for _, _, numbers in _marks(text) for n in numbers))


def strict_citations(text: str) -> list[int]:
    """Numbers of marks of the exact form `[E<n>]` only."""
    return list(dict.fromkeys(int(match[1]) for match in _STRICT.finditer(text)))


def normalised(text: str) -> str:
    """The text with every mark as `[E1][E2]`."""
    return _replaced(text, lambda numbers: "".join(f"[E{n}]" for n in numbers))


def without_marks(text: str) -> str:
    """The text without its marks, blanks before them and double blanks folded."""
    bare = _replaced(text, lambda _: "\0")
    bare = re.sub(r"[ \t]*(?:\0[ \t]*)+(?=[.,;:!?。，；：！？]|$)", "", bare, flags=re.MULTILINE)
    return re.sub(r"[ \t]*(?:\0[ \t]*)+", " ", bare).strip()


def replaced_everywhere(text: str, make: Callable[[list[int]], str]) -> str:
    """The text with every mark replaced, also what looks like code: for text that is no Markdown.

    Args:
        text: any text.
        make: gives what stands in place of a mark, from its numbers.
    """
    return _replaced(text, make, code=False)


def _replaced(text: str, make: Callable[[list[int]], str], *, code: bool = True) -> str:
    parts: list[str] = []
    place = 0
    for start, end, numbers in _marks(text, code=code):
        parts += [text[place:start], make(numbers)]
        place = end
    return "".join([*parts, text[place:]])


def _marks(text: str, *, code: bool = True) -> Iterator[tuple[int, int, list[int]]]:
    """Place and numbers of each mark; with `code`, of each outside of code."""
    may = code and ("`" in text or "~" in text)
    spans = [match.span() for match in _CODE.finditer(text)] if may else []
    for match in _MARK.finditer(text):
        while spans and spans[0][1] <= match.start():
            spans.pop(0)
        if spans and spans[0][0] <= match.start():
            continue
        if numbers := _numbers(match[1]):
            yield match.start(), match.end(), numbers


def _numbers(inside: str) -> list[int]:
    """Numbers of what stands between the brackets; [] if it is no list of marks."""
    found: list[int] = []
    place = 0
    while place < len(inside):
        match = _ONE.match(inside, place)
        if match is None:
            return []
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        # A range that runs backwards or too far names its ends only.
        apart = last < first or last - first >= _WIDEST
        found += [first, last] if apart else range(first, last + 1)
        place = match.end()
        separator = _SEPARATOR.match(inside, place)
        place = separator.end() if separator else place
    return list(dict.fromkeys(min(number, _MOST) for number in found))
