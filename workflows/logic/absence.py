"""Whether a claim says that the sources do not say something: code writes that, never a model.

Absence is a statement about a search: which collections, which queries, how many (DESIGN,
"Verification": kinds). A source that says so of itself may be quoted for it.
"""

import re
from collections.abc import Iterable
from typing import Final

_THINGS: Final = (
    r"(?:documents?|documentation|docs?|sources?|evidence|passages?|texts?|excerpts?|notes?"
    r"|collections?|corpus|materials?)"
)
_SAYS: Final = (
    r"(?:mention|say|state|contain|describe|discuss|cover|specify|include|provide|address|explain"
    r"|give|report|list|indicate|refer|offer|hold|show|tell|reveal)"
)
_NOT: Final = r"(?:(?:do|does|did)\s+not|(?:do|does|did)n['\u2019]t|never|fails?\s+to)"
_ENGLISH: Final = re.compile(
    rf"\b{_THINGS}\b[^.;:!?]{{0,60}}?\b{_NOT}\s+(?:\w+\s+)?{_SAYS}"
    rf"|\b(?:no|none\s+of\s+the|nothing\s+in\s+the)\s+(?:\w+\s+){{0,3}}?{_THINGS}\b"
    rf"[^.;:!?]{{0,40}}?\b{_SAYS}"
    rf"|\b(?:not|never)\s+(?:\w+\s+)?(?:mentioned|stated|described|discussed|found|covered|specified)"
    rf"\s+(?:anywhere\s+)?(?:in|by)\s+(?:\w+\s+){{0,3}}?{_THINGS}\b"
    rf"|\bno\s+(?:mention|information|evidence)\b[^.;:!?]{{0,60}}?\b(?:in|was|is|are)\b",
    re.IGNORECASE,
)
_CHINESE: Final = re.compile(
    r"(?:文档|文件|来源|资料|材料|文本|段落|证据|集合|笔记|文中|文章)[^。；！？]{0,20}?"
    r"(?:没有|未曾?|并未|并没有|不曾)(?:\S{0,4}?)(?:提到|提及|说明|描述|记载|涉及|包含|给出|列出|讨论)"
)


def says_absent(text: str) -> bool:
    """Whether a text says of sources that they do not say something."""
    return bool(_ENGLISH.search(text) or _CHINESE.search(text))


def written_by_model(text: str, quotes: Iterable[str]) -> bool:
    """Whether a claim of absence is the writer's own: none of its quotes says so itself."""
    return says_absent(text) and not any(says_absent(quote) for quote in quotes)
