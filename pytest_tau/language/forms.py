"""The ways in which people write one value: a date, a state, a country, a phone number."""

from __future__ import annotations

import contextlib
import functools
import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_STATES: Final = (
    "AL Alabama, AK Alaska, AZ Arizona, AR Arkansas, CA California, CO Colorado, CT Connecticut, DE Delaware, FL "
    "Florida, GA Georgia, HI Hawaii, ID Idaho, IL Illinois, IN Indiana, IA Iowa, KS Kansas, KY Kentucky, LA "
    "Louisiana, ME Maine, MD Maryland, MA Massachusetts, MI Michigan, MN Minnesota, MS Mississippi, MO Missouri, "
    "MT Montana, NE Nebraska, NV Nevada, NH New Hampshire, NJ New Jersey, NM New Mexico, NY New York, NC North "
    "Carolina, ND North Dakota, OH Ohio, OK Oklahoma, OR Oregon, PA Pennsylvania, RI Rhode Island, SC South "
    "Carolina, SD South Dakota, TN Tennessee, TX Texas, UT Utah, VT Vermont, VA Virginia, WA Washington, WV West "
    "Virginia, WI Wisconsin, WY Wyoming, DC District of Columbia"
)
_COUNTRIES: Final = (
    ("USA", "United States", "U.S.", "US", "United States of America", "U.S.A."),
    ("UK", "United Kingdom", "U.K.", "Great Britain", "GB"),
)
_NAMES: Final = (*(tuple(state.split(" ", 1)) for state in _STATES.split(", ")), *_COUNTRIES)
#: Abbreviations that are words as well: a text has them by chance.
_WORDS: Final = frozenset(("al", "de", "hi", "id", "in", "la", "ma", "me", "ok", "or", "pa", "us"))
_DATE: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_DATES: Final = ("%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%m/%d/%Y")
_NUMBER: Final = re.compile(r"\d+")
_PHONE: Final = re.compile(r"\+?[\d\s().-]*\d")
#: Forms of values that differ from all other ones: dates, a phone number, an e-mail address.
_FORMS: Final = (
    r"\d{1,2}/\d{1,2}/\d{4}",
    r"\d{4}-\d\d-\d\d",
    r"\(?\d{3}\)?[- .]\d{3}[- .]\d{4}",
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
)
#: What may stand between the label of a value and the value.
_BETWEEN: Final = r"[*_\"']{0,3}(?:\s?[:=]|\s+(?:is|was))[*_\"']{0,3}\s*"
#: The digits of a phone number.
_DIGITS: Final = range(7, 16)


def forms_of(value: Any) -> list[str]:
    """Return the ways in which people write a value, itself first, without those that a text has by chance."""
    text = str(value)
    forms = dict.fromkeys([text, *_others(text)])
    return [form for form in forms if form.lower() not in _WORDS] or [text]


def is_same(one: Any, other: Any) -> bool:
    """Return whether two values are forms of one: ``TX`` and ``Texas``, ``2024-05-20`` and ``May 20, 2024``."""
    return _plain(str(one)) == _plain(str(other))


def stated_like(value: str, labels: Iterable[str], text: str) -> str | None:
    """Return what a text states under a label in the form of a value; None if it states nothing in this form.

    Args:
        value: A date, a phone number or an e-mail address; no other value has a form of its own.
        labels: What the value is called: ``date of birth``, ``dob``.
        text: The text.
    """
    form = next((form for form in _FORMS if re.fullmatch(form, value)), None)
    if form is None:
        return None
    label = "|".join(map(re.escape, labels))
    match = re.search(rf"\b(?:{label}){_BETWEEN}({form})", text, re.IGNORECASE)
    return match[1] if match else None


def _plain(text: str) -> str:
    """Return the one form of a value that stands for all."""
    text = " ".join(text.split())
    if names := _names(text):
        return names[0].casefold()
    if _is_phone(text):
        return "".join(_NUMBER.findall(text))
    for form in _DATES:
        with contextlib.suppress(ValueError):
            return datetime.strptime(text, form).date().isoformat()  # noqa: DTZ007 - a day has no zone
    return text.casefold()


@functools.lru_cache(maxsize=512)
def _others(text: str) -> tuple[str, ...]:
    return (*_names(text), *_dates(text), *_phones(text))


def _names(text: str) -> tuple[str, ...]:
    return next((names for names in _NAMES if text.casefold() in map(str.casefold, names)), ())


def _dates(text: str) -> tuple[str, ...]:
    match = _DATE.fullmatch(text)
    try:
        day = date(*map(int, match.groups())) if match else None
    except ValueError:
        return ()
    if day is None:
        return ()
    names = [day.strftime("%B"), day.strftime("%b")]
    ordinal = f"{day.day}{_ending(day.day)}"
    short = [form for name in names for form in (f"{name} {day.day}", f"{name} {ordinal}", f"{day.day} {name}")]
    written = [*short, *(f"{ordinal} of {name}" for name in names)]
    slashes = [f"{day.month}/{day.day}/{day.year}", f"{day.month:02}/{day.day:02}/{day.year}"]
    return (*written, *(f"{form}, {day.year}" for form in written), *slashes)


def _ending(number: int) -> str:
    return "th" if number in range(11, 14) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _is_phone(text: str) -> bool:
    parts = _NUMBER.findall(text)
    return bool(_PHONE.fullmatch(text)) and len(parts) > 1 and len("".join(parts)) in _DIGITS and not _DATE.search(text)


def _phones(text: str) -> tuple[str, ...]:
    return tuple(mark.join(_NUMBER.findall(text)) for mark in ("", ".", " ")) if _is_phone(text) else ()
