"""What the person has asked for, of what the agent has said and a result has."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

from ....documents import json_or_none
from ....language import (
    fields_asked,
    has_word,
    name_words,
    numbers_in,
    plain_words,
    quantity_of,
    questions_in,
    shortest_form,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ....models import Call, Message

#: Words that say nothing of what a question asks for.
_LITTLE: Final = frozenset(
    ("id", "ids", "order", "orders", "item", "items", "the", "of", "my", "your", "is", "it", "name", "customer", "user")
)
_LONGEST: Final = 40
#: Numbers of which a sum is looked for.
_MOST_ADDED: Final = 6


def asked_values(messages: Sequence[Message], calls: Sequence[Call]) -> Iterator[str]:
    """Yield what a right agent has to say: values that were asked for, said by the agent, and known from a result.

    A value is that of a field of a result. It was asked for if a question of the person names the field, or its kind
    (how much, when, where). Values that the person has said, and arguments of calls, are none. Numbers are given in
    their shortest form; of several of one field, whose sum the agent has said, the sum counts.
    """
    questions = [question for m in messages if m.role == "user" for question in questions_in(m.content or "")]
    heard = " ".join(m.content or "" for m in messages if m.role == "user").casefold()
    agent_text = " ".join(m.content or "" for m in messages if m.role == "assistant")
    numbers = {shortest_form(number.text) for number in numbers_in(agent_text)}
    arguments = {str(value).casefold() for call in calls for value in call.call.arguments.values()}
    values_by_field: dict[str, list[str]] = {}
    for words, value in itertools.chain.from_iterable(_fields(call) for call in calls):
        text = _shortest(value)
        is_number = not isinstance(value, str) or quantity_of(text) is not None
        is_said = text in numbers if is_number else has_word(agent_text.casefold(), text.casefold())
        forms = {text.casefold(), str(value).casefold()}
        known = text.casefold() in arguments or any(has_word(heard, form) for form in forms)
        if is_said and not known and any(_asks(question, words) for question in questions):
            values_by_field.setdefault(" ".join(words), []).append(text)
    for values in values_by_field.values():
        different = list(dict.fromkeys(values))
        yield from [total] if (total := _sum(values, numbers)) else different


def _fields(call: Call) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the plain values of a result, each with the words of its field; of a text, those of its line."""
    content = (call.result.content if call.result else None) or ""
    value = json_or_none(content)
    if isinstance(value, dict | list):
        yield from _leaves(value, ())
    elif isinstance(value, int | float) or (content and len(content) <= _LONGEST and "\n" not in content):
        yield tuple(name_words(call.call.name)), value if value is not None else content.strip()
    else:
        for line in content.splitlines():
            words = tuple(plain_words(line))
            yield from ((words, number.text) for number in numbers_in(line))


def _leaves(value: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _leaves(part, tuple(name_words(name)))
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part, words)
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and 0 < len(str(value)) <= _LONGEST:
        yield words, value


def _asks(question: str, field: Sequence[str]) -> bool:
    words = {_singular(word) for word in plain_words(question)} - _LITTLE
    named = {_singular(word) for word in field} - _LITTLE
    return not words.isdisjoint(named) or not fields_asked(question).isdisjoint(field)


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _shortest(value: Any) -> str:
    """Return a value as people may say it: 84.50 as 84.5, 240.0 as 240."""
    text = str(value).strip()
    return shortest_form(text) if quantity_of(text) else text


def _sum(values: Sequence[str], agent_numbers: set[str]) -> str:
    """Return the sum of several numbers if the agent has said it; empty if not."""
    quantities = [quantity_of(value) for value in values]
    if not 1 < len(values) <= _MOST_ADDED or None in quantities:
        return ""
    total = shortest_form(f"{sum(quantity.value for quantity in quantities if quantity):.2f}")
    return total if total in agent_numbers else ""
