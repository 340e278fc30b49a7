"""Personal data of recorded conversations, replaced by other data of the same form, the same everywhere.

What the database of a domain has stays: a conversation that repeats it gives nothing away.
"""

from __future__ import annotations

import contextlib
import hmac
import re
import secrets
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ....documents import DocumentError, parse_json
from ....errors import ConfigurationError
from ....models import Simulation
from ....plain import json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: Kinds by the names of fields and arguments.
_FIELDS: dict[str, re.Pattern[str]] = {
    "email": re.compile(r"e_?mail(_address)?"),
    "phone": re.compile(r"(?:mobile_?|tele)?phone(_number)?|mobile|msisdn"),
    "name": re.compile(r"(?:(?:first|last|full|family|given|middle|customer|user|holder|contact)_?)?name|surname"),
    "street": re.compile(r"address(_?(?:line)?_?\d)?|street(_address)?"),
    "digits": re.compile(r"zip(_?code)?|post(al)?_?code|card(_number)?|(account|passport|tax)_number|iban|ssn"),
    "date": re.compile(r"dob|date_of_birth|birth_?(?:date|day)"),
    "id": re.compile(r"(?:user|customer|member|client|patient|person|account|contact)_?id"),
}
#: What surrounds the name of a person; the names of other things stay.
_OF_PERSONS = re.compile(r"email|phone|address|dob|birth|user_?id|customer_?id|first_name|last_name")
#: Kinds by form, in any text.
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "secret",
        re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+\b|\b(?:sk|pk|ghp|xox[bp]|AKIA)[-_]?[A-Za-z0-9_-]{16,}\b"),
    ),
    ("email", re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")),
    ("digits", re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")),
    ("card", re.compile(r"\b(?:\d[ -]?){12,18}\d\b")),
    ("phone", re.compile(r"(?<![\w#])\+\d[\d ().-]{6,}\d\b|(?<![\w#-])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b")),
    ("digits", re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b")),
)
#: Their names are not those of a person: "My name is Ada Berg."
_SAID = re.compile(r"\b(?:[Mm]y name is|I am|[Tt]his is|I'm) ((?:[A-Z][a-z'-]+)(?: [A-Z][a-z'-]+){1,2})\b")
_FIRST = (
    *("Alex", "Bela", "Chris", "Dana", "Eli", "Finn", "Gale", "Harper", "Indra", "Jules", "Kim", "Lou"),
    *("Morgan", "Noa"),
)
_LAST = (
    *("Abbot", "Brook", "Carver", "Dorn", "Ellis", "Frost", "Gray", "Holm", "Ives", "Jansen", "Keller", "Lund"),
    "Moss",
)
_STREETS = ("Alder Way", "Birch Road", "Cedar Street", "Dove Lane", "Elder Court", "Fern Avenue", "Grove Street")
_SHORTEST = 3


class Redactor:
    """Replaces personal data in conversations; one original has one replacement.

    Args:
        simulations: The conversations.
        kept: Texts whose personal data may stay: a database for tests.
        key: What replacements depend on; new ones each time by default.

    Attributes:
        values: How many things are replaced.
    """

    def __init__(self, simulations: Iterable[Simulation], kept: str = "", key: bytes | None = None) -> None:
        self._key = key or secrets.token_bytes(16)
        self._found: dict[str, str] = {}
        self.values = 0
        for simulation in simulations:
            # Names first: ids may have them in them.
            for kind, text in sorted(_personal(simulation), key=lambda each: each[0] != "name"):
                if len(text) >= _SHORTEST and text not in self._found and not _is_kept(kind, text, kept):
                    self._add(kind, text)
                    self.values += 1
        ordered = sorted(self._found, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_bounded, ordered))) if ordered else None

    def redacted(self, simulation: Simulation) -> Simulation:
        """Return a conversation without its personal data.

        Raises:
            ConfigurationError: Some would still be there.
        """
        if self._pattern is None:
            return simulation
        made = Simulation.model_validate(self._in_value(simulation.model_dump(mode="json")))
        left = self.left_in(made.model_dump_json())
        if left:
            raise ConfigurationError(f"personal data of {left} kinds would not be replaced; nothing is written")
        return made

    def left_in(self, text: str) -> int:
        """Return how many originals a text has, in upper or lower case, or as a part of an address of the web."""
        return sum(
            re.search(_bounded(form), text, re.IGNORECASE) is not None
            for original in self._found
            if len(original) > _SHORTEST and (any(map(str.isdigit, original)) or "@" in original or " " in original)
            for form in {original, quote(original)}
        )

    def _in_value(self, value: Any) -> Any:
        if isinstance(value, str):
            assert self._pattern is not None, "there is something to replace"
            return self._pattern.sub(lambda match: self._found[match[0]], value)
        if isinstance(value, dict):
            return {self._in_value(name): self._in_value(each) for name, each in value.items()}
        return [self._in_value(each) for each in value] if isinstance(value, list) else value

    def _add(self, kind: str, text: str) -> None:
        if kind == "name":
            self._add_name(text)
            return
        made = base = self._without_names(text) if kind == "id" else text
        for attempt in range(9):  # another one, and not one that is there
            made = _MAKERS[kind](base, self._number(f"{kind} {text.lower()} {attempt}"))
            if made.lower() != text.lower() and made not in self._found:
                break
        for form in (str, str.lower, str.upper):
            self._found.setdefault(form(text), form(made))
        # The same in the address of a web page.
        self._found.setdefault(quote(text), quote(made))

    def _without_names(self, text: str) -> str:
        return re.sub(r"[^\W\d_]+", lambda part: self._found.get(part[0], part[0]), text)

    def _add_name(self, text: str) -> None:
        parts = re.findall(r"[^\W\d_]+", text)
        made = [self._name(part, first=place == 0) for place, part in enumerate(parts)]
        for form in (str, str.lower, str.upper):
            self._found.setdefault(form(text), form(" ".join(made)))
        for part, other in zip(parts, made, strict=True):
            if len(part) >= _SHORTEST:
                for form in (str, str.lower, str.upper):
                    self._found.setdefault(form(part), form(other))

    def _name(self, part: str, *, first: bool) -> str:
        names = _FIRST if first else _LAST
        return names[self._number(f"name {part.lower()}") % len(names)]

    def _number(self, text: str) -> int:
        return int.from_bytes(hmac.digest(self._key, text.encode(errors="surrogatepass"), sha256)[:8], "big")


