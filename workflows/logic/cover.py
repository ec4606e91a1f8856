"""The cover rule: how much of a query a passage holds, weighted by rarity (DESIGN, "Models").

A token weighs its inverse document frequency; one that is nowhere in the collections weighs most.
"""

import math
from collections.abc import Collection, Mapping


def idf(frequency: int, total: int) -> float:
    """Weight of a token that `frequency` of `total` passages hold; positive, largest at 0."""
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def cover(weights: Mapping[str, float], held: Collection[str]) -> float:
    """Share (0..1) of the query's weight whose tokens a passage holds.

    Args:
        weights: the query's tokens, each with its `idf`; a token that occurs nowhere must be
            there too, with the weight of frequency 0.
        held: tokens of the passage, of its path and of its headings (a set, for speed).
    """
    total = math.fsum(weights.values())
    if total <= 0:
        return 0.0
    return min(1.0, math.fsum(w for token, w in weights.items() if token in held) / total)
