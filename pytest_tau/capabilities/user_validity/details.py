"""Details in texts that are not said by chance: e-mail addresses, ids, dates and numbers, in a form that compares."""

from __future__ import annotations

import functools
import re
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Kind: TypeAlias = Literal["e-mail address", "date", "id", "number"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<{}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
#: Dates; the year is not compared, as people omit it.
_DATE = re.compile(
    r"\b\d{4}-(?P<m1>\d\d)-(?P<d1>\d\d)(?!\d)"
    rf"|\b{_MONTH.format('m2')}\.?\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:]|,\d)(?:,? \d{{4}}\b)?"
    rf"|\b(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH.format('m3')}\b(?:,? \d{{4}}\b)?"
    r"|\b(?P<m4>\d{1,2})/(?P<d4>\d{1,2})/\d{2,4}\b",
    re.IGNORECASE,
)
#: A word of letters and digits.
_ID = re.compile(r"#?\b(?=\w*\d)(?=\w*[A-Za-z])\w+")
#: A number with its unit (16GB, 2nd, 10am, 1080p), or a short word and a digit, as in names of products.
_MEASURED = re.compile(r"\d{1,12}[a-zA-Z]+|[A-Za-z]{1,3}\d{1,2}")
_PHONE = re.compile(r"(?<![\w-])\(?\d{3}\)?[- .]\d{3}[- .]\d{4}(?![\w-])")
_NUMBER = re.compile(r"(?<![\w#.,-])\$?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\w|[.,]\d)")
#: Every detail has one of these.
_ANY = re.compile(r"[\d@]")
#: Numbers below this are counts, sizes and times, which people choose freely.
_LEAST = 100
#: Ids have at least so many characters.
_SHORTEST_ID = 4
#: Numbers of at least so many digits are not the result of a sum that a user has computed.
_CODE_DIGITS = 5
#: A user may mean a day near one that was named.
_NEAR_DAYS = 3
#: The details of texts of at most so many characters are kept.
_LONGEST_KNOWN = 10_000
#: Of more numbers than this, no sums are formed.
_MOST_NUMBERS = 400


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


def _read_details(text: str) -> tuple[Detail, ...]:
    details: dict[tuple[str, str], Detail] = {}
    for kind, pattern, value_of in _READERS:
        for match in pattern.finditer(text):
            if value := value_of(match):
                details.setdefault((kind, value), Detail(kind, value, match[0].strip()))
        # A detail has one kind: that of the first reader that understands it.
        text = pattern.sub(" ; ", text) if kind != "id" else text
    return tuple(details.values())


#: Several checks ask for the details of the same texts, and the scenario is the same in each trial of a task.
_known_details = functools.lru_cache(maxsize=512)(_read_details)


def _date(match: re.Match[str]) -> str:
    groups = match.groupdict()
    month = next(groups[name] for name in ("m1", "m2", "m3", "m4") if groups[name])
    day = int(next(groups[name] for name in ("d1", "d2", "d3", "d4") if groups[name]))
    number = int(month) if month.isdecimal() else _MONTHS.index(month[:3].lower()) + 1
    return f"{number:02}-{day:02}" if 1 <= number <= len(_MONTHS) and 1 <= day <= 31 else ""


def _id(match: re.Match[str]) -> str:
    text = match[0].lstrip("#")
    return "" if len(text) < _SHORTEST_ID or _MEASURED.fullmatch(text) else text.lower()


def _number(match: re.Match[str]) -> str:
    digits = match[0].replace("$", "").replace(",", "")
    # A zip code may begin with 0.
    return digits if float(digits) >= _LEAST or ("." not in digits and len(digits) >= _CODE_DIGITS) else ""


#: In the order in which they read a text.
_READERS: tuple[tuple[Kind, re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    ("e-mail address", _EMAIL, lambda match: match[0].lower()),
    ("date", _DATE, _date),
    ("number", _PHONE, lambda match: re.sub(r"\D", "", match[0])),
    ("id", _ID, _id),
    ("number", _NUMBER, _number),
)


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
        self._written += "|" + _bare(text)
        self._days |= {_day(_date(match)) for match in _DATE.finditer(text) if _date(match)}
        self._numbers |= {float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}

    def has(self, detail: Detail) -> bool:
        """Return whether a detail was given, or follows from what was given."""
        if detail.kind == "date":
            return any(abs(_day(detail.value) - day) <= _NEAR_DAYS for day in self._days)
        if detail.kind != "number":
            return _bare(detail.value) in self._written
        return float(detail.value) in self._numbers or self._contains(detail.value) or self._results_in(detail.value)

    def _contains(self, number: str) -> bool:
        """Return whether the digits are part of something that was given, such as of an id."""
        return len(number) >= _CODE_DIGITS - 1 and "." not in number and number in self._written

    def _results_in(self, number: str) -> bool:
        """Return whether a user may have computed or rounded a number."""
        value = float(number)
        if "." not in number and len(number) >= _CODE_DIGITS and value % 100:
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


def _bare(text: str) -> str:
    return re.sub(r"[^a-z0-9@]+", "", text.lower())


def _day(date: str) -> int:
    """Return the number of a day in the year, with 31 days to each month."""
    month, day = date.split("-")
    return int(month) * 31 + int(day)
