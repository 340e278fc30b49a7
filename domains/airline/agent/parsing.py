"""Reading of a user's words: ids, days, places, cabins, numbers, names, yes and no."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..dates import TODAY, TOMORROW
from ..formatting import CITIES, full_name
from ..models import Passenger
from ..search import AIRPORTS

if TYPE_CHECKING:
    from ..models import Cabin, Reservation, User

_USER_ID = re.compile(r"\b[a-z]+_[a-z]+_\d{4}\b")
#: Six capitals and digits, but no flight number and no number.
_RESERVATION_ID = re.compile(r"\b(?!HAT\d{3}\b|\d{6}\b)[A-Z0-9]{6}\b")
_DATE = re.compile(r"\bMay (\d{1,2})\b|\b(2024-05-\d\d)\b|\b(tomorrow)\b|\b(today)\b", re.IGNORECASE)
_BORN = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d\b")
_NO = re.compile(r"^\W*(?:no|nope|do not|don't|wait)\b(?! (?:checked|bags?|insurance|stop))", re.IGNORECASE)
_NUMBERS = {
    word: number
    for number, word in enumerate(("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"))
}
_NUMBER = rf"(\d+|{'|'.join(_NUMBERS)}|an?)"
_BAGS = re.compile(rf"\b{_NUMBER} (?:\w+ ){{0,2}}?(?:bags?|suitcases?)\b", re.IGNORECASE)
_CABIN = re.compile(r"\b(basic[ _]economy|economy|business)\b", re.IGNORECASE)
_COVERED = {
    "health": r"\b(?:ill|illness|sick|pneumonia|ankle|leg|doctor|hospital|operation|surgery|injur\w+|flu|disease)\b",
    "weather": r"\b(?:storms?|weather|hurricane|snow|blizzard|fog)\b",
}
_NAME = r"[A-Z][\w'-]*(?: [A-Z][\w'-]*)+"
_RENAMED = re.compile(rf"\b(?:is now called|is called|is now|new name is|name is now) ({_NAME})")
_PASSPORT = re.compile(rf"\bsays ({_NAME}|[A-Z][\w'-]*), and the surname ([A-Z][\w'-]*)")
_BY_NAME = {city: code for code, city in (*AIRPORTS, *CITIES.items())} | {code: code for code, _ in AIRPORTS}
_CITY = "|".join(rf"\b{re.escape(name)}(?!\w)" for name in sorted(_BY_NAME, key=len, reverse=True))
_WAY = re.compile(rf"\bfrom ({_CITY}) to ({_CITY})")
_FROM = re.compile(rf"\bfrom ({_CITY})")


def is_no(text: str) -> bool:
    """Return whether a text turns something down."""
    return bool(_NO.search(text))


def user_id(text: str) -> str | None:
    """Return the id of a user, if one is named."""
    match = _USER_ID.search(text)
    return match[0] if match else None


def reservation_ids(text: str) -> list[str]:
    """Return the ids of the reservations that are named, each once."""
    return list(dict.fromkeys(_RESERVATION_ID.findall(text)))


# Journeys


def route(text: str) -> tuple[str, str] | None:
    """Return the airports between which somebody flies, if both are named."""
    match = _WAY.search(text)
    return (_BY_NAME[match[1]], _BY_NAME[match[2]]) if match else None


def origin(text: str) -> str | None:
    """Return the airport that a flight leaves from, if one is named."""
    match = _FROM.search(text)
    return _BY_NAME[match[1]] if match else None


def airports(text: str) -> set[str]:
    """Return all airports that are named."""
    return {_BY_NAME[city] for city in re.findall(rf"(?:{_CITY})", text)}


def dates(text: str) -> list[str]:
    """Return the days that are named, each once, as ``2024-05-20``."""
    days = []
    for day, iso_date, tomorrow, _ in _DATE.findall(text):
        days.append(f"2024-05-{int(day):02}" if day else iso_date or (TOMORROW if tomorrow else TODAY))
    return list(dict.fromkeys(days))


def days_later(text: str) -> int:
    """Return by how many days something is put off; 0 where the text does not say."""
    match = re.search(rf"\b{_NUMBER} days? later\b|\bby {_NUMBER} days?\b|\b(day after)\b", text.lower())
    if match is None:
        return 0
    return 1 if match[3] else parse_number(match[1] or match[2])


def parse_number(word: str) -> int:
    """Return a number that is written in digits or in words."""
    return int(word) if word.isdigit() else _NUMBERS.get(word.lower(), 1)


def bag_count(text: str) -> int | None:
    """Return how many bags are mentioned, if any are."""
    match = _BAGS.search(text)
    if match:
        return parse_number(match[1])
    return 0 if re.search(r"\b(?:without|not? any)\b.*\b(?:bags?|luggage)\b", text.lower()) else None


def people_count(text: str) -> int | None:
    """Return how many people are mentioned: ``for four``, ``six people``."""
    match = re.search(rf"\bfor {_NUMBER}\b|\b{_NUMBER} (?:people|passengers|persons|travell?ers)\b", text.lower())
    return parse_number(match[1] or match[2]) if match else None


def cabins(text: str) -> list[Cabin]:
    """Return the cabins that are named, each once."""
    cabins_named: list[Cabin] = []
    for word in _CABIN.findall(text):
        low = word.lower().replace(" ", "_")
        cabin: Cabin = "business" if low == "business" else "economy" if low == "economy" else "basic_economy"
        if cabin not in cabins_named:
            cabins_named.append(cabin)
    return cabins_named


def is_covered(reason: str, by: str) -> bool:
    """Return whether insurance that covers ``health``, ``weather`` or ``health or weather`` covers a reason."""
    clauses = [clause for clause in re.split(r"[.;]| but ", reason) if not re.search(r"good health|\bfine\b", clause)]
    return any(
        re.search(_COVERED[kind], clause, re.IGNORECASE)
        for kind in by.split(" or ")
        if kind in _COVERED
        for clause in clauses
    )


# People


def passengers(text: str, user: User) -> list[Passenger]:
    """Return the people who fly: the user first, then the people who are named."""
    rest = [other for other in user.saved_passengers if full_name(other) in text]
    if re.search(r"\b(?:all|everybody|the \w+ people)\b.*\bsaved in my profile", text):
        rest = list(user.saved_passengers)
    rest.sort(key=lambda other: text.find(full_name(other)))
    for first, last, born in re.findall(
        rf"([A-Z][\w'-]*) ([A-Z][\w'-]*), (?:who was )?born on ({_BORN.pattern})", text
    ):
        if (first, last) not in [(other.first_name, other.last_name) for other in rest]:
            rest.append(Passenger(first_name=first, last_name=last, dob=born))
    caller = Passenger(first_name=user.name.first_name, last_name=user.name.last_name, dob=user.dob)
    return [caller, *rest] if re.search(r"\b(?:me|I|myself)\b|\bMe\b", text) else rest


def changed_passengers(text: str, reservation: Reservation, user: User) -> list[Passenger] | None:
    """Return the passengers of a reservation as they should be; None where the text does not say."""
    listed = list(reservation.passengers)
    concerned = [passenger for passenger in listed if re.search(rf"{re.escape(full_name(passenger))}(?![\w-])", text)]
    if not concerned:
        return None
    position = listed.index(min(concerned, key=lambda passenger: text.find(full_name(passenger))))
    others = [other for other in user.saved_passengers if full_name(other) in text and other not in listed]
    changed = others[0] if others else _corrected(text, listed[position])
    if changed is None:
        return None
    return [*listed[:position], changed, *listed[position + 1 :]]


def _corrected(text: str, passenger: Passenger) -> Passenger | None:
    if match := _PASSPORT.search(text):
        return passenger.model_copy(update={"first_name": match[1], "last_name": match[2]})
    if match := _RENAMED.search(text):
        first, _, last = match[1].rpartition(" ")
        return passenger.model_copy(update={"first_name": first, "last_name": last})
    if match := _BORN.search(text):
        return passenger.model_copy(update={"dob": match[0]})
    return None
