"""What a scenario says about the slots of a reference, by its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..language import sentences
from ..language.mentions import mentions
from ..language.message import plain_quotes
from ..language.numbers import NUMBER_WORDS
from ..language.scenarios import gives_cause, keeps_what_is, takes_any_origin
from ..language.tokens import stems_in, words_and_numbers
from ..models import strings_in

if TYPE_CHECKING:
    from ..models import Task
    from .slots import Slot

#: Words of the names of arguments and fields that do not say what they are about.
_FORMAL_WORDS = "id ids new old number numbers list name names type types of the to and"
#: Letters with which words for the same thing begin.
_ROOT = 3
#: Without a number, none is wanted.
_ANY_NUMBER = ("any",)
_FORMAL = frozenset(stems_in(_FORMAL_WORDS))


def _in_words(number: str) -> set[str]:
    """Return how people write a number."""
    value = int(number)
    return {number, *NUMBER_WORDS.get(value, ()), *(_ANY_NUMBER if value == 0 else ())}


def _root(word: str) -> str:
    """Return how words for the same thing begin: ``bag`` for ``baggage``."""
    return word[:_ROOT]


class Wishes:
    """The text of a scenario.

    Attributes:
        text: The text, in lower case.
        words: Its words without endings.
    """

    def __init__(self, task: Task, *, with_ticket: bool = True) -> None:
        ticket = task.ticket or "" if with_ticket else ""
        told = [*strings_in([scenario.model_dump(mode="json") for scenario in task.scenarios]), ticket]
        self.text = plain_quotes("\n".join(told).lower())
        self.words = stems_in(self.text)

    @property
    def sentences(self) -> list[str]:
        """The sentences of the text."""
        return sentences(self.text, ".!?;")

    def is_about(self, slot: Slot) -> bool:
        """Return whether a word of the text is about a slot: its name, or what is known of any of its values."""
        if not slot.is_enumeration:
            return takes_any_origin(self.text) or not self.words.isdisjoint(_vocabulary(slot))
        if slot.group.is_count:
            counted = stems_in(slot.argument) - _FORMAL
            mentioned = any(word.startswith(_root(name)) for name in counted for word in self.words)
            return mentioned or not _in_words(slot.value).isdisjoint(words_and_numbers(self.text))
        kept = slot.group.is_of_records and keeps_what_is(self.text)
        cause = slot.argument == "reason" and gives_cause(self.text)
        named = (stems_in(slot.argument) - _FORMAL) & self.words
        return bool(kept or cause or named or self.named(slot))

    def is_about_record(self, slot: Slot) -> bool:
        """Return whether the text speaks of a record, by what it is called, by an id, or by what is known of any."""
        called = stems_in(slot.argument) - _FORMAL
        ids = any(mentions(self.text, value) for value in slot.group.members)
        numbers = {part for member in slot.group.members.values() for part in _numbers_in(member)}
        counted = not numbers.isdisjoint(words_and_numbers(self.text))
        return ids or counted or not called.isdisjoint(self.words) or self.is_about(slot)

    def named(self, slot: Slot, text: str | None = None) -> list[str]:
        """Return the values of an enumeration whose words a text has, by default the whole."""
        words = self.words if text is None else stems_in(text)
        values = {value: stems_in(value) - _of_call(slot) for value in slot.group.members}
        return [value for value, own in values.items() if own and own <= words]


def _vocabulary(slot: Slot) -> set[str]:
    names = stems_in(f"{slot.argument} {slot.group.field.rpartition('.')[2]}")
    known = [*slot.group.members, *strings_in(dict(slot.group.members))]
    values = stems_in(" ".join(known)) | {_initials(text) for text in known}
    return {word for word in (names | values) - _of_call(slot) if word not in _FORMAL and len(word) > 1}


def _numbers_in(member: Any) -> set[str]:
    """Return how people say the numbers of a record, above one."""
    numbers = {part for part in member.values() if type(part) in (int, float) and part > 1}
    return {f"{number:g}" for number in numbers} | {word for number in numbers for word in NUMBER_WORDS.get(number, ())}


def _initials(text: str) -> str:
    """Return the initials of a name of several words: ``gc`` for ``gift_card``."""
    parts = text.lower().split("_")
    return "".join(part[0] for part in parts if part) if len(parts) > 1 and all(map(str.isalpha, parts)) else ""


def _of_call(slot: Slot) -> set[str]:
    """Return words for what the whole call is about, such as an order: they say nothing about its slots."""
    own = slot.path.split(".")
    return (
        stems_in(" ".join([slot.action.name, *(name for name in slot.action.arguments if name not in own)])) | _FORMAL
    )


def options_in(member: Any) -> dict[str, str]:
    """Return the texts in an object of an object, such as the options of a variant, by name."""
    parts = [part for part in member.values() if isinstance(part, dict)] if isinstance(member, dict) else []
    return {name: value for part in parts for name, value in part.items() if isinstance(value, str)}
