"""Facts that can be known from texts: words, ids and dates, however they are written."""

from __future__ import annotations

import functools
import itertools
import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WORD = re.compile(r"[^\W_]+")
#: What may be the id of something, or has one: a word with a digit, an underscore or an at sign is, else its capitals.
_PART = re.compile(r"#?[\w@.+-]+")
_MARK = re.compile(r"[\d@_]")
_CAPITALS = re.compile(r"\b[A-Z]{5,}\b")
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


class _Parsed:
    """A text, and what there is in it, looked for at first need: few arguments of a task are dates or several words."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = _folded(text)
        self.ids = tuple(dict.fromkeys(found.rstrip(".") for found in _ids(text)))

    @functools.cached_property
    def words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self.folded))

    @functools.cached_property
    def days(self) -> frozenset[tuple[int, int]]:
        """The dates, without the year, which people often omit."""
        return frozenset(_days(self.folded))

    @functools.cached_property
    def codes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(_CODE.findall(self.text)))


#: Most texts are seen again for the next task: the policy, a customer's record.
_parsed = functools.lru_cache(maxsize=4096)(_Parsed)


class Known:
    """Texts that an agent has seen or can see.

    Attributes:
        ids: Everything that may be an id, in order.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts: dict[str, _Parsed] = {}
        self._in_order: list[str] = []
        self._absent_from: dict[str, int] = {}
        self.ids: dict[str, None] = {}
        for text in texts:
            self.add(text)

    @property
    def codes(self) -> dict[str, None]:
        """Everything that may be a three-letter code, in order."""
        return dict.fromkeys(code for parsed in self._texts.values() for code in parsed.codes)

    @property
    def texts(self) -> list[str]:
        """The texts, in order."""
        return [parsed.text for parsed in self._texts.values()]

    def add(self, text: str) -> None:
        """Another text."""
        parsed = _parsed(text)
        if parsed.folded in self._texts:
            return
        self._texts[parsed.folded] = parsed
        self._in_order.append(parsed.folded)
        self.ids |= dict.fromkeys(parsed.ids)

    def has(self, value: str) -> bool:
        """Return whether some text contains the value."""
        folded = _folded(value).lstrip("#")  # which people often omit
        # The same value is looked for after each reading: only in what that has added.
        if any(folded in text for text in self._in_order[self._absent_from.get(folded, 0) :]):
            return True
        self._absent_from[folded] = len(self._in_order)
        written = _ISO.fullmatch(value)
        if written is not None:
            return self._has_near(*map(int, written.groups()))
        words = _WORD.findall(folded)
        texts = self._texts.values()
        return len(words) > 1 and all(any(word in parsed.words for parsed in texts) for word in words)

    def has_exactly(self, value: str) -> bool:
        """Return whether some text contains the value as it is written, but for letter case and spaces."""
        folded = _folded(value)
        return any(folded in text for text in self._in_order)

    def _has_near(self, year: int, month: int, day: int) -> bool:
        try:
            wanted = date(year, month, day)
        except ValueError:
            return False
        near = [wanted + timedelta(days) for days in range(-_NEAR, _NEAR + 1)]
        return any((one.month, one.day) in parsed.days for parsed in self._texts.values() for one in near)


def _ids(text: str) -> Iterator[str]:
    for part in _PART.findall(text):
        yield from [part] if _MARK.search(part) else _CAPITALS.findall(part)


def _days(folded: str) -> Iterator[tuple[int, int]]:
    """Yield every date in a text, as month and day."""
    for found in itertools.chain(_ISO.finditer(folded), _NUMBERS.finditer(folded)):
        yield int(found["month"]), int(found["day"])
    for found in _NAMED.finditer(folded):
        name = found["name"] or found["second"]
        yield _MONTHS.index(name) + 1, int(found["day"] or found["first"])


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
