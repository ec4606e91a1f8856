"""Whether a sentence of an edited report is a whole sentence of a source, to the letter.

Stricter than `find_quote`: a person, not a model, wrote it, and one sign, case or word less may
turn what it says.
"""

import re
import unicodedata
from typing import Final

from workflows.logic.quotes import find_quote
from workflows.logic.sentences import sentences

_OUTER: Final = " \t\"'"
_SAME: Final = str.maketrans(
    dict.fromkeys("‘’‚‛ʼ", "'")
    | dict.fromkeys("“”„‟", '"')
    | dict.fromkeys("‐‑‒–—―−﹘", "-")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", "")
)
_BLANK_BEFORE_END: Final = re.compile(r" (?=[.,;:!?。，；：！？](?:\s|$))")
_WIDE: Final = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
_WIDE_GAP: Final = re.compile(rf"(?<=[{_WIDE}]) (?=[{_WIDE}])")
_WRAPPED: Final = re.compile(r"(?<=[^\W\d_])[-\u2010][ \t\r]*\n\s*(?=[^\W\d_])")
_BEFORE: Final = re.compile(r"[\s\"'“‘«「『(（\[*_`>#|•+-]*")
_AFTER: Final = re.compile(r"[\s.!?。！？…\"'”’»」』)）\]*_`|]*")
# A sentence of a source may begin with a small letter, where the range of several is one sentence.
_ENDED: Final = re.compile(r"[.!?]['\"”’)\]*_`]*\s+$|[。！？]['\"”’」』)）\]*_`]*\s*$")
_SHORT: Final = re.compile(
    r"(?i)(?:\b(?:e\.g|i\.e|cf|vs|figs?|no|dr|mrs?|ms|prof|st|sec|ch|vol|pp|approx|resp|eq|ref|etc"
    r"|al|[a-z]))\.\s*$"
)
_SIGNS: Final = "-+−–±<>≤≥=≠≈~^/\\$€£¥%#"


def same(text: str) -> str:
    """What of a text is compared: not typographic quotes and dashes, not how blanks are set.

    Case, signs, ranges and units count: 5 mW is not 5 MW, and -5 is not 5.
    """
    folded = unicodedata.normalize("NFC", " ".join(text.split())).translate(_SAME)
    return _BLANK_BEFORE_END.sub("", folded).strip()


def is_sentence(text: str, quote: str) -> bool:
    """Whether a quote is a whole sentence of a text: a part of one can lose its "not".

    Args:
        text: a stored text.
        quote: a sentence as `same` gives it.
    """
    found = find_quote(text, quote)
    if found is None:
        return False
    start, end = found
    if _letters(_WRAPPED.sub("", text[start:end])) != _letters(quote):
        return False
    if text[max(0, start - 1) : start] in tuple(_SIGNS):
        return False
    return any(
        sentence.start <= start
        and end <= sentence.end
        and (_BEFORE.fullmatch(text, sentence.start, start) or _ends(text[sentence.start : start]))
        and (_AFTER.fullmatch(text, end, sentence.end) or _ends(text[start : end + 1]))
        for sentence in sentences(text)
    )


def _ends(text: str) -> bool:
    """Whether a sentence ends with this part of a source, before what follows."""
    return bool(_ENDED.search(text)) and not _SHORT.search(text)


def _letters(text: str) -> str:
    return _WIDE_GAP.sub("", same(text)).strip(_OUTER)
