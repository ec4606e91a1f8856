"""The cover rule: how much of a query a passage holds, weighted by rarity (DESIGN, "Models").

A token weighs its inverse document frequency; one that is nowhere in the collections weighs most,
and up to three times that where its absence tells that the subject is foreign to them: an ordinary
word without any of its inflected forms, or a pair of Chinese characters of which one occurs
nowhere. A pair that occurs nowhere between two that do is the border of two Chinese words and
weighs nothing. What a few pages leave out tells little, what ten thousand passages leave out much.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from workflows.logic.tokens import is_cjk

_MOST_FOREIGN = 3.0
_SHORTEST_FOREIGN = 4
_SHORTEST_BASE = 3
_VOWELS = "aeiou"


@dataclass(frozen=True)
class Weighed:
    """A query's tokens, each with its weight and the forms that count as holding it."""

    weights: dict[str, float]
    forms: dict[str, tuple[str, ...]]

    def cover(self, held: Collection[str]) -> float:
        """Share (0..1) of the weight that a passage holds.

        Args:
            held: tokens of the passage, of its path and of its headings (a set, for speed).
        """
        total = math.fsum(self.weights.values())
        if total <= 0:
            return 0.0
        found = math.fsum(
            weight
            for token, weight in self.weights.items()
            if any(form in held for form in self.forms[token])
        )
        return min(1.0, found / total)

    def searched(self) -> list[str]:
        """Every token and form to look for, each once."""
        return list(dict.fromkeys(form for forms in self.forms.values() for form in forms))


def idf(frequency: int, total: int) -> float:
    """Weight of a token that `frequency` of `total` passages hold; positive, largest at 0."""
    frequency = min(frequency, total)
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def cover(weights: Mapping[str, float], held: Collection[str]) -> float:
    """Share (0..1) of the weight of tokens that a passage holds as they are."""
    return Weighed(dict(weights), {token: (token,) for token in weights}).cover(held)


def weighed(
    words: Iterable[str],
    frequency: Callable[[str], int],
    total: int,
    other_forms: Callable[[str], Sequence[str]] | None = None,
) -> Weighed:
    """Weigh the tokens of a query.

    Args:
        words: the tokens, each once.
        frequency: how many of the `total` passages hold a token.
        total: how many passages there are.
        other_forms: what counts as a word beside itself; its inflections if not given.
    """
    words = list(words)
    other_forms = other_forms or inflections
    weights: dict[str, float] = {}
    forms: dict[str, tuple[str, ...]] = {}
    for place, word in enumerate(words):
        known = [form for form in (word, *other_forms(word)) if frequency(form) > 0]
        weight = idf(max(map(frequency, known), default=0), total)
        if not known and _is_border(words, place, frequency):
            weight = 0.0
        elif not known and _foreign(word, frequency):
            weight *= absence(total)
        weights[word] = weight
        forms[word] = tuple(known) or (word,)
    return Weighed(weights, forms)


def absence(total: int) -> float:
    """Weight of a word's absence from `total` passages: 1 up to a hundred, 3 from ten thousand."""
    return min(_MOST_FOREIGN, max(1.0, math.log10(max(1, total)) - 1))


def _is_border(words: list[str], place: int, frequency: Callable[[str], int]) -> bool:
    """Whether a pair of characters that occurs nowhere stands between two pairs that do."""
    if not 0 < place < len(words) - 1 or not is_cjk(words[place]):
        return False
    before, word, after = words[place - 1 : place + 2]
    joined = before[-1] == word[0] and word[-1] == after[0]
    return joined and frequency(before) > 0 and frequency(after) > 0


def _foreign(word: str, frequency: Callable[[str], int]) -> bool:
    if is_cjk(word):
        return any(frequency(character) == 0 for character in word)
    return word.isalpha() and len(word) >= _SHORTEST_FOREIGN


def inflections(word: str) -> list[str]:
    """Other forms of an English word: plural, third person, past, -ing; [] for anything else."""
    if len(word) < _SHORTEST_BASE or not (word.isascii() and word.isalpha()):
        return []
    bases = _bases(word)
    found = [form for base in bases for form in (base, *_forms(base))]
    return [form for form in dict.fromkeys(found) if form != word]


def _bases(word: str) -> list[str]:
    bases = [word]
    if word.endswith(("ies", "ied")):
        bases.append(word[:-3] + "y")
    elif word.endswith("es"):
        bases += [word[:-2], word[:-1]]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        bases.append(word[:-1])
    elif word.endswith("ed"):
        bases += [word[:-2], word[:-1], *_undoubled(word[:-2])]
    elif word.endswith("ing"):
        bases += [word[:-3], word[:-3] + "e", *_undoubled(word[:-3])]
    return [base for base in bases if len(base) >= _SHORTEST_BASE]


def _undoubled(stem: str) -> list[str]:
    doubled = len(stem) > _SHORTEST_BASE and stem[-1] == stem[-2] and stem[-1] not in _VOWELS
    return [stem[:-1]] if doubled else []


def _forms(base: str) -> list[str]:
    if base.endswith("e"):
        return [base + "s", base + "d", base[:-1] + "ing"]
    if base.endswith("y") and base[-2] not in _VOWELS:
        return [base[:-1] + "ies", base[:-1] + "ied", base + "ing"]
    plural = base + ("es" if base.endswith(("s", "x", "z", "ch", "sh")) else "s")
    return [plural, base + "ed", base + "ing"]
