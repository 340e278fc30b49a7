"""Replacements of personal data: of the same form, one for each original, and none of them an original."""

from __future__ import annotations

import hmac
import itertools
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from ....errors import ConfigurationError
from .texts import is_card

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

_STARTS: Final[tuple[str, ...]] = ("b", "br", "c", "d", "dr", *"fghjklmnprst", "tr", *"vwz")
_VOWELS: Final = "aeiou"
_ENDS: Final[tuple[str, ...]] = (*"lmnrs", "th", "nd", "rk")
#: Words of addresses and ids that say what they are, and not whose.
_ORDINARY_WORDS: Final = (
    "street st road rd avenue ave lane ln drive dr court ct boulevard blvd way place pl square sq terrace close "
    "crescent "
    "parkway highway trail circle apt unit suite apartment floor box po str rue calle via north south east west "
    "user usr "
    "cust customer client member patient person account acct acc contact uid emp employee guest passenger pax "
    "id no profile "
    "crm ext sub auth google oauth com www"
)
_ORDINARY: Final = frozenset(_ORDINARY_WORDS.split())
_PARTICLES_WORDS: Final = (
    "de da do dos del della di van von vom zu zum der den la le el al bin ibn ben y e ter ten af av"
)
_PARTICLES: Final = frozenset(_PARTICLES_WORDS.split())
_HEXADECIMAL: Final = re.compile(r"(?=.*\d)(?:[\da-f-]{8,}|[\dA-F-]{8,})")
_ATTEMPTS: Final = 400
#: Attempts after which a number gets another digit.
_WIDEN: Final = 24


class Replacements:
    """Finds the replacement of each original.

    Args:
        key: What the replacements depend on, with the originals.
        reserved: Words that no replacement may be, in small letters: those of the conversations.
    """

    def __init__(self, key: bytes, reserved: Collection[str]) -> None:
        self._key, self._reserved = key, reserved
        self._names: dict[str, str] = {}
        self._made: set[str] = set()

    def of(self, kind: str, text: str) -> str:
        """Return the replacement of an original.

        Raises:
            ConfigurationError: There is none that is not taken.
        """
        make = _MAKERS.get(kind, _code)
        if kind in ("name", "place"):
            return re.sub(r"[^\W\d_]+", lambda part: self.name(part[0]), text)
        if kind in ("id", "street", "handle") and _HEXADECIMAL.fullmatch(text) is None:
            text = re.sub(r"[^\W\d_]{3,}", lambda part: self._unless_ordinary(part[0]), text)
        for attempt in range(_ATTEMPTS):
            replacement = make(text, self._number(f"{kind} {text} {attempt}"), attempt)
            if self._is_free(replacement):
                self._made.add(replacement.lower())
                return replacement
        raise ConfigurationError(f"too many personal values of the kind {kind}: no other one is left for each of them")

    def name(self, part: str) -> str:
        """Return the replacement of a word of a name; initials and particles stay."""
        if part in _PARTICLES or (len(part) == 1 and part.isascii()):
            return part
        if part.lower() not in self._names:
            tried = (
                _word(self._number(f"name {part.lower()} {attempt}"), 2 + (attempt > _WIDEN))
                for attempt in itertools.count()
            )
            replacement = self._names[part.lower()] = next(filter(self._is_free, tried))
            self._made.add(replacement.lower())
        return self._names[part.lower()]

    def _unless_ordinary(self, word: str) -> str:
        return word if word.lower() in _ORDINARY else in_case_of(word, self.name(word))

    def _is_free(self, candidate: str) -> bool:
        words = {candidate.lower(), "".join(re.findall(r"[^\W_]+", candidate.lower()))}
        return not any(word in self._reserved or word in self._made for word in words)

    def _number(self, text: str) -> int:
        return int.from_bytes(hmac.digest(self._key, text.encode(errors="surrogatepass"), sha256), "big")


def in_case_of(original: str, replacement: str) -> str:
    """Return a replacement in capital or small letters, if the original is."""
    if original.isupper() and len(original) > 1:
        return replacement.upper()
    return replacement.lower() if original.islower() else replacement


