"""What names one record or person: ids and codes, e-mail addresses and phone numbers."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Shorter words with a digit are counts, sizes and seats.
SHORTEST_ID: Final = 4
#: A number with its unit (16GB, 24-hour, 10am, 2nd), or a short word and a digit, as in names of products.
_MEASURED: Final = re.compile(r"\d{1,12}(?:[A-Z]{1,3}|-?[a-z]+|[A-Z][a-z]+)|[A-Za-z]{1,3}\d{1,2}")
_PLAIN_ID: Final = re.compile(r"#?(?=\w*\d)\w{5,}")
#: What may be the key of a record, or has one: a word with a digit, an underscore or an at sign is, else its capitals.
_KEY: Final = re.compile(r"#?[\w@.+-]+")
_MARK: Final = re.compile(r"[\d@_]")
_ONE_WORD: Final = re.compile(r"\S+")
_CAPITALS: Final = re.compile(r"\b[A-Z]{5,}\b")
_CODE: Final = re.compile(r"\b[A-Z]{3}\b")
_DIGIT: Final = re.compile(r"\d")
_LETTER: Final = re.compile(r"[^\W\d]")
_KIND: Final = re.compile(r"[a-z]{2,}")
_KIND_ENDS: Final = re.compile(r"[_\W]\d")
#: An e-mail address.
ADDRESS: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
#: A phone number of ten digits.
PHONE: Final = re.compile(r"(?<![\w-])\(?\d{3}\)?[- .]\d{3}[- .]\d{4}(?![\w-])")


def ids_in(text: str, shortest: int = SHORTEST_ID) -> list[str]:
    """Return the ids of a text, a ``#`` before one included: ``#W123``, ``ann_smith_12``, ``2024-05-17``, ``94110``.

    They are words with a digit, and no measures such as ``16GB``, ``24-hour`` and ``V12``.

    Args:
        text: The text.
        shortest: Their least number of letters and digits.
    """
    return [word for word in _ids(shortest).findall(text) if not _MEASURED.fullmatch(word)]


def is_plain_id(text: str) -> bool:
    """Return whether a text is nothing but an id of letters and digits, at least five: no date, and no year."""
    return _PLAIN_ID.fullmatch(text) is not None and not _MEASURED.fullmatch(text)


def keys_in(text: str) -> Iterator[str]:
    """Yield everything in a text that may be the key of a record, for trying it.

    These are words with a digit, an underscore or an at sign, and others in capitals of at least five letters.
    """
    for word in _KEY.findall(text):
        yield from [word.rstrip(".")] if _MARK.search(word) else _CAPITALS.findall(word)


def is_key(text: str) -> bool:
    """Return whether a text is one word with a digit, an underscore or an at sign, and no phrase."""
    return _ONE_WORD.fullmatch(text) is not None and _MARK.search(text) is not None


def codes_in(text: str) -> list[str]:
    """Return the codes of three capitals in a text, such as those of airports."""
    return _CODE.findall(text)


def form_of(name: str) -> str:
    """Return the form of an id, by which it is compared with others: ``#a0000`` for ``#W1234``."""
    return _DIGIT.sub("0", _LETTER.sub("a", name))


def kind_in(name: str) -> str:
    """Return what an id says of its kind: "credit card" of ``credit_card_1``; nothing if it says none."""
    return " ".join(_KIND.findall(_KIND_ENDS.split(name)[0])) if "_" in name else ""


def addresses_in(text: str) -> list[str]:
    """Return the e-mail addresses of a text."""
    return ADDRESS.findall(text)


@functools.cache
def _ids(shortest: int) -> re.Pattern[str]:
    return re.compile(rf"#?(?=[\w-]*\d)\w[\w-]{{{shortest - 1},}}")
