"""What a scenario says about the slots of a reference, by its words."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from ..language.mentions import mentions
from ..models import strings_in

if TYPE_CHECKING:
    from ..models import Task
    from .slots import Slot

_WORD = re.compile(r"[a-z]+|\d+(?:\.\d+)?")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
#: Words of the names of arguments and fields that do not say what they are about.
_FORMAL_WORDS = "id ids new old number numbers list name names type types of the to and"
_ENDINGS = ("ness", "ments", "ment", "ings", "ing", "ies", "est", "er", "es", "ed", "s", "y", "e")
_SHORTEST = 3
_NUMBERS = dict(
    enumerate(["zero no none any without", "one a an single another", "two", "three", "four", "five", "six"])
)
#: Words by which a user leaves a slot to what the record has, or to the agent.
_SAME = re.compile(r"\b(?:same|exact\w*|original\w*|by default|whichever)\b")
_CAUSE = re.compile(r"\b(?:because|since|due to|reasons?)\b")
_LEFT = re.compile(r"\b(?:original\w*|by default|whichever|where (?:it|they) (?:came|comes?) from|any card)\b")


def words_of(text: str) -> set[str]:
    """Return the words of a text without endings, in lower case."""
    return {stem(word) for word in _WORD.findall(text.lower().replace("_", " "))}


@functools.lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return a word without an ending of English, unless hardly anything is left."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word.removesuffix(ending).removesuffix("e")
    return word


_FORMAL = frozenset(words_of(_FORMAL_WORDS))


def _in_words(number: str) -> set[str]:
    """Return how people write a number."""
    return {number, *_NUMBERS.get(int(number), "").split()}


def _root(word: str) -> str:
    """Return how words for the same thing begin: ``bag`` for ``baggage``."""
    return word[:_SHORTEST]


class Wishes:
    """The text of a scenario.

    Attributes:
        text: The text, in lower case.
        words: Its words without endings.
    """

    def __init__(self, task: Task, *, with_ticket: bool = True) -> None:
        ticket = task.ticket or "" if with_ticket else ""
        told = [*strings_in([scenario.model_dump(mode="json") for scenario in task.scenarios]), ticket]
        self.text = "\n".join(told).lower().replace("\u2019", "'")
        self.words = words_of(self.text)

    @property
    def sentences(self) -> list[str]:
        """The sentences of the text."""
        return [part for part in _SENTENCE.split(self.text) if part.strip()]

    def is_about(self, slot: Slot) -> bool:
        """Return whether a word of the text is about a slot: its name, or what is known of any of its values."""
        if not slot.is_enumeration:
            return bool(_LEFT.search(self.text)) or not self.words.isdisjoint(_vocabulary(slot))
        if slot.group.is_count:
            counted = words_of(slot.argument) - _FORMAL
            mentioned = any(word.startswith(_root(name)) for name in counted for word in self.words)
            return mentioned or not _in_words(slot.value).isdisjoint(_WORD.findall(self.text))
        kept = slot.group.is_of_records and _SAME.search(self.text)
        cause = slot.argument == "reason" and _CAUSE.search(self.text)
        named = (words_of(slot.argument) - _FORMAL) & self.words
        return bool(kept or cause or named or self.named(slot))

    def is_about_record(self, slot: Slot) -> bool:
        """Return whether the text speaks of a record, by what it is called, by an id, or by what is known of any."""
        called = words_of(slot.argument) - _FORMAL
        ids = any(mentions(self.text, value) for value in slot.group.members)
        numbers = {part for member in slot.group.members.values() for part in _numbers_in(member)}
        counted = not numbers.isdisjoint(_WORD.findall(self.text))
        return ids or counted or not called.isdisjoint(self.words) or self.is_about(slot)

    def named(self, slot: Slot, text: str | None = None) -> list[str]:
        """Return the values of an enumeration whose words a text has, by default the whole."""
        words = self.words if text is None else words_of(text)
        values = {value: words_of(value) - _of_call(slot) for value in slot.group.members}
        return [value for value, own in values.items() if own and own <= words]


def _vocabulary(slot: Slot) -> set[str]:
    names = words_of(f"{slot.argument} {slot.group.field.rpartition('.')[2]}")
    known = [*slot.group.members, *strings_in(dict(slot.group.members))]
    values = words_of(" ".join(known)) | {_initials(text) for text in known}
    return {word for word in (names | values) - _of_call(slot) if word not in _FORMAL and len(word) > 1}


def _numbers_in(member: Any) -> set[str]:
    """Return how people say the numbers of a record, above one."""
    numbers = {part for part in member.values() if type(part) in (int, float) and part > 1}
    return {f"{number:g}" for number in numbers} | {_NUMBERS[int(number)] for number in numbers if number in _NUMBERS}


def _initials(text: str) -> str:
    """Return the initials of a name of several words: ``gc`` for ``gift_card``."""
    parts = text.lower().split("_")
    return "".join(part[0] for part in parts if part) if len(parts) > 1 and all(map(str.isalpha, parts)) else ""


def _of_call(slot: Slot) -> set[str]:
    """Return words for what the whole call is about, such as an order: they say nothing about its slots."""
    own = slot.path.split(".")
    return (
        words_of(" ".join([slot.action.name, *(name for name in slot.action.arguments if name not in own)])) | _FORMAL
    )


def options_in(member: Any) -> dict[str, str]:
    """Return the texts in an object of an object, such as the options of a variant, by name."""
    parts = [part for part in member.values() if isinstance(part, dict)] if isinstance(member, dict) else []
    return {name: value for part in parts for name, value in part.items() if isinstance(value, str)}