def _word(number: int, syllables: int) -> str:
    word = ""
    for _ in range(syllables):
        number, start = divmod(number, len(_STARTS))
        number, vowel = divmod(number, len(_VOWELS))
        word += _STARTS[start] + _VOWELS[vowel]
    return f"{word}{_ENDS[number % len(_ENDS)]}".capitalize()


def _code(text: str, number: int, attempt: int) -> str:
    """Return other digits for digits and other letters for letters; a number that begins with 0 or not stays so."""
    code = ""
    for character in text:
        if "0" <= character <= "9":
            number, digit = divmod(number, 9 if not code else 10)
            first = not re.search(r"\d", code)
            code += str(digit % 9 + 1) if first and character != "0" else "0" if first else str(digit)
        elif character.isalpha():
            number, letter = divmod(number, 26)
            code += chr(ord("A" if character.isupper() else "a") + letter)
        else:
            code += character
    return code + "".join(str(number // 10**place % 10) for place in range(attempt // _WIDEN))


def _id(text: str, number: int, attempt: int) -> str:
    """Return an id with other digits; more of them where those are all in use."""
    new_id = re.sub(r"\d+", lambda digits: _code(digits[0], number, 0), text)
    return new_id + "".join(str(number // 10 ** (40 + place) % 10) for place in range(attempt // _WIDEN))


def _card(text: str, number: int, _attempt: int) -> str:
    """Return another number of a card, whose check digit is right if that of the original is."""
    new_number = _code(text, number, 0)
    if not is_card(text):
        return new_number
    return next(card for last in "0123456789" if is_card(card := new_number[:-1] + last))


def _date(text: str, number: int, _attempt: int) -> str:
    """Return another date in the same form; days and months are at most 12, whichever comes first."""

    def part(match: re.Match[str]) -> str:
        nonlocal number
        number, value = divmod(number, 100)
        digits = match[0]
        if len(digits) == 8:
            return f"{1930 + value % 75}{number % 12 + 1:02}{number // 12 % 12 + 1:02}"
        if len(digits) == 4:
            return str(1930 + value % 75)
        return f"{value % 12 + 1:02}" if len(digits) == 2 else str(value % 9 + 1)

    return re.sub(r"\d+", part, text)


def _ip(text: str, number: int, _attempt: int) -> str:
    if ":" in text:
        return f"2001:db8::{number % 65_521:x}:{number // 65_521 % 65_521:x}"
    return f"198.{18 + number % 2}.{number // 2 % 256}.{number // 512 % 256}"


def _mac(text: str, number: int, _attempt: int) -> str:
    address = re.sub("[0-9A-Fa-f]", lambda place: f"{number >> (4 * (place.start() % 60)) & 15:x}", text)
    return in_case_of(re.sub("[^A-Fa-f]", "", text) or "a", address)


def _geo(text: str, number: int, _attempt: int) -> str:
    """Return a coordinate with other decimals; the last one is not 0, as numbers are written."""
    integer, point, decimals = text.partition(".")
    if not point:
        return _code(text, number, 0)
    digits = "".join(str(number // 10**place % 10) for place in range(len(decimals) - 1))
    return f"{integer}.{digits}{number % 9 + 1}"


def _email(_text: str, number: int, _attempt: int) -> str:
    return f"{_word(number, 2).lower()}.{_word(number >> 64, 2).lower()}@example.com"


def _secret(_text: str, number: int, _attempt: int) -> str:
    return f"REDACTED-{number % 16**10:010x}"


def _changed(text: str, number: int, attempt: int) -> str:
    """Return an address or a handle, whose words are replaced, with other digits."""
    return _id(text, number, attempt) if any(map(str.isdigit, text)) or attempt else text


_MAKERS: Final[dict[str, Callable[[str, int, int], str]]] = {
    "card": _card,
    "date": _date,
    "email": _email,
    "geo": _geo,
    "handle": _changed,
    "id": _id,
    "ip": _ip,
    "mac": _mac,
    "secret": _secret,
    "street": _changed,
}
