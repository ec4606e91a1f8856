"""What every model activity shares: how long a call may take, a call without tokens, loose JSON."""

import json
import re
from datetime import timedelta
from typing import Any, Final

from temporalio import activity

from workflows.contracts.acts import TokenUsage
from workflows.contracts.task import ResolvedTask

_MARGIN: Final = 0.1  # share of the activity's time that is kept back to report a time-out
_LONGEST_MARGIN: Final = timedelta(seconds=3)
_FENCE: Final = re.compile(r"\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*", re.DOTALL)


def call_seconds(task: ResolvedTask) -> float:
    """A bit less than the activity may take, so that the error says what happened (B31)."""
    whole = timedelta(seconds=task.settings.model_seconds)
    given = activity.info().start_to_close_timeout
    if given is not None:
        whole = min(whole, given)
    return (whole - min(whole * _MARGIN, _LONGEST_MARGIN)).total_seconds()


def no_tokens() -> TokenUsage:
    """The usage of a call that no server answered."""
    return TokenUsage(attempt=activity.info().attempt)


def unfenced(content: str) -> str:
    """A reply without the code fence around it (C44: strict only in `react`)."""
    match = _FENCE.fullmatch(content)
    return match[1] if match else content


def loose_json(content: str) -> Any:
    """What a reply's JSON holds, NaN and infinities included; None if it is none."""
    try:
        return json.loads(unfenced(content))
    except (ValueError, RecursionError):
        return None
