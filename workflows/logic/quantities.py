"""Quantities in a text: numbers with their units, percentages, dates, Chinese and English numerals.

They are named to a judge and carry derived values; alone they decide nothing, since a third of
supported claims write a number otherwise than their source (FIELD-NOTES).
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

from workflows.logic.stop_words import word_list

_DIGITS: Final = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_TENS: Final = {"十": 10, "百": 100, "千": 1000}
_BIG: Final = {"万": 10_000, "亿": 100_000_000}
_SCALES: Final = {
    "hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "万": 10**4, "亿": 10**8,
}  # fmt: skip
_COUNTED: Final = "zero one two three four five six seven eight nine ten eleven twelve"
_WORDS: Final = {word: number for number, word in enumerate(word_list(_COUNTED))}
_MONTHS: Final = {
    name: number
    for number, name in enumerate(word_list("jan feb mar apr may jun jul aug sep oct nov dec"), 1)
}
_CHINESE: Final = "零〇一二两三四五六七八九十百千万亿"
_NUMBER: Final = re.compile(
    r"(?<![\w.])(?P<sign>[-−])?(?P<digits>\d{1,3}(?:[,\u00a0]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)*)"
    r"(?P<exp>[eE][+-]?\d{1,3})?\s*(?P<scale>hundred|thousand|million|billion|万|亿)?"
    r"\s*(?P<unit>%|percentage points?|percent|per cent|个百分点|[a-zA-Zµ°]{1,12}|"
    r"[个天年月日次元件台米秒分小时]{1,2})?"
)
_PERCENT_ZH: Final = re.compile(rf"百分之([{_CHINESE}\d.]+)")
_NUMERAL_ZH: Final = re.compile(
    rf"[{_CHINESE}]{{1,12}}(?!分[点之])(?=[个天年月日次元件台米秒分倍成项种家人]|$|[^\w])"
)
_WORD: Final = re.compile(
    r"\b(" + "|".join(_WORDS) + r")\b(?:[\s-]+(hundred|thousand|million|billion))?", re.I
)
_PER_CENT: Final = ("%", "percent", "per cent")
_POINTS: Final = ("个百分点", "percentage point", "percentage points")
_IGNORED_WORDS: Final = frozenset(["one", "zero"])
_NO_UNITS: Final = frozenset(
    word_list("and or in of to for the a an is are was were by on at with from as per than")
)


@dataclass(frozen=True)
class Quantity:
    """A number as it is written, its value, and its unit ("" where none follows)."""

    raw: str
    value: Decimal
    unit: str


def quantities(text: str) -> list[Quantity]:
    """Quantities in order of appearance; a version or date gives its parts as it is written."""
    text = unicodedata.normalize("NFKC", text)
    found: list[tuple[int, Quantity]] = []
    for match in _PERCENT_ZH.finditer(text):
        value = _decimal(match[1]) or chinese_number(match[1])
        if value is not None:
            found.append((match.start(), Quantity(match[0], value, "%")))
    for match in _NUMBER.finditer(text):
        if (quantity := _written(match)) is not None:
            found.append((match.start(), quantity))
    for match in _WORD.finditer(text):
        word = match[1].lower()
        if word not in _IGNORED_WORDS or match[2]:
            value = Decimal(_WORDS[word] * _SCALES.get((match[2] or "").lower(), 1))
            found.append((match.start(), Quantity(match[0], value, "")))
    taken = [match.span() for match in _PERCENT_ZH.finditer(text)]
    for match in _NUMERAL_ZH.finditer(text):
        inside = any(start <= match.start() < end for start, end in taken)
        value = None if inside else chinese_number(match[0])
        if value is not None and (len(match[0]) > 1 or value > 1):
            found.append((match.start(), Quantity(match[0], value, "")))
    return [quantity for _, quantity in sorted(found, key=lambda pair: pair[0])]


def _written(match: re.Match[str]) -> Quantity | None:
    digits = match["digits"]
    if digits.count(".") > 1:  # a version: its parts mean nothing alone
        return Quantity(digits, Decimal(int(digits.replace(".", "")[:30])), "version")
    value = _decimal(digits.replace(",", "").replace("\u00a0", "") + (match["exp"] or ""))
    if value is None:
        return None
    value *= _SCALES.get((match["scale"] or "").lower(), 1)
    unit = (match["unit"] or "").lower()
    if unit in _PER_CENT:
        unit = "%"
    elif unit in _POINTS:
        unit = "pp"
    elif unit in _NO_UNITS:
        unit = ""
    return Quantity(match[0].strip(), -value if match["sign"] else value, unit.rstrip("s"))


def _decimal(text: str) -> Decimal | None:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def chinese_number(text: str) -> Decimal | None:
    """The value of a Chinese numeral, None if it is none: 三百二十, 一万五千, 二〇二四."""
    if not text or any(c not in _CHINESE for c in text):
        return None
    if all(c in _DIGITS for c in text):
        return Decimal("".join(str(_DIGITS[c]) for c in text))
    total = section = digit = 0
    for c in text:
        if c in _DIGITS:
            digit = _DIGITS[c]
        elif c in _TENS:
            section += (digit or 1) * _TENS[c]
            digit = 0
        else:
            total = (total + section + digit or 1) * _BIG[c]
            section = digit = 0
    return Decimal(total + section + digit)


def missing_quantities(claim: str, passages: Sequence[str]) -> list[str]:
    """Quantities of a claim that no passage holds by value; a bare number matches any unit."""
    held = [quantity for passage in passages for quantity in quantities(passage)]
    months = {n for passage in passages for n in _months(passage)}
    return list(
        dict.fromkeys(
            quantity.raw
            for quantity in quantities(claim)
            if not any(_same(quantity, other) for other in held)
            and not (quantity.unit in ("月", "") and int(abs(quantity.value)) in months)
        )
    )


def _same(one: Quantity, other: Quantity) -> bool:
    if one.value != other.value:
        return False
    return one.unit == other.unit or not one.unit or not other.unit


def _months(text: str) -> list[int]:
    return [
        _MONTHS[word[:3].lower()]
        for word in re.findall(r"\b[A-Za-z]{3,9}\b", text)
        if word[:3].lower() in _MONTHS
    ]


_NEGATION: Final = re.compile(
    r"\b(?:not?|never|none|neither|nor|without|cannot)\b|n['\u2019]t\b|[不未没無无非勿莫否]", re.I
)


def negations(text: str) -> int:
    """How many words of negation a text holds, English and Chinese."""
    return len(_NEGATION.findall(unicodedata.normalize("NFKC", text)))
