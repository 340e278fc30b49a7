"""What has to arrive as it was said: ids, addresses, amounts, numbers and names, and whether it did."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The kinds, with what each is written like; what one has taken is not looked at by the next.
_KINDS = {
    "address": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "id": re.compile(r"#?\w+(?:_\w+)+|#?\b(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{3,}\b"),
    "amount": re.compile(r"\$\d[\d,]*(?:\.\d\d)?\b"),
    "number": re.compile(r"(?<![\w.,-])\d{2,}(?![\w-]|[.,]\d)"),
    "name": re.compile(r"(?<=[a-z,] )(?:[A-Z][a-z]+(?: (?=[A-Z][a-z]))?)+"),
}
#: What is between words; the ending of a name in the genitive is a word.
_BETWEEN = re.compile(r"[\s'\u2019]+")
_SIGN = re.compile(r"[^a-z0-9]+")


class Entity(NamedTuple):
    """Something that has to arrive: ``kind`` is ``address``, ``id``, ``amount``, ``number`` or ``name``."""

    kind: str
    text: str


def entities_of(text: str) -> list[Entity]:
    """Return what has to arrive of a text, by kinds."""
    found = []
    for kind, pattern in _KINDS.items():
        found += [Entity(kind, match.group().strip()) for match in pattern.finditer(text)]
        text = pattern.sub(" ", text)
    return found


def survivors(said: str, heard: str) -> Iterator[tuple[Entity, bool]]:
    """Yield what had to arrive of a text, each with whether it did. Signs and upper case play no part."""
    words = [_plain(word) for word in _BETWEEN.split(heard)]
    for each in entities_of(said):
        wanted = [_plain(word) for word in each.text.split()]
        places = range(len(words) - len(wanted) + 1)
        yield each, any(words[at : at + len(wanted)] == wanted for at in places)


def _plain(word: str) -> str:
    return _SIGN.sub("", word.lower())
