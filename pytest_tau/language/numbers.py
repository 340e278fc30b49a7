"""Numbers and amounts of money in texts, and the ways in which people write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DIGITS: Final = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"
_CURRENCY: Final = "[$\u20ac\u00a3]"
#: No part of a word, of an id such as ``#12``, of a decimal, of a date or of a phone number.
_NUMBER: Final = re.compile(
    rf"(?<![\w#.,])(?:{_CURRENCY}|(?<!\w-))(?P<digits>{_DIGITS})(?P<percent> ?%)?(?!\w|[.,]\d|-\d+-)"
)
_QUANTITY: Final = re.compile(
    rf"(?P<sign>-)?(?P<currency>{_CURRENCY})?(?P<digits>\d[\d,]*(?:\.\d+)?)(?: (?P<unit>[a-z]+))?"
)
_ANY_DIGITS: Final = re.compile(r"\d[\d,]*(?:\.\d+)?")
_RATE: Final = re.compile(r"(?<![\w#.,])(\d[\d,]*(?:\.\d+)?) ?%")
_MULTIPLE: Final = re.compile(r"\b(\d)x\b")
#: The words for small numbers, by the number.
NUMBER_WORDS: Final[Mapping[float, tuple[str, ...]]] = {
    number: tuple(words.split())
    for number, words in enumerate(
        (
            *("zero no none without", "one a an single another", "two both", "three", "four", "five", "six", "seven"),
            *("eight", "nine", "ten"),
        )
    )
}


class Number(NamedTuple):
    """A number in a text.

    Attributes:
        text: The number as it is written, with the sign of a currency or of percent.
        value: Its value, without a sign.
        start: Where it begins.
        end: Where it ends.
        is_percent: Whether it is a rate.
    """

    text: str
    value: float
    start: int
    end: int
    is_percent: bool


class Quantity(NamedTuple):
    """A text that is nothing but a number.

    Attributes:
        value: Its value.
        unit: The word behind it; empty if there is none.
        is_amount: Whether it has the sign of a currency, a unit or decimals: ``$12``, ``1390 points``, ``4.50``.
    """

    value: float
    unit: str
    is_amount: bool


def numbers_in(text: str) -> Iterator[Number]:
    """Yield the numbers of a text: ``1,200.50``, ``$3``, ``15%``; no parts of ids, dates and phone numbers."""
    for match in _NUMBER.finditer(text):
        yield Number(match[0], value_of(match["digits"]), match.start(), match.end(), match["percent"] is not None)


def digits_in(text: str) -> set[float]:
    """Return the values of all digits in a text, also of those that are part of an id or of a date."""
    return {value_of(digits) for digits in _ANY_DIGITS.findall(text)}


def quantity_of(text: str) -> Quantity | None:
    """Return the number that a text is: ``1,390 points``, ``-$12.50``; None for any other text."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return None
    is_amount = bool(match["currency"] or match["unit"] or "." in match["digits"])
    return Quantity(value_of(match["digits"]) * (-1 if match["sign"] else 1), match["unit"] or "", is_amount)


def value_of(number: str) -> float:
    """Return the value of a number as it is written, such as ``$1,200.50``."""
    return float(number.replace(",", "").lstrip("$\u20ac\u00a3"))


def shortest_form(number: str) -> str:
    """Return a number without what people omit: ``84.50`` as ``84.5``, ``1,240.00`` as ``1240``."""
    integer, _, decimals = number.lstrip("$\u20ac\u00a3").replace(",", "").partition(".")
    decimals = decimals.rstrip("0")
    return f"{integer}.{decimals}" if decimals else integer


def rates_in(text: str) -> set[float]:
    """Return the rates in percent that a text has."""
    return set(map(value_of, _RATE.findall(text)))


def multiples_in(text: str) -> set[int]:
    """Return by what a text multiplies something: 3 for "3x points"."""
    return {int(times) for times in _MULTIPLE.findall(text)}
