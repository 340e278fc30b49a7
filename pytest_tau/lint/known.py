"""Facts that can be known from texts: words, ids and dates, however they are written."""

from __future__ import annotations

import functools
import itertools
import re
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WORD = re.compile(r"[^\W_]+")
#: What may be the id of something: a word with a digit, an underscore or an at sign, or in capitals.
_ID = re.compile(r"#?[\w@.+-]*[\d@_][\w@.+-]*|\b[A-Z]{5,}\b")
_CODE = re.compile(r"\b[A-Z]{3}\b")
_ISO = re.compile(r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)")
_NUMBERS = re.compile(r"\b(?P<month>\d\d?)/(?P<day>\d\d?)\b")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = re.compile(
    rf"\b(?P<name>{'|'.join(_MONTHS)})[a-z]*\.? (?P<day>\d\d?)(?:st|nd|rd|th)?\b"
    rf"|\b(?P<first>\d\d?)(?:st|nd|rd|th)? (?:of )?(?P<second>{'|'.join(_MONTHS)})"
)
#: "The day after", "a week later": days that a date may be away from one that is given.
_NEAR = 7


class _Parsed(NamedTuple):
    """A text, and what there is in it."""

    folded: str
    words: frozenset[str]
    days: frozenset[tuple[int, int]]  # without the year, which people often omit
    ids: tuple[str, ...]
    codes: tuple[str, ...]


@functools.lru_cache(maxsize=2048)
def _parsed(text: str) -> _Parsed:
    """Most texts are seen again for the next task: the policy, a customer's record."""
    folded = _folded(text)
    return _Parsed(
        folded,
        frozenset(_WORD.findall(folded)),
        frozenset(_days(folded)),
        tuple(dict.fromkeys(found.rstrip(".") for found in _ID.findall(text))),
        tuple(dict.fromkeys(_CODE.findall(text))),
    )


class Known:
    """Texts that an agent has seen or can see.

    Attributes:
        ids: Everything that may be an id, in order.
        codes: Everything that may be a three-letter code, in order.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts: dict[str, None] = {}
        self._words: set[str] = set()
        self._days: set[tuple[int, int]] = set()
        self.ids: dict[str, None] = {}
        self.codes: dict[str, None] = {}
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Another text."""
        parsed = _parsed(text)
        if parsed.folded in self._texts:
            return
        self._texts[parsed.folded] = None
        self._words |= parsed.words
        self._days |= parsed.days
        self.ids |= dict.fromkeys(parsed.ids)
        self.codes |= dict.fromkeys(parsed.codes)

    def has(self, value: str) -> bool:
        """Return whether some text contains the value."""
        folded = _folded(value).lstrip("#")  # which people often omit
        if any(folded in text for text in self._texts):
            return True
        written = _ISO.fullmatch(value)
        if written is not None:
            return self._has_near(*map(int, written.groups()))
        words = _WORD.findall(folded)
        return len(words) > 1 and self._words.issuperset(words)

    def _has_near(self, year: int, month: int, day: int) -> bool:
        try:
            wanted = date(year, month, day)
        except ValueError:
            return False
        near = [wanted + timedelta(days) for days in range(-_NEAR, _NEAR + 1)]
        return any((one.month, one.day) in self._days for one in near)


def _days(folded: str) -> Iterator[tuple[int, int]]:
    """Yield every date in a text, as month and day."""
    for found in itertools.chain(_ISO.finditer(folded), _NUMBERS.finditer(folded)):
        yield int(found["month"]), int(found["day"])
    for found in _NAMED.finditer(folded):
        name = found["name"] or found["second"]
        yield _MONTHS.index(name) + 1, int(found["day"] or found["first"])


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
