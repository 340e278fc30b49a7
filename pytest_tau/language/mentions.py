"""Whether a text has a value, such as an id or a name."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, Final

from .message import plain_quotes
from .tokens import squeezed

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Values of at most so many characters may be ids.
_LONGEST_ID: Final = 100
#: The letters of a word that is the end of another one.
_SHORTEST_END: Final = 5
#: How a scenario says by which id its user is known: "your user id is ann_smith_12".
_USER_ID: Final = re.compile(r"\b(?:user id|your id|with id|you are)(?: is)?\W{1,3}([a-z]\w*_\w*\d)\b", re.IGNORECASE)
#: What a text may say before the value that it only gives.
_GIVES: Final = r"(?:(?:oh|ok|okay|sorry|yes|sure)\W+)*(?:(?:my [\w ]+|it|that|this) (?:is|are)|it's|that's)?\W*"
#: Words between values that are listed.
_LISTS: Final = "and|or|plus|also|as well as|then"
#: Without points before and behind it.
_WORD: Final = re.compile(r"[a-z0-9@+](?:[a-z0-9.@+]*[a-z0-9@+])?")


def mentions(text: str, value: Any) -> bool:
    """Return whether a text has a value, whatever the case, spaces and punctuation around it.

    ``#W123`` is mentioned in ``order W123``, ``first_floor`` in ``First floor``; ``12`` is not in ``2012``.
    """
    return mentions_any(text, (value,))


def mentions_any(text: str, values: Iterable[Any]) -> bool:
    """Return whether a text has one of several values, as ``mentions``."""
    plain_text = _last_plain(text)
    return any(value in plain_text for value in _wanted(tuple(map(str, values))))


def has_word(text: str, value: str) -> bool:
    """Return whether a text has a value as it is written, and not as a part of a longer word."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def has_letters_of(text: str, value: str) -> bool:
    """Return whether a text has a value as words of its own, whatever the case, spaces and punctuation in it."""
    pattern = r"[\W_]*".join(squeezed(value))  # letters and digits only
    return bool(pattern) and re.search(rf"(?<![^\W_]){pattern}(?![^\W_])", text.casefold()) is not None


def only_gives(text: str, value: str) -> bool:
    """Return whether a text gives a value and says nothing else: "Sure, it's 19122."."""
    return re.fullmatch(rf"{_GIVES}{re.escape(value)}\W*", plain_quotes(text), re.IGNORECASE) is not None


def listed_in(text: str, values: Iterable[str], name: str) -> str:
    """Return the part of a text that lists values of one name: "#W1 and order #W2"; empty if it says more of them.

    Args:
        text: The text.
        values: The values, each of which the text has.
        name: Their name, such as ``order_id``.
    """
    own = "|".join(f"{re.escape(word)}s?" for word in name.split("_") if word)
    between = rf"(?:\W+(?:{_LISTS}|{own})\b)*\W+"
    found = re.search(between.join(map(re.escape, sorted(values, key=text.find))), text, re.IGNORECASE)
    return found[0] if found else ""


def stated_as_own(sentence: str, name: str) -> str:
    """Return what a sentence says that a fact of the user is: "My zip code is 19122."; empty if it is another one."""
    match = re.fullmatch(rf"My {re.escape(name.replace('_', ' '))} (?:is|are) (.+?)\.?", sentence)
    return match[1] if match else ""


def mentions_other(text: str, thing: str) -> bool:
    """Return whether a text speaks of the other one of two things: "the other credit card"."""
    return re.search(rf"\b(?:other|another|second) (?:\w+ )?{re.escape(thing)}\b", text, re.IGNORECASE) is not None


def user_ids_in(scenario: str) -> list[str]:
    """Return the ids by which a scenario says that its user is known."""
    return _USER_ID.findall(scenario)


def short_names(name: str) -> list[str]:
    """Return the ways in which people name a thing such as a product, each in the singular and the plural.

    These are its name, its last word, the last two words as one, and the ends of a long last word: a "Smart Watch" is a
    smartwatch and a watch, and so is a wristwatch.
    """
    parts = re.split(r"[\s-]+", name.strip())
    last = parts[-1].removesuffix("s")
    ends = [last[start:] for start in range(1, len(last) - _SHORTEST_END + 1)]
    singular = [name.strip(), last, "".join(parts[-2:]), *ends]
    return list(dict.fromkeys([*singular, *map(_plural, singular)]))


def _plural(word: str) -> str:
    return word if word.endswith("s") else f"{word}es" if word.endswith(("ch", "sh", "x")) else f"{word}s"


def _wanted(values: tuple[str, ...]) -> tuple[str, ...]:
    return _words_of_ids(values) if max(map(len, values), default=0) <= _LONGEST_ID else _words_of(values)


def _words_of(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values as they are looked for in texts, without those that have no words."""
    return tuple(value for value in map(_plain, values) if value.strip())


def _plain(text: str) -> str:
    """Return the words of a text with one space before, between and after them."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


#: Rules look for one value after the other in the same texts, which may be whole conversations.
_last_plain = functools.lru_cache(maxsize=16)(_plain)
#: The ids of a domain are looked for in many texts.
_words_of_ids = functools.lru_cache(maxsize=256)(_words_of)
