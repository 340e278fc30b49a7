"""Facts that can be known from texts: words, ids and dates, however they are written."""

from __future__ import annotations

import functools
from datetime import date, timedelta
from typing import TYPE_CHECKING

from ..language.dates import dates_in, iso_date
from ..language.ids import codes_in, keys_in
from ..language.tokens import alphanumeric_words

if TYPE_CHECKING:
    from collections.abc import Iterable

#: "The day after", "a week later": days that a date may be away from one that is given.
_NEAR = 7


class _Parsed:
    """A text, and what there is in it, looked for at first need: few arguments of a task are dates or several words."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = _folded(text)
        self.ids = tuple(dict.fromkeys(keys_in(text)))

    @functools.cached_property
    def words(self) -> frozenset[str]:
        return frozenset(alphanumeric_words(self.folded))

    @functools.cached_property
    def days(self) -> frozenset[tuple[int, int]]:
        """The dates, without the year, which people often omit."""
        return frozenset((date.month, date.day) for date in dates_in(self.folded, short=True))

    @functools.cached_property
    def codes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(codes_in(self.text)))


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
        written = iso_date(value)
        if written is not None:
            return self._has_near(written)
        words = alphanumeric_words(folded)
        texts = self._texts.values()
        return len(words) > 1 and all(any(word in parsed.words for parsed in texts) for word in words)

    def has_exactly(self, value: str) -> bool:
        """Return whether some text contains the value as it is written, but for letter case and spaces."""
        folded = _folded(value)
        return any(folded in text for text in self._in_order)

    def _has_near(self, day: date) -> bool:
        near = [day + timedelta(days) for days in range(-_NEAR, _NEAR + 1)]
        return any((other.month, other.day) in parsed.days for parsed in self._texts.values() for other in near)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
