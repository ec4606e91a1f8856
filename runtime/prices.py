"""`SUREFOOT_PRICES`: what models cost, as a person writes it.

`NAME=PROMPT/COMPLETION`, separated by commas, in US dollars for a million tokens, such as
`gpt-4.1=2.00/8.00,gpt-4.1-mini=0.40/1.60`. Names are those that `OPENAI_MODEL` takes.
"""

from typing import Final

from pydantic import ValidationError

from workflows.contracts.price import Price

EXAMPLE: Final = "gpt-4.1=2.00/8.00"


def parse_prices(text: str) -> dict[str, Price]:
    """The price of each model named.

    Raises:
        ValueError: what is wrong with which part.
    """
    prices: dict[str, Price] = {}
    for part in (each.strip() for each in text.split(",")):
        if not part:
            continue
        name, _, price = part.rpartition("=")
        name = name.strip()
        if not name:
            raise ValueError(f"expected NAME=PROMPT/COMPLETION such as {EXAMPLE}, got {part!r}")
        if name in prices:
            raise ValueError(f"{name} has two prices")
        prices[name] = _price(part, price)
    return prices


def _price(part: str, text: str) -> Price:
    prompt, _, completion = text.partition("/")
    try:
        return Price(prompt=prompt.strip(), completion=completion.strip())
    except ValidationError:
        raise ValueError(
            "expected two prices in US dollars for a million tokens, of at most six decimal "
            f"places, such as {EXAMPLE}, got {part!r}"
        ) from None
