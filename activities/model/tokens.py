"""Tokens of a model call: from the reply's usage, else estimated and marked so (B25)."""

import re
from typing import Any, Final, cast

from workflows.contracts.acts import TokenUsage

_MOST: Final = 10_000_000  # more than any context window: the number is nonsense
_LETTERS_PER_TOKEN: Final = 4
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is: one per wide (CJK) character, one per four others."""
    wide = len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // _LETTERS_PER_TOKEN)


def usage_of(reported: Any, prompt: str, completion: str) -> TokenUsage:
    """Usage as the server reports it, or estimated from the texts when that is no use.

    Missing, null, strings, booleans, negative and absurd numbers are no use, nor is a prompt of
    nothing: budgets must bind whatever a server says.
    """
    if isinstance(reported, dict):
        fields = cast("dict[str, Any]", reported)
        sent, written = fields.get("prompt_tokens"), fields.get("completion_tokens")
        if _plausible(sent, 1) and _plausible(written, 0):
            return TokenUsage(
                prompt_tokens=cast("int", sent), completion_tokens=cast("int", written)
            )
    return TokenUsage(
        prompt_tokens=estimate_tokens(prompt),
        completion_tokens=estimate_tokens(completion),
        estimated=True,
    )


def _plausible(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= _MOST
