"""Derived values: arithmetic over quoted numbers, done by code in decimal (REQUIREMENTS 49, 73).

A model may propose the expression; what it gives is computed here, with the method kept, so that it
can be computed again. Nothing but numbers, operators and four functions is understood.
"""

import ast
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, DecimalException
from typing import Final

from workflows.logic.quantities import Quantity, quantities

_CONTEXT: Final = Context(prec=28, rounding=ROUND_HALF_EVEN)
_LONGEST: Final = 200
_NODES: Final = 60
_LARGEST: Final = Decimal(10) ** 24
_TOLERANCE: Final = Decimal("0.005")  # of a rounded figure in a sentence
_BINARY: Final[dict[type[ast.operator], Callable[[Decimal, Decimal], Decimal]]] = {
    ast.Add: _CONTEXT.add,
    ast.Sub: _CONTEXT.subtract,
    ast.Mult: _CONTEXT.multiply,
    ast.Div: _CONTEXT.divide,
}
_COMPARE: Final[dict[type[ast.cmpop], Callable[[Decimal, Decimal], bool]]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: Final[dict[str, Callable[[list[Decimal]], Decimal]]] = {
    "min": min,
    "max": max,
    "abs": lambda values: max(abs(value) for value in values),
    "sum": lambda values: sum(values, Decimal(0)),
}


class DerivedError(ValueError):
    """The expression cannot be computed, or not from what is quoted; the message says why."""


@dataclass(frozen=True)
class Derived:
    """A computed value (True and False as 1 and 0) and how it came about."""

    value: Decimal
    method: str


def evaluate(expression: str) -> Derived:
    """The value of an expression over literal numbers.

    Raises:
        DerivedError: it is too long, no arithmetic, or has no value.
    """
    if len(expression) > _LONGEST:
        raise DerivedError(f"expression: at most {_LONGEST} characters")
    bare = expression.replace("%", "/100").replace("×", "*").replace("÷", "/").replace("−", "-")
    try:
        tree = ast.parse(bare.strip(), mode="eval")
        if sum(1 for _ in ast.walk(tree)) > _NODES:
            raise DerivedError(f"expression: at most {_NODES} parts")
        value = _value(tree.body)
    except (SyntaxError, RecursionError, MemoryError):
        raise DerivedError(f"expression: no arithmetic: {expression[:80]!r}") from None
    except DecimalException:
        raise DerivedError(f"expression: has no value: {expression[:80]!r}") from None
    if abs(value) > _LARGEST:
        raise DerivedError("expression: the value is too large")
    return Derived(value, f"{expression.strip()} = {plain(value)}")


def _value(node: ast.expr) -> Decimal:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            raise DerivedError(f"expression: expected a number, found {node.value!r:.40}")
        return Decimal(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = _value(node.operand)
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARE:
        compare = _COMPARE[type(node.ops[0])]
        return Decimal(compare(_value(node.left), _value(node.comparators[0])))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        function = _FUNCTIONS.get(node.func.id)
        if function is not None and not node.keywords:
            return function([_value(argument) for argument in node.args])
    raise DerivedError("expression: only numbers, + - * /, comparisons, min, max, abs and sum")


def numbers_in(expression: str) -> list[Decimal]:
    """The literal numbers of an expression, those of percentages as they are written."""
    return [quantity.value.copy_abs() for quantity in quantities(expression.replace("%", " "))]


def derived_from(expression: str, claim: str, quotes: Sequence[str]) -> Derived:
    """A derived value whose numbers are quoted and whose result the claim states.

    Raises:
        DerivedError: a number is in no quote, or the claim states another value.
    """
    derived = evaluate(expression)
    held = {q.value.copy_abs() for quote in quotes for q in quantities(quote)}
    constants = {Decimal(1), Decimal(100)}
    for number in numbers_in(expression):
        if number not in held and number not in constants:
            raise DerivedError(f"{plain(number)} stands in no quote of the claim")
    if not any(_states(quantity, derived.value) for quantity in quantities(claim)):
        raise DerivedError(f"the claim does not state {plain(derived.value)}")
    return derived


def _states(quantity: Quantity, value: Decimal) -> bool:
    said = abs(quantity.value) / 100 if quantity.unit == "%" else abs(quantity.value)
    return abs(said - abs(value)) <= max(_TOLERANCE * abs(value), Decimal("1e-9"))


def declined(previous: Decimal, current: Decimal, threshold: Decimal = Decimal("0.1")) -> bool:
    """Whether a value fell by more than the threshold; exactly the threshold is no decline (50)."""
    if previous <= 0:
        return False
    return _CONTEXT.divide(previous - current, previous) > threshold


def plain(value: Decimal) -> str:
    """A decimal without exponent and without zeros behind it."""
    text = format(value.normalize(_CONTEXT), "f")
    return "0" if text == "-0" else text
