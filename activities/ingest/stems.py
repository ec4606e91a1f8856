"""Porter's stems of English words, as tokens beside the exact ones.

A stem is written with a tilde, which no other token holds, so that `~configur` is found for
"configuring", "configures" and "configuration", and never for a word that happens to be spelt so.
"""

from collections.abc import Callable, Iterable
from typing import Final, cast

import Stemmer  # type: ignore[import-untyped] # it ships no types

# A change of what is stemmed, and how, needs a new number: collections are then tokenised anew.
STEMS_VERSION: Final = 1

MARK: Final = "~"
_SHORTEST: Final = 3
_LONGEST: Final = 30
_MOST: Final = 1 << 16

_stemmed: Final = cast("Callable[[str], str]", Stemmer.Stemmer("porter", 0).stemWord)  # pyright: ignore[reportUnknownMemberType]


class _Stems(dict[str, str]):
    """Words met before with their stems; asking a dict costs half of `lru_cache`."""

    def __missing__(self, word: str) -> str:
        plain = _SHORTEST <= len(word) <= _LONGEST and word.isascii() and word.isalpha()
        found = MARK + _stemmed(word) if plain else ""
        if len(self) >= _MOST:
            self.clear()
        self[word] = found
        return found


_STEMS: Final = _Stems()


def stem(word: str) -> str:
    """The marked stem of an English word; "" for what is none, or too short to have one."""
    return _STEMS[word]


def stems(words: Iterable[str]) -> list[str]:
    """The stems of words, in their order, repeats kept."""
    return list(filter(None, map(_STEMS.__getitem__, filter(str.isascii, words))))
