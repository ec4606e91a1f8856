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
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
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
_WRAPPED = re.compile(f"(?<=[{_CJK}])\\n(?=[{_CJK}])")
_JOINER = re.compile(r"[_.\-/:+#]+")
_PART = re.compile(r"\d+|[^\W\d_]+")
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
        words = _WORD.findall(_POSSESSIVE.sub("", text) if "'" in text else text)
        return list(chain.from_iterable(map(_parts_of, words)))
    # Lines of Chinese are wrapped inside of words.
    folded = unicodedata.normalize("NFKC", text)
    if not _CJK_RUN.search(folded):
        return list(chain.from_iterable(map(_parts_of, _WORD.findall(_POSSESSIVE.sub("", folded)))))
    folded = _POSSESSIVE.sub("", _WRAPPED.sub("", folded))
    found: list[str] = []
    for word in _WORD.findall(folded):
        if word.isascii() or not _CJK_RUN.search(word):
            found += _parts_of(word)
        else:
            found += _mixed(word, run)
    return found


def _mixed(word: str, run: Callable[[str], list[str]]) -> Iterator[str]:
    end = 0
    for match in _CJK_RUN.finditer(word):
        yield from _latin(word[end : match.start()])
        yield from run(match.group())
        end = match.end()
    yield from _latin(word[end:])


def _latin(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        yield from _parts_of(match.group())


def _run_for_index(run: str) -> list[str]:
    run = run.casefold()
    return [run[i : i + 2] for i in range(len(run) - 1)] + list(run)


def _run_for_query(run: str) -> list[str]:
    run = run.casefold()
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


@lru_cache(maxsize=1 << 16)
def _parts_of(word: str) -> tuple[str, ...]:
    """A word or identifier and its parts, each once in a row."""
    found = [word.casefold()[:_LONGEST]]
    for piece in filter(None, _JOINER.split(word)):
        found.append(piece.casefold()[:_LONGEST])
        # A hash or an encoded blob would fall into dozens of meaningless bits.
        bits = [hump for part in _PART.findall(piece) for hump in _HUMP.split(part)]
        if 1 < len(bits) <= _MOST_PARTS:
            found.extend(bit.casefold()[:_LONGEST] for bit in bits)
    return tuple(token for i, token in enumerate(found) if i == 0 or token != found[i - 1])
