"""What the person has asked for, of what the agent has said and a result has."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any, Final

from ....documents import json_or_none
from .naming import name_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ....models import Call, Message

_SENTENCES: Final = re.compile(r"(?<=[.!?\n])\s+")
_QUESTION: Final = re.compile(
    r"\?|^\W*(?:what|where|when|which|who|how|is|are|has|have|did|do|does|can you (?:t[e]ll|check|look)|t[e]ll me"
    r"|let me know|check|i(?:'d| would)? (?:want|need|like) to know|i wonder|status)\b",
    re.IGNORECASE,
)
_WORDS: Final = re.compile(r"[^\W\d_]{2,}")
#: Words of fields by a phrase of a question that asks for them.
_KINDS: Final = tuple(
    (re.compile(rf"\b(?:{phrase})\b", re.IGNORECASE), frozenset(fields.split()))
    for phrase, fields in (
        (
            "how much|costs?|prices?|pay|balances?|values?|worth|credit",
            "price cost total amount fee charge balance rate due",
        ),
        (
            "when|what (?:day|date|time)|how (?:long|soon)|arriv(?:e|al)",
            "date time eta arrival delivery departure days",
        ),
        ("how many|left|in stock|availab(?:le|ility)", "count quantity qty stock available left remaining seats"),
        ("where|status|progress|happen(?:ed|s|ing)|shipped|arrived|delivered|sent", "status state location carrier"),
        ("who", "name owner contact"),
        ("refunds?|money back|get back", "refund refunded amount"),
    )
)
#: Words that say nothing of what a question asks for.
_LITTLE: Final = frozenset(
    ("id", "ids", "order", "orders", "item", "items", "the", "of", "my", "your", "is", "it", "name", "customer", "user")
)
_LONGEST: Final = 40
_NUMBER: Final = re.compile(r"(?<![\w.,])[$\u20ac\u00a3]?(\d[\d,]*+(?:\.\d+)?)(?![\w]|[.,]\d)")
#: Numbers of which a sum is looked for.
_MOST_ADDED: Final = 6


def asked_values(messages: Sequence[Message], calls: Sequence[Call]) -> Iterator[str]:
    """Yield what a right agent has to say: values that were asked for, said by the agent, and known from a result.

    A value is that of a field of a result. It was asked for if a question of the person names the field, or its kind
    (how much, when, where). Values that the person has said, and arguments of calls, are none. Numbers are given in
    their shortest form; of several of one field, whose sum the agent has said, the sum counts.
    """
    questions = [question for m in messages if m.role == "user" for question in _questions(m.content or "")]
    heard = " ".join(m.content or "" for m in messages if m.role == "user").casefold()
    agent_text = " ".join(m.content or "" for m in messages if m.role == "assistant")
    numbers = {_plain(number) for number in _NUMBER.findall(agent_text)}
    arguments = {str(value).casefold() for call in calls for value in call.call.arguments.values()}
    values_by_field: dict[str, list[str]] = {}
    for words, value in itertools.chain.from_iterable(_fields(call) for call in calls):
        text = _shortest(value)
        is_number = not isinstance(value, str) or _NUMBER.fullmatch(text) is not None
        is_said = text in numbers if is_number else _has(agent_text.casefold(), text.casefold())
        known = text.casefold() in arguments or _has(heard, str(value).casefold()) or _has(heard, text.casefold())
        if is_said and not known and any(_asks(question, words) for question in questions):
            values_by_field.setdefault(" ".join(words), []).append(text)
    for values in values_by_field.values():
        different = list(dict.fromkeys(values))
        yield from [total] if (total := _sum(values, numbers)) else different


def _questions(text: str) -> Iterator[str]:
    for sentence in _SENTENCES.split(text):
        if _QUESTION.search(sentence):
            yield sentence


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
            words = tuple(word.casefold() for word in _WORDS.findall(line))
            yield from ((words, number) for number in _NUMBER.findall(line))


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
    words = {_singular(word.casefold()) for word in _WORDS.findall(question)} - _LITTLE
    if words & ({_singular(word) for word in field} - _LITTLE):
        return True
    return any(phrase.search(question) and fields.intersection(field) for phrase, fields in _KINDS)


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _shortest(value: Any) -> str:
    """Return a value as people may say it: 84.50 as 84.5, 240.0 as 240."""
    text = str(value).strip()
    number = _NUMBER.fullmatch(text)
    return _plain(number[1]) if number else text


def _plain(number: str) -> str:
    integer, point, decimals = number.replace(",", "").partition(".")
    decimals = decimals.rstrip("0")
    return f"{integer}.{decimals}" if point and decimals else integer


def _sum(values: Sequence[str], agent_numbers: set[str]) -> str:
    """Return the sum of several numbers if the agent has said it; empty if not."""
    if not 1 < len(values) <= _MOST_ADDED or not all(_NUMBER.fullmatch(value) for value in values):
        return ""
    total = _plain(f"{sum(map(float, values)):.2f}")
    return total if total in agent_numbers else ""


def _has(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None
