"""Criteria a third party can check: words that only say that somebody is content are refused.

English words are compared whole, with their endings; Chinese ones as they stand. What stands in
quotation marks is spoken of, not used (REQUIREMENTS 19, 20).
"""

import re
from typing import Final

from workflows.logic.stop_words import word_list

_ENGLISH: Final = word_list("""
    reasonable reasonably suitable suitably appropriate appropriately adequate adequately proper
    properly acceptable acceptably satisfactory satisfactorily satisfying satisfied decent nice
    nicely plausible plausibly sensible sensibly good well-written great fine okay ok desirable
    convincing satisfies-me high-quality meaningful meaningfully
""")
_PHRASES: Final = (
    "as needed", "as necessary", "as required", "as appropriate", "if necessary", "good enough",
    "looks fine", "looks good", "looks right", "looks ok", "sufficient detail", "enough detail",
    "sufficiently detailed", "to some extent", "more or less", "and so on", "high quality",
    "the model finds", "the model thinks", "the model considers", "the model is satisfied",
    "the model is happy", "the agent is satisfied", "seems fine", "seems right", "best effort",
    "well written", "done well",
)  # fmt: skip
_CHINESE: Final = word_list("""
    合理 适当 合适 恰当 适宜 妥当 尽量 尽可能 足够好 良好 满意 差不多 大致 较好 比较好
    适度 酌情 视情况 必要时 得体 像样 还行 可以接受 模型认为 模型觉得 模型满意 看起来不错
    质量高 高质量 有意义 足够详细
""")
_QUOTED: Final = re.compile(
    r"\"[^\"]*\"|“[^”]*”|「[^」]*」|『[^』]*』|‘[^’]*’|`[^`]*`|'[^'\n]*'(?!\w)"
)
_WORDS: Final = re.compile(
    r"(?<![\w-])(?:"
    + "|".join(map(re.escape, sorted(_ENGLISH, key=len, reverse=True)))
    + r")(?![\w-])",
    re.IGNORECASE,
)
_SAID: Final = re.compile(
    r"(?<!\w)(?:" + "|".join(phrase.replace(" ", r"\s+") for phrase in _PHRASES) + r")(?!\w)",
    re.IGNORECASE,
)
_GOOD_NOUNS: Final = re.compile(r"\bgoods?\s+(?:sold|exported|imported|delivered)\b", re.IGNORECASE)


def vague_words(criterion: str) -> list[str]:
    """The vague words of a criterion, each once, in order; [] if a third party can check it."""
    bare = _GOOD_NOUNS.sub(" ", _QUOTED.sub(" ", criterion))
    found = [(match.start(), match[0]) for match in _WORDS.finditer(bare)]
    found += [(match.start(), match[0]) for match in _SAID.finditer(bare)]
    for word in _CHINESE:
        place = bare.find(word)
        if place >= 0:
            found.append((place, word))
    return list(dict.fromkeys(" ".join(word.lower().split()) for _, word in sorted(found)))