def _is_kept(kind: str, text: str, kept: str) -> bool:
    """Return whether a database has a text; of a name, the first and the last part may be in fields of their own."""
    return text in kept or (kind == "name" and all(part in kept for part in text.split()))


def _bounded(text: str) -> str:
    """Return a pattern of a text, but not as a part of a longer word; a name in small letters is only part of an id."""
    pattern = rf"(?<![^\W_]){re.escape(text)}(?![^\W_])"
    if text.isalpha() and text.islower():
        return rf"(?:(?<=[_.@+-]){re.escape(text)}(?![^\W_])|(?<![^\W_]){re.escape(text)}(?=[_.@+-]\w))"
    return pattern


def _personal(simulation: Simulation) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each thing in a conversation that is personal by its field or its form."""
    for message in simulation.messages:
        calls = getattr(message, "tool_calls", None) or ()
        values: list[Any] = [call.arguments for call in calls]
        if message.role == "tool":
            with contextlib.suppress(DocumentError):
                values.append(parse_json(message.content or ""))
        for value in values:
            yield from _by_field(value)
        texts = [message.content or "", *(json.dumps(call.arguments, ensure_ascii=False) for call in calls)]
        for text in texts:
            for kind, pattern in _FORMS:
                yield from ((kind, match[0]) for match in pattern.finditer(text) if kind != "card" or _luhn(match[0]))
        if message.role == "user":
            yield from (("name", match[1]) for match in _SAID.finditer(message.content or ""))


def _by_field(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for each in value:
            yield from _by_field(each)
    if not isinstance(value, dict):
        return
    person = any(_OF_PERSONS.fullmatch(str(name).lower()) for name in value)
    for name, each in value.items():
        kind = next((kind for kind, pattern in _FIELDS.items() if pattern.fullmatch(str(name).lower())), None)
        if isinstance(each, str) and each.strip() and kind and (kind != "name" or person or "_" in str(name)):
            yield kind, each.strip()
        elif isinstance(each, dict) and kind == "name":
            yield "name", " ".join(str(part) for part in each.values() if isinstance(part, str))
        else:
            yield from _by_field(each)


def _luhn(text: str) -> bool:
    digits = [int(each) for each in text if each.isdigit()]
    doubled = [each if place % 2 == 0 else sum(divmod(2 * each, 10)) for place, each in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def _digits(text: str, number: int) -> str:
    made = []
    for each in text:
        number, digit = divmod(number * 7 + 3, 10)
        made.append(str((int(each) + 1 + digit % 9) % 10) if each.isdigit() else each)
        number = number or 12_345
    return "".join(made)


def _card(text: str, number: int) -> str:
    """Return another number of a card whose check digit is right."""
    made = _digits(text, number)
    return next(found for last in "0123456789" if _luhn(found := made[:-1] + last))


_MAKERS: dict[str, Callable[[str, int], str]] = {
    "email": lambda _text, number: (
        f"{_FIRST[number % 14].lower()}.{_LAST[number // 14 % 13].lower()}{number % 9973}@example.com"
    ),
    "phone": _digits,
    "digits": _digits,
    "card": _card,
    "date": lambda text, number: re.sub(r"(\d\d)\b(?!.*\d)", f"{number % 28 + 1:02}", text),
    "street": lambda _text, number: f"{number % 899 + 1} {_STREETS[number % 7]}",
    "id": _digits,
    "secret": lambda text, number: f"REDACTED-{number:x}"[: len(text)],
}
