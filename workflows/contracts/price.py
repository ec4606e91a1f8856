"""What a model costs, as text: decimals cross boundaries as strings, never as floats."""

from typing import Annotated, Literal

from pydantic import StringConstraints

from workflows.contracts.base import Wire

Role = Literal["planner", "executor", "judge"]

# Six places for a price of a million tokens: the cost of any number of tokens is then exact.
PriceText = Annotated[str, StringConstraints(pattern=r"^\d{1,9}(\.\d{1,6})?$")]
MoneyText = Annotated[str, StringConstraints(pattern=r"^\d{1,15}(\.\d{1,12})?$")]


class Price(Wire):
    """US dollars for a million prompt tokens, and for a million completion tokens."""

    prompt: PriceText
    completion: PriceText


class RolePrices(Wire):
    """The price of each role's model; None where this worker knows none."""

    planner: Price | None = None
    executor: Price | None = None
    judge: Price | None = None
