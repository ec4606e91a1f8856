"""What a model proposes: `next_action` of `react` (REQUIREMENTS 218-220, C43) and a written answer.

The same models make the schema that is sent and validate the reply (REQUIREMENTS 219); length and
cross-field rules are checked here, whatever the server enforced.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from workflows.contracts.base import Strict, not_blank

PlanEntry = Annotated[
    str, StringConstraints(min_length=1, max_length=120), AfterValidator(not_blank)
]


class NextAction(Strict):
    """One decision of the `react` loop: search once more, or finish."""

    plan: Annotated[list[PlanEntry], Field(min_length=1, max_length=4)]
    action: Literal["search", "finish"]
    query: Annotated[str, StringConstraints(max_length=80)]
    sufficient: bool
    draft: Annotated[str, StringConstraints(max_length=2000)]

    @model_validator(mode="after")
    def _query_fits_action(self) -> "NextAction":
        if self.action == "search" and not self.query.strip():
            raise ValueError("query: a search needs a query that is not blank")
        if self.action == "finish" and self.query:
            raise ValueError("query: must be empty when the action is finish")
        return self


class Answer(Strict):
    """The one written answer of `direct`."""

    sufficient: bool
    draft: Annotated[str, StringConstraints(max_length=8000)]
