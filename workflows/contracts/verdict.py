"""The verdict on a step (REQUIREMENTS 80)."""

from typing import Annotated, Literal

from pydantic import Field

from workflows.contracts.base import Wire


class Verdict(Wire):
    """Passed or not, with a score in 0..1, the layer that decided, the reason and the scope."""

    passed: bool
    score: Annotated[float, Field(ge=0, le=1)]
    layer: Literal["structure", "evidence", "goal"] = "goal"
    reason: str = ""
    scope: Literal["local", "global"] = "local"
