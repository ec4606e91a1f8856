"""Folding of text with a way back: what counts as the same when a quote is looked for.

Folded are width (full and half), case, typographic quotes and dashes, ligatures, canonical
composition. Kept apart are superscripts, fractions and circled digits: 10⁶ is not 106. White space
is removed except between digits; a hyphen at a line's end between letters is undone. Every folded
character knows the raw character it came from (DESIGN, "Verification", item 4; E05).
"""

import re
import unicodedata
from array import array
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_SAME: Final = {
    **dict.fromkeys("‘’‚‛ʼ′", "'"),
    **dict.fromkeys("“”„‟″«»「」『』〝〞〟", '"'),
    **dict.fromkeys("‐‑‒–—―−﹘", "-"),
    **dict.fromkeys("…⋯", "..."),
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""),  # invisible
}
_WIDTH: Final = ("<wide>", "<narrow>")
_WORD = re.compile(r"\S+")
_LINE_HYPHENS: Final = "-\u2010"
_CJK: Final = (
    (0x2E80, 0x2FDF),
    (0x3005, 0x3007),
    (0x3040, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7AF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)


@dataclass(frozen=True)
class Folded:
    """A folded text; `offsets[i]` is the index of the raw character that gave `text[i]`."""

    text: str
    offsets: "array[int]"

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The raw half-open range of a folded one that is not empty."""
        return self.offsets[start], self.offsets[end - 1] + 1

    def whole(self, start: int, end: int) -> bool:
        """Whether a folded range cuts no raw character that folds to several (ß is ss)."""
        offsets = self.offsets
        left = start == 0 or offsets[start] != offsets[start - 1]
        return left and (end == len(offsets) or offsets[end] != offsets[end - 1])


@lru_cache(maxsize=16)
def fold(text: str, hyphens: bool = True) -> Folded:
    """Fold a text.

    Args:
        text: any text.
        hyphens: keep hyphens inside words, and undo those at line ends; False leaves out every
            hyphen between letters, so that a compound broken at its own hyphen is found too.
    """
    pieces: list[str] = []
    offsets: array[int] = array("l")
    end = 0
    for match in _WORD.finditer(text):
        start = match.start()
        if pieces:
            _join(text, (end, start), pieces, offsets)
        end = match.end()
        word = match.group()
        if word.isascii():
            pieces.append(word.lower())
            offsets.extend(range(start, end))
        else:
            for index, character in enumerate(word, start):
                folded = fold_character(character)
                pieces.append(folded)
                offsets.extend([index] * len(folded))
    joined = Folded("".join(pieces), offsets)
    return joined if hyphens else _without_hyphens(joined)


@lru_cache(maxsize=1 << 14)
def fold_character(character: str) -> str:
    """What one character counts as; "" for invisible ones."""
    if (same := _SAME.get(character)) is not None:
        return same
    tag = unicodedata.decomposition(character).partition(" ")[0]
    plain = unicodedata.normalize("NFKC", character)
    if tag in _WIDTH or (tag == "<compat>" and plain.isalpha()):
        character = plain
    folded = unicodedata.normalize("NFD", character.casefold())
    return "".join(_SAME.get(c, c) for c in folded)


def is_cjk(character: str) -> bool:
    """Whether a character belongs to a script that is written without blanks."""
    code = ord(character)
    return code >= _CJK[0][0] and any(low <= code <= high for low, high in _CJK)


def weight(text: str) -> int:
    """How much a text says: letters, one for a letter and two for a CJK character."""
    return sum(2 if is_cjk(c) else 1 for c in text if c.isalpha())


def _join(text: str, gap: tuple[int, int], pieces: list[str], offsets: "array[int]") -> None:
    """Leave out white space between two words, as the rules have it."""
    end, start = gap
    before, after = text[end - 1], text[start]
    if before in _LINE_HYPHENS:
        if end > 1 and text[end - 2].isalpha() and after.isalpha() and "\n" in text[end:start]:
            pieces[-1] = pieces[-1][:-1]
            offsets.pop()
    elif before.isdigit() and after.isdigit():
        pieces.append(" ")
        offsets.append(end)


def _without_hyphens(folded: Folded) -> Folded:
    text = folded.text
    kept = [
        i
        for i, character in enumerate(text)
        if character != "-" or not (text[i - 1 : i].isalpha() and text[i + 1 : i + 2].isalpha())
    ]
    offsets = array("l", [folded.offsets[i] for i in kept])
    return Folded("".join(text[i] for i in kept), offsets)
