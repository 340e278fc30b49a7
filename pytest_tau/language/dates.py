"""Dates in texts: ``2024-05-17``, ``May 17th``, ``17 of May, 2024``, ``5/17/2024``."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_ORDINAL: Final = r"(?:st|nd|rd|th)?"
_DATE: Final = re.compile(
    r"\b\d{4}-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)"
    rf"|\b(?P<name>{_MONTH})\.?\s+(?P<after>\d{{1,2}}){_ORDINAL}(?!\d|[:,]\d)(?:,? \d{{4}}\b)?"
    rf"|\b(?P<before>\d{{1,2}}){_ORDINAL}(?: of)? (?P<later>{_MONTH})\b(?:,? \d{{4}}\b)?"
    r"|\b(?P<first>\d{1,2})/(?P<second>\d{1,2})(?P<year>/(?:\d{4}|\d\d))?\b(?!/)",
    re.IGNORECASE,
)
_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d")
_LAST_DAY: Final = 31


class Date(NamedTuple):
    """A date in a text; its year is left out, as people omit it.

    Attributes:
        month: The month, from 1.
        day: The day of the month.
        text: The date as it is written, with its year.
        start: Where it begins.
        end: Where it ends.
    """

    month: int
    day: int
    text: str
    start: int
    end: int


def dates_in(text: str, *, short: bool = False) -> Iterator[Date]:
    """Yield the dates of a text. Years may be missing.

    Args:
        text: The text.
        short: Whether ``5/17`` is a date, too: it may also be a fraction, or five of seventeen.
    """
    for match in _DATE.finditer(text):
        if match["first"] and not (match["year"] or short):
            continue
        month = match["month"] or match["name"] or match["later"] or match["first"]
        day = int(match["day"] or match["after"] or match["before"] or match["second"])
        number = int(month) if month.isdecimal() else _MONTHS.index(month[:3].lower()) + 1
        if 1 <= number <= len(_MONTHS) and 1 <= day <= _LAST_DAY:
            yield Date(number, day, match[0], match.start(), match.end())


def iso_date(text: str) -> date | None:
    """Return the day that a text is, in the form ``2024-05-17``; None if it is none."""
    try:
        return date.fromisoformat(text) if _ISO.fullmatch(text) else None
    except ValueError:
        return None
