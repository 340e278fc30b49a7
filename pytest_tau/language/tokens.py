"""The words of a text, where only their letters count. Words as phrases are compared with them: ``vocabulary``."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final

from .segments import clauses

if TYPE_CHECKING:
    from collections.abc import Iterator

_LETTERS: Final = re.compile(r"[^\W\d_]+")
_LETTERS_OR_NUMBER: Final = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?")
_LETTERS_AND_DIGITS: Final = re.compile(r"[^\W_]+")
_AS_WRITTEN: Final = re.compile(r"[^\W_]+(?:['\N{RIGHT SINGLE QUOTATION MARK}-][^\W_]+)*")
_NAME: Final = re.compile(r"\b[^\W_]+(?:_+[^\W_]+)+\b")
_OTHERS: Final = re.compile(r"[\W_]+")
_ENDINGS: Final = ("ness", "ments", "ment", "ings", "ing", "ies", "est", "er", "es", "ed", "s", "y", "e")
#: What is left of a word has at least so many letters, and a word alone is a phrase if it has.
_SHORTEST: Final = 3
_LONGEST_PHRASE: Final = 3


def plain_words(text: str) -> list[str]:
    """Return the words of letters in a text, in lower case: ``credit`` and ``card`` of ``Credit_card_1``."""
    return _LETTERS.findall(text.lower())


def words_and_numbers(text: str) -> list[str]:
    """Return the words of letters and the numbers in a text, in lower case: ``128``, ``gb`` of ``128GB``."""
    return _LETTERS_OR_NUMBER.findall(text.lower())


def alphanumeric_words(text: str) -> list[str]:
    """Return the words of letters and digits in a text, in lower case: ``w12`` of ``#W12``, ``128gb`` of ``128GB``."""
    return _LETTERS_AND_DIGITS.findall(text.lower())


def written_words(text: str) -> list[str]:
    """Return the words of a text as they are written: ``e-bike``, ``user's``, ``ON``."""
    return _AS_WRITTEN.findall(text)


def name_tokens(text: str) -> list[str]:
    """Return what may be names of tools and of fields in a text: words with an underscore."""
    return _NAME.findall(text)


def squeezed(text: str) -> str:
    """Return the letters and digits of a text, in one case."""
    return _OTHERS.sub("", text.casefold())


def stems_in(text: str) -> set[str]:
    """Return the words and numbers of a text without endings, those of a name such as ``payment_ids`` as well."""
    return {stem(word) for word in words_and_numbers(text)}


@functools.lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return a word without an ending of English, unless hardly anything is left."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word.removesuffix(ending).removesuffix("e")
    return word


def phrases_in(text: str) -> Iterator[str]:
    """Yield what a text may call something: each word, and two and three words in a row, as they are written."""
    for clause in clauses(text):
        words = written_words(clause)
        for number in range(1, _LONGEST_PHRASE + 1):
            for first in range(len(words) - number + 1):
                if number > 1 or len(words[first]) >= _SHORTEST:
                    yield " ".join(words[first : first + number])
