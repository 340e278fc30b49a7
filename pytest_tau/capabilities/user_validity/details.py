"""What texts have given so far: details as they were written, or as they follow from others."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from ...language import CODE_DIGITS, dates_in, digits_in, squeezed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...language import Detail

#: A user may mean a day near one that was named.
_NEAR_DAYS = 3
#: Of more numbers than this, no sums are formed.
_MOST_NUMBERS = 400


class Known:
    """What texts have given so far, as far as details are compared."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._written = ""
        self._days: set[int] = set()
        self._numbers: set[float] = set()
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Add what a text gives."""
        self._written += "|" + squeezed(text)
        self._days |= {_day(date.month, date.day) for date in dates_in(text)}
        self._numbers |= digits_in(text)

    def has(self, detail: Detail) -> bool:
        """Return whether a detail was given, or follows from what was given."""
        if detail.kind == "date":
            wanted = _day(*map(int, detail.value.split("-")))
            return any(abs(wanted - day) <= _NEAR_DAYS for day in self._days)
        if detail.kind != "number":
            return squeezed(detail.value) in self._written
        return float(detail.value) in self._numbers or self._contains(detail.value) or self._results_in(detail.value)

    def _contains(self, number: str) -> bool:
        """Return whether the digits are part of something that was given, such as of an id."""
        return len(number) >= CODE_DIGITS - 1 and "." not in number and number in self._written

    def _results_in(self, number: str) -> bool:
        """Return whether a user may have computed or rounded a number."""
        value = float(number)
        if "." not in number and len(number) >= CODE_DIGITS and value % 100:
            return False
        if value % 50 == 0:
            return True  # a round number, such as a limit of a price
        near = max(1.0, value * 0.01)
        if any(abs(value - known) <= near for known in self._numbers):
            return True
        known = sorted(self._numbers)[:_MOST_NUMBERS]
        return any(
            min(abs(first + second - value), abs(second - first - value)) <= near
            for first, second in combinations(known, 2)
        )


class Lazily:
    """What texts have given so far, for details that nearly always stand in one of the texts as they were written.

    The texts are read like those of ``Known`` only for a detail that does not.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts = list(texts)
        self._known = Known()
        self._read = 0

    def add(self, text: str) -> None:
        """Add what a text gives."""
        self._texts.append(text)

    def has(self, detail: Detail) -> bool:
        """Return whether a detail was given, or follows from what was given."""
        if any(_stands_in(text, detail.text) for text in self._texts):
            return True
        for text in self._texts[self._read :]:
            self._known.add(text)
        self._read = len(self._texts)
        return self._known.has(detail)


def _stands_in(text: str, detail: str) -> bool:
    """Return whether a text has a detail as it was written, and not as a part of a longer word or number.

    No pattern, as compiling one for each detail takes longer than all searches.
    """
    at = text.find(detail)
    while at >= 0:
        end = at + len(detail)
        before, after, next_one = text[at - 1 : at], text[end : end + 1], text[end + 1 : end + 2]
        inside = before.isalnum() or (before and before in "_.,#$-") or after.isalnum() or (after and after in "_-")
        if not inside and not (after and after in ".," and next_one.isdecimal()):
            return True
        at = text.find(detail, at + 1)
    return False


def _day(month: int, day: int) -> int:
    """Return the number of a day in the year, with 31 days to each month."""
    return month * 31 + day
