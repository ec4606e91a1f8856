"""What a tool call brought, as the next model call sees it (REQUIREMENTS 179)."""

from workflows.contracts.base import Compact, NonNegative


class Observation(Compact):
    """The newest observation.

    Attributes:
        ok: whether the call worked; an empty result is ok.
        error: `repeated_query`, `tool_error`, `invalid_tool_result`, or the tool's own words.
        numbers: evidence numbers of what came back, known ones included; never the hits again.
        note: why there is nothing, in a sentence, when the search knows.
    """

    ok: bool
    error: str = ""
    numbers: list[int] = []
    new_sources: NonNegative = 0
    note: str = ""
