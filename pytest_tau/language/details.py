"""Details of a text that are not said by chance: e-mail addresses, dates, ids and numbers, in a form that compares."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from .dates import dates_in
from .ids import ADDRESS, PHONE, ids_in
from .numbers import numbers_in, value_of

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind: TypeAlias = Literal["e-mail address", "date", "id", "number"]

#: Every detail has one of these.
_ANY: Final = re.compile(r"[\d@]")
_VALUE: Final = re.compile(
    r"(?<!\d)(?<!\d,)\$?\d[\d,]*\.\d\d\b|\b\d{4}-\d\d-\d\d\b"
    r"|#?\b(?=\w*\d)[A-Z0-9][A-Za-z0-9_-]{4,}\b|\$\d[\d,]*+|\b\d{1,6}\b"
)
#: Numbers below this are counts, sizes and times, which people choose freely.
_LEAST: Final = 100
#: Numbers of at least so many digits are no result of a sum that a user has computed.
CODE_DIGITS: Final = 5
#: The details of texts of at most so many characters are kept.
_LONGEST_KNOWN: Final = 10_000


class Detail(NamedTuple):
    """A detail of a text.

    Attributes:
        kind: What it is.
        value: Its form for comparisons, such as ``05-17`` for a date.
        text: The detail as it was written.
    """

    kind: Kind
    value: str
    text: str


def details_in(text: str) -> list[Detail]:
    """Return the details of a text, each once."""
    if _ANY.search(text) is None:
        return []
    return list(_known_details(text) if len(text) <= _LONGEST_KNOWN else _read_details(text))


def values_in(text: str) -> list[str]:
    """Return all values of a text for which somebody may have asked, as written: amounts, dates, ids and numbers."""
    return _VALUE.findall(text)


def _read_details(text: str) -> tuple[Detail, ...]:
    # A detail has one kind: what was understood is not read again.
    addresses = list(ADDRESS.finditer(text))
    details = [Detail("e-mail address", address[0].lower(), address[0]) for address in addresses]
    text = _without(text, (address.span() for address in addresses))
    dates = list(dates_in(text))
    details += [Detail("date", f"{date.month:02}-{date.day:02}", date.text) for date in dates]
    text = _without(text, ((date.start, date.end) for date in dates))
    phones = list(PHONE.finditer(text))
    details += [Detail("number", "".join(filter(str.isdecimal, phone[0])), phone[0]) for phone in phones]
    text = _without(text, (phone.span() for phone in phones))
    details += [Detail("id", name.lstrip("#").lower(), name) for name in ids_in(text) if any(map(str.isalpha, name))]
    details += [
        Detail("number", _digits(number.text), number.text) for number in numbers_in(text) if _tells(number.text)
    ]
    unique: dict[tuple[Kind, str], Detail] = {}
    for detail in details:
        unique.setdefault((detail.kind, detail.value), detail)
    return tuple(unique.values())


#: Several checks ask for the details of the same texts, and the scenario is the same in each trial of a task.
_known_details = functools.lru_cache(maxsize=512)(_read_details)


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    parts, end = [], 0
    for start, next_end in spans:
        parts.append(text[end:start])
        end = next_end
    return " ; ".join([*parts, text[end:]])


def _digits(number: str) -> str:
    return "".join(character for character in number if character.isdecimal() or character == ".")


def _tells(number: str) -> bool:
    """Return whether a number is none that people choose freely; a zip code may begin with 0."""
    digits = _digits(number)
    return value_of(digits) >= _LEAST or ("." not in digits and len(digits) >= CODE_DIGITS)
