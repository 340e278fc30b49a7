"""The distribution of a sum of independent random numbers, by convolution.

Each number has a few values at equal distances. Numbers that are alike are added up first, by repeated squaring. The
values are integers, so that sums are exact, and ties are ties. Only where they take too long, they are rounded to
multiples of an integer, those that were found, too: this is the same test of nearly the same numbers.

Source: Zmigrod, Vieira and Cotterell, Exact Paired-Permutation Testing for Structured Test Statistics (NAACL 2022).
"""

from __future__ import annotations

from math import fsum, sqrt
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: Sums that are less probable are excluded, and what is less probable than the second is said to be as probable as it.
_NEGLIGIBLE, SMALLEST = 1e-30, 1e-20
#: How far from its mean the probability of a sum is not negligible, in standard deviations.
_REACH = 12
#: Products of probabilities that are added up; some tenths of a second.
_MOST_PRODUCTS = 5_000_000


class Values(NamedTuple):
    """The values of a random number.

    Attributes:
        first: The least value.
        step: The distance of each to the next.
        chances: The probability of each, in ascending order.
    """

    first: int
    step: int
    chances: tuple[float, ...]

    @property
    def variance(self) -> float:
        """Return the variance of the number."""
        mean = fsum(place * chance for place, chance in enumerate(self.chances))
        return self.step**2 * fsum((place - mean) ** 2 * chance for place, chance in enumerate(self.chances))


class Seen(NamedTuple):
    """Random numbers that are alike, as they were found.

    Attributes:
        numbers: How many there are.
        total: Their sum.
    """

    numbers: int
    total: int


def tails(groups: Mapping[Values, Seen]) -> tuple[float, float]:
    """Return the probability that the sum of all numbers is at most, and that it is at least what was found.

    What equals the found sum counts half (mid-p).

    Args:
        groups: The numbers, by their values.
    """
    grid = _grid(groups)
    seen = sum(round(observed.total / grid) for observed in groups.values())
    first, chances = 0, [1.0]
    for values, observed in sorted(groups.items(), key=_terms, reverse=True):
        least, spread = _spread(values, observed.numbers, grid)
        first, chances = first + least, _added(chances, spread)
        left, chances = _trimmed(chances)
        first += left
    place = seen - first
    below = fsum(chances[: max(0, place)])
    above = fsum(chances[max(0, place + 1) :])
    equal = chances[place] if 0 <= place < len(chances) else 0.0
    return max(below + equal / 2, SMALLEST), max(above + equal / 2, SMALLEST)


def _grid(groups: Mapping[Values, Seen]) -> int:
    """Return the integer of which all sums are rounded to multiples; 1 to round none."""
    terms = sorted(map(_terms, groups.items()))
    reach = 2 * _REACH * sqrt(sum(observed.numbers * values.variance for values, observed in groups.items()))
    width = sum(observed.numbers * (len(values.chances) - 1) * values.step for values, observed in groups.items())
    return 1 + int(sum(terms[:-1]) * min(width, reach) / _MOST_PRODUCTS)


def _terms(part: tuple[Values, Seen]) -> float:
    """Return about how many sums of numbers that are alike are not negligible."""
    values, (numbers, _) = part
    reach = 2 * _REACH * sqrt(numbers * values.variance) / values.step
    return 1 + min(numbers * (len(values.chances) - 1), reach)


def _spread(values: Values, numbers: int, grid: int) -> tuple[int, list[float]]:
    """Return the distribution of the sum of numbers that are alike: the least sum, and the chance of it and the next.

    Args:
        values: Of each number.
        numbers: How many there are.
        grid: Of what sums are multiples.
    """
    left, chances = 0, [1.0]
    for digit in f"{numbers:b}":
        left, chances = 2 * left, _added(chances, chances)
        if digit == "1":
            chances = _added(chances, values.chances)
        trimmed, chances = _trimmed(chances)
        left += trimmed
    first = values.first * numbers + left * values.step
    places = [round((first + number * values.step) / grid) for number in range(len(chances))]
    spread = [0.0] * (places[-1] - places[0] + 1)
    for place, chance in zip(places, chances, strict=True):
        spread[place - places[0]] += chance
    return places[0], spread


def _added(one: Sequence[float], other: Sequence[float]) -> list[float]:
    """Return the chances of the sum of two numbers."""
    few, many = sorted((one, other), key=lambda part: sum(map(bool, part)))
    chances = [0.0] * (len(few) + len(many) - 1)
    for place, factor in _positive(few):
        end = place + len(many)
        chances[place:end] = [so_far + factor * chance for so_far, chance in zip(chances[place:end], many, strict=True)]
    return chances


def _positive(chances: Sequence[float]) -> Iterator[tuple[int, float]]:
    return ((place, chance) for place, chance in enumerate(chances) if chance)


def _trimmed(chances: list[float]) -> tuple[int, list[float]]:
    """Return how many sums were dropped at the lower end, and the chances of the others."""
    places = [place for place, chance in enumerate(chances) if chance > _NEGLIGIBLE]
    return places[0], chances[places[0] : places[-1] + 1]
