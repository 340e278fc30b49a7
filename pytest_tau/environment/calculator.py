"""Arithmetic for tools: Python's operators and number formats, within bounds and without ``eval``.

The parser is not ``ast`` with an allow-list: that raises RecursionError for expressions within the bounds (19,999
signs), and its error texts, which are results of tools, differ between versions of Python.
"""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from ..errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Number: TypeAlias = int | float

# Every expression within these bounds is computed within milliseconds.
_MAX_LENGTH: Final = 20_000
_MAX_NESTING: Final = 200  # Python's own
_MAX_DIGITS: Final = 4300  # Python's own, of a whole number
_MAX_BITS: Final = 16_384

_ALLOWED: Final = re.compile(r"[-0-9+*/(). ]*")
_TOKEN: Final = re.compile(r"(?P<number>[0-9]+\.?[0-9]*|\.[0-9]+)|\*\*|//|[-+*/()]|(?P<unknown>\.)")
_LEADING_ZERO: Final = re.compile(r"0+[1-9][0-9]*")


class _Operator(NamedTuple):
    """An operator's precedence and function; a sign has one operand."""

    precedence: int
    compute: Callable[..., Number]
    operands: int = 2


def calculate(expression: str) -> str:
    """Compute an expression of numbers, ``+ - * / // **``, parentheses and spaces.

    Args:
        expression: The expression, in Python's notation.

    Returns:
        The result as a float rounded to two places, in Python's notation: ``4.0``, ``-0.0``, ``1e+16``, ``inf``.

    Raises:
        ToolError: No such expression, no real result, or one that would take long to compute.

    Source: τ²-bench v1.0.1, ``calculate`` of the airline and retail domains.
    """
    if not isinstance(expression, str) or not _ALLOWED.fullmatch(expression):
        raise ToolError("Invalid characters in expression")
    if len(expression) > _MAX_LENGTH:
        raise ToolError(f"Expression is longer than {_MAX_LENGTH} characters")
    try:
        return str(round(float(_Evaluation().run(expression)), 2))
    except ZeroDivisionError:
        raise ToolError("division by zero") from None
    except OverflowError:
        raise ToolError("Result is too large") from None


class _Evaluation:
    """One expression, evaluated from left to right with two stacks, so that nesting needs no recursion.

    An operator waits on its stack until one of no higher precedence follows, or a closing parenthesis, or the end.
    """

    def __init__(self) -> None:
        self._values: list[Number] = []
        self._waiting: list[_Operator | None] = []  # None is an open parenthesis

    def run(self, expression: str) -> Number:
        operand_next = True
        for token in _TOKEN.finditer(expression):
            text = token.group()
            if token["unknown"]:
                raise _unexpected(token)
            if not operand_next:
                operand_next = self._after_operand(text, token)
            elif token["number"]:
                self._values.append(_number(text))
                operand_next = False
            elif text == "(":
                self._open()
            elif text in _SIGNS:
                self._waiting.append(_SIGNS[text])
            else:
                raise _unexpected(token)
        if operand_next:
            raise ToolError("Expression is not complete")
        self._compute_down_to(0)
        if self._waiting:
            raise ToolError("'(' was never closed")
        return self._values.pop()

    def _after_operand(self, text: str, token: re.Match[str]) -> bool:
        """Process a token after an operand; return whether another operand has to follow it."""
        if text == ")":
            self._compute_down_to(0)
            if not self._waiting:
                raise ToolError("unmatched ')'")
            self._waiting.pop()
            return False
        if text not in _OPERATORS:
            raise _unexpected(token)
        following = _OPERATORS[text]
        # Powers are computed from right to left: one waits for the next.
        self._compute_down_to(following.precedence + (text == "**"))
        self._waiting.append(following)
        return True

    def _open(self) -> None:
        if self._waiting.count(None) >= _MAX_NESTING:
            raise ToolError("too many nested parentheses")
        self._waiting.append(None)

    def _compute_down_to(self, precedence: int) -> None:
        """Compute the operators on the stack of at least this precedence, up to an open parenthesis."""
        while self._waiting and (top := self._waiting[-1]) is not None and top.precedence >= precedence:
            self._waiting.pop()
            operands = self._values[-top.operands :]
            del self._values[-top.operands :]
            self._values.append(_bounded(top.compute(*operands)))


def _number(text: str) -> Number:
    if "." in text:
        return float(text)
    if len(text) > _MAX_DIGITS:
        raise ToolError(f"A whole number has more than {_MAX_DIGITS} digits")
    if _LEADING_ZERO.fullmatch(text):
        raise ToolError("leading zeros in a whole number")
    return int(text)


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1:
        _check_bits(base.bit_length() * exponent)
    result: Number | complex = base**exponent
    if isinstance(result, complex):
        raise ToolError("Result is not a real number")
    return result


def _bounded(value: Number) -> Number:
    if isinstance(value, int):
        _check_bits(value.bit_length())
    return value


def _check_bits(bits: int) -> None:
    if bits > _MAX_BITS:
        raise ToolError("Result is too large")


def _unexpected(token: re.Match[str]) -> ToolError:
    return ToolError(f"invalid syntax: '{token.group()}' at position {token.start() + 1}")


_SIGNS: Final = {"+": _Operator(3, operator.pos, 1), "-": _Operator(3, operator.neg, 1)}
_OPERATORS: Final = {
    "+": _Operator(1, operator.add),
    "-": _Operator(1, operator.sub),
    "*": _Operator(2, operator.mul),
    "/": _Operator(2, operator.truediv),
    "//": _Operator(2, operator.floordiv),
    "**": _Operator(4, _power),
}
