"""Amounts in texts, and what can be computed from them: sums, differences and products of amounts of one kind.

The kind of an amount is the name of its field, such as ``price``. Sums of any two of a hundred amounts would give
nearly every value by chance.
"""

from __future__ import annotations

import functools
import itertools
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ..documents import DocumentError, parse_json
from ..language.numbers import multiples_in, numbers_in, quantity_of, rates_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: A field of a result that is a text: ``transaction_amount: $156.78``.
_FIELD = re.compile(r"(?m)^\s*[-*]?\s*(\w+): (-?\$?\d[^\n]*?)\s*$")
#: Units of amounts of money: other ones are those of sizes and times.
_UNITS = ("", "points", "dollars")
#: The most amounts of a kind whose sums are looked at, and the most addends of a sum.
MOST, ADDENDS = 24, 6
_CENT = 0.006


class Amount(NamedTuple):
    """A number in a text.

    Attributes:
        kind: The name of its field; empty in prose.
        value: The number.
    """

    kind: str
    value: float


class Amounts:
    """The amounts in several texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(texts)

    def states(self, value: float) -> bool:
        """Return whether a text has the value."""
        return any(is_same(abs(each.value), abs(value)) for text in self._texts for each in amounts_in(text))

    def give(self, value: float) -> bool:
        """Return whether a text has the value, or it is a sum, a difference or a product of amounts in the texts."""
        return self.states(value) or self._differ_by(value) or self._have_sum(value) or self._have_product(value)

    def give_simply(self, value: float) -> bool:
        """Return whether a text has the value, or it is a sum of amounts of one kind in one text."""
        return self.states(value) or self._have_sum(value)

    def _differ_by(self, value: float) -> bool:
        by_kind: dict[str, set[float]] = {}
        for each in (each for text in self._texts for each in amounts_in(text) if each.kind):
            by_kind.setdefault(each.kind, set()).add(round(each.value, 2))
        return any(round(one + value, 2) in values for values in by_kind.values() for one in values)

    def _have_sum(self, value: float) -> bool:
        return any(sum_of(group, value) for text in self._texts for group in groups_in(text))

    def _have_product(self, value: float) -> bool:
        rates = {rate for text in self._texts for rate in rates_in(text)}
        times = {1, *(multiple for text in self._texts for multiple in multiples_in(text))}
        factors = {rate * each / per for rate in rates for each in times for per in (1, 100)}
        amounts = {abs(each.value) for text in self._texts for each in amounts_in(text) if each.kind}
        nearly = 1 if float(value).is_integer() else 0.01
        return any(abs(amount * factor - value) < nearly for factor in factors for amount in amounts)


def is_same(one: float, other: float) -> bool:
    """Return whether two amounts are the same to the cent."""
    return abs(one - other) < _CENT


def sum_of(values: Iterable[float], total: float) -> tuple[float, ...] | None:
    """Return two or more values with this sum; None if there are none, or too many values to say."""
    addends = [value for value in values if value]
    if len(addends) > MOST:
        return None
    for count in range(2, min(len(addends), ADDENDS) + 1):
        for chosen in itertools.combinations(addends, count):
            if is_same(sum(chosen), total):
                return chosen
    return None


def groups_in(text: str) -> list[list[float]]:
    """Return the amounts of each kind in a text."""
    groups: dict[str, list[float]] = {}
    for each in amounts_in(text):
        if each.kind:
            groups.setdefault(each.kind, []).append(each.value)
    return list(groups.values())


@functools.lru_cache(maxsize=4096)
def amounts_in(text: str) -> tuple[Amount, ...]:
    """Return the amounts in a text, which may be JSON, have fields in lines, or be prose."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return tuple(_of_json(parse_json(text), ""))
        except DocumentError:
            pass
    fields = ((name, quantity_of(value)) for name, value in _FIELD.findall(text))
    named = [Amount(name, quantity.value) for name, quantity in fields if quantity and quantity.unit in _UNITS]
    return (*named, *(Amount("", number.value) for number in numbers_in(text) if not number.is_percent))


def _of_json(value: Any, name: str) -> Iterator[Amount]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _of_json(part, key)
    elif isinstance(value, list):
        for part in value:
            yield from _of_json(part, name)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield Amount(name or "result", float(value))
    elif isinstance(value, str) and (quantity := quantity_of(value)) and not quantity.unit:
        yield Amount(name or "result", quantity.value)
