"""Tokens: what the index holds and what a query is made of (DESIGN, "Search").

Text is folded (NFKC, case) and cut into words; an identifier gives itself and its parts
(`asyncio.TaskGroup`: `asyncio.taskgroup`, `asyncio`, `taskgroup`, `task`, `group`), a run of
Chinese, Japanese or Korean characters gives its bigrams and, for the index, its single characters.
No token holds a blank or a character of query syntax, so a query made of tokens is always literal.
The parts of an identifier follow each other as in plain prose: a phrase query for `task group`
finds `TaskGroup` too.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from operator import add
from typing import Final

# A change of the rules below needs a new number: collections are then tokenised anew.
TOKENS_VERSION: Final = 1

# ASCII characters besides letters and digits that may stand inside a token.
TOKEN_CHARACTERS: Final = "_.-/:+#"

_LONGEST = 80
_MOST_PARTS = 6
_CJK = (
    "\u3005-\u3007\u3031-\u3035\u3040-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\u1100-\u11ff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD = re.compile(r"_*[^\W_]+(?:(?:[_.\-/]{1,2}|::)[^\W_]+)*_*(?:\+\+|#(?!\w))?")
_CJK_RUN = re.compile(f"[{_CJK}]+")
_WRAPPED = re.compile(f"\\n(?<=[{_CJK}]\\n)(?=[{_CJK}])")
_JOINER = re.compile(r"[_.\-/:+#]+")
_PART = re.compile(r"\d+|[^\W\d_]+")
_ASCII_BITS = re.compile(r"\d+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_POSSESSIVE = re.compile(r"(?<=\w)['\u2019\uff07](?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)


def tokens(text: str) -> list[str]:
    """Tokens for the index, in reading order, repeats kept."""
    return _all_tokens(text, _run_for_index)


def query_tokens(text: str) -> list[str]:
    """Tokens for a query, each once, in order of appearance; [] when there is no word in it."""
    return list(dict.fromkeys(_all_tokens(text, _run_for_query)))


def is_cjk(text: str) -> bool:
    """Whether a text holds a Chinese, Japanese or Korean character."""
    return _CJK_RUN.search(text) is not None


def _all_tokens(text: str, run: Callable[[str], list[str]]) -> list[str]:
    if text.isascii():
        return list(chain.from_iterable(map(_PIECES.__getitem__, text.split())))
    # Lines of Chinese are wrapped inside of words.
    folded = unicodedata.normalize("NFKC", text)
    if not _CJK_RUN.search(folded):
        return list(chain.from_iterable(map(_PIECES.__getitem__, folded.split())))
    found: list[str] = []
    for piece in _WRAPPED.sub("", folded).split():
        found += _PIECES[piece] if piece.isascii() else _mixed(piece, run)
    return found


class _Remembered(dict[str, tuple[str, ...]]):
    """What a rule made of words before: they repeat. Asking a dict costs half of `lru_cache`."""

    def __init__(self, rule: Callable[[str], Iterable[str]], most: int) -> None:
        super().__init__()
        self._rule = rule
        self._most = most

    def __missing__(self, word: str) -> tuple[str, ...]:
        found = tuple(self._rule(word))
        if len(word) <= _LONGEST:
            if len(self) >= self._most:
                self.clear()
            self[word] = found
        return found


def _cut(piece: str) -> Iterator[str]:
    """Tokens of what stands between two blanks, without Chinese; no word reaches beyond it."""
    return chain.from_iterable(map(_parts_of, _words(piece)))


def _words(piece: str) -> list[str]:
    if "'" in piece or "\u2019" in piece:
        piece = _POSSESSIVE.sub("", piece)
    return _WORD.findall(piece)


def _mixed(piece: str, run: Callable[[str], list[str]]) -> list[str]:
    """Tokens of a piece that may hold Chinese."""
    found: list[str] = []
    for word in _words(piece):
        end = 0
        for match in _CJK_RUN.finditer(word):
            start = match.start()
            if start > end:
                found += _latin(word[end:start])
            found += run(match[0])
            end = match.end()
        if end < len(word):
            found += _latin(word[end:]) if end else _parts_of(word)
    return found


def _latin(text: str) -> Iterator[str]:
    return chain.from_iterable(map(_parts_of, _WORD.findall(text)))


def _run_for_index(run: str) -> list[str]:
    run = run.casefold()
    return [*map(add, run, run[1:]), *run]


def _run_for_query(run: str) -> list[str]:
    run = run.casefold()
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def _parts_of(word: str) -> Iterable[str]:
    """A word or identifier and its parts, each once in a row."""
    if word.isalnum():
        return _COMPONENTS[word]
    found = [word.casefold()[:_LONGEST]]
    for part in _JOINER.split(word):
        if part:
            found += _COMPONENTS[part]
    return _once(found)


def _component(word: str) -> Iterable[str]:
    """A word of letters and digits, and the bits it is made of, each once in a row."""
    whole = word.casefold()[:_LONGEST]
    if word.isalpha() and word.islower():
        return (whole,)
    bits = _bits(word)
    # A hash or an encoded blob would fall into dozens of meaningless bits.
    if not 1 < len(bits) <= _MOST_PARTS:
        return (whole,)
    return _once([whole, *(bit.casefold()[:_LONGEST] for bit in bits)])


def _bits(word: str) -> list[str]:
    """Runs of digits, and of letters up to the next hump."""
    if word.isascii():
        return _ASCII_BITS.findall(word)
    return [bit for part in _PART.findall(word) for bit in _HUMP.split(part)]


def _once(found: Iterable[str]) -> list[str]:
    kept = [""]
    for token in found:
        if token != kept[-1]:
            kept.append(token)
    return kept[1:]


_PIECES: Final = _Remembered(_cut, 1 << 16)
_COMPONENTS: Final = _Remembered(_component, 1 << 15)
