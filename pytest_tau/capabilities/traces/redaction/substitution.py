"""Substitution of many originals in texts, in any letter case, in time that their number does not change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from .replacements import in_case_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_WORD: Final = re.compile(r"[^\W_]+")
#: Scripts that write no spaces between words.
_UNSPACED: Final = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
#: What may stand between the parts of a number, or the letters of a name that is spelled.
_GAP: Final = re.compile(r"[ \u00a0()./_-]{0,3}")
_ESCAPED: Final = re.compile(r"\\+u([0-9a-fA-F]{4})")
#: Characters of numbers that are recognised with other separators, and of names that are spelled.
_SHORTEST_NUMBER, _SHORTEST_SPELLED = 7, 3
#: Shorter numbers are not replaced as a part of a price or another number.
_PRICES: Final = 8


class _Entry(NamedTuple):
    original: str
    made: str
    ordinary: bool


class Substitution:
    """Replaces originals in texts.

    Args:
        replacements: The replacements by their originals.
        ordinary: Originals that are ordinary words in small letters, and names only with a capital letter.
    """

    def __init__(self, replacements: dict[str, str], ordinary: set[str]) -> None:
        self._entries: dict[str, _Entry] = {}
        self._words: dict[str, set[int]] = {}
        self._joined: dict[str, _Entry] = {}
        self._beginnings: set[str] = set()
        self._unspaced = {original: to for original, to in replacements.items() if _UNSPACED.search(original)}
        for original, to in replacements.items():
            if original not in self._unspaced:
                self._add(original, to, ordinary=original in ordinary)
        pattern = "|".join(map(re.escape, sorted(self._unspaced, key=len, reverse=True)))
        self._pattern = re.compile(pattern) if pattern else None

    def _add(self, original: str, replacement: str, *, ordinary: bool) -> None:
        for text, to in {original: replacement, quote(original): quote(replacement, safe="@")}.items():
            words = [*_WORD.finditer(text)]
            if words:
                key = text[words[0].start() : words[-1].end()].lower()
                self._entries.setdefault(
                    key, _Entry(text[words[0].start() : words[-1].end()], _inner(text, to), ordinary)
                )
                self._words.setdefault(words[0][0].lower(), set()).add(len(words))
        joined = "".join(_WORD.findall(original.lower()))
        digits = sum(map(str.isdigit, joined))
        if digits >= _SHORTEST_NUMBER or (joined.isalpha() and joined == original.lower() and not ordinary):
            self._joined.setdefault(joined, _Entry(original, replacement, ordinary))
            self._beginnings.update(joined[:end] for end in range(1, len(joined) + 1))

    def in_value(self, value: Any) -> Any:
        """Return a JSON value with its texts, numbers and names of fields replaced."""
        if isinstance(value, dict):
            return {self.in_text(name): self.in_value(part) for name, part in value.items()}
        if isinstance(value, list):
            return [self.in_value(part) for part in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            replaced = self.in_text(repr(value))
            return value if replaced == repr(value) else type(value)(replaced)
        return self.in_text(value) if isinstance(value, str) else value

    def in_texts(self, value: Any) -> Any:
        """Return a JSON value with its texts and names of fields replaced; numbers stay."""
        if isinstance(value, dict):
            return {self.in_text(name): self.in_texts(part) for name, part in value.items()}
        if isinstance(value, list):
            return [self.in_texts(part) for part in value]
        return self.in_text(value) if isinstance(value, str) else value

    def in_text(self, text: str) -> str:
        """Return a text with its originals replaced."""
        if "\\u" in text:
            text = _ESCAPED.sub(_letter, text)
        if self._pattern is not None:
            text = self._pattern.sub(lambda match: self._unspaced[match[0]], text)
        words, parts, end, at = [*_WORD.finditer(text)], [], 0, 0
        while at < len(words):
            used, replacement = self._at(text, words, at)
            if used:
                parts += [text[end : words[at].start()], replacement]
                end = words[at + used - 1].end()
            at += used or 1
        return "".join([*parts, text[end:]]) if parts else text

    def _at(self, text: str, words: Sequence[re.Match[str]], at: int) -> tuple[int, str]:
        """Return how many words at a place are an original, and the replacement; 0 if none begins there."""
        used, replacement = self._spelled(text, words, at)
        for number in sorted(self._words.get(words[at][0].lower(), ()), reverse=True):
            if number < used:
                break
            if at + number > len(words):
                continue
            phrase = text[words[at].start() : words[at + number - 1].end()]
            entry = self._entries.get(phrase.lower())
            if entry is not None and not _is_other(entry, phrase, text, words[at].start()):
                return number, _in_form(entry, phrase)
        return used, replacement

    def _spelled(self, text: str, words: Sequence[re.Match[str]], at: int) -> tuple[int, str]:
        """Do the same for numbers with other separators and names that are spelled letter by letter."""
        joined, best, entry = "", 0, None
        for number, word in enumerate(words[at : at + 40], 1):
            if number > 1 and _GAP.fullmatch(text, words[at + number - 2].end(), word.start()) is None:
                break
            joined += word[0].lower()
            if joined not in self._beginnings:
                break
            known = self._joined.get(joined)
            single = all(len(piece[0]) == 1 for piece in words[at : at + number])
            if known is not None and number > 1 and (single or not joined.isalpha()):
                best, entry = number, known
        if entry is None:
            # A number in one piece whose original has separators.
            unseparated = self._joined.get(words[at][0].lower())
            if unseparated is None or words[at][0].isalpha():
                return 0, ""
            best, entry = 1, unseparated
        phrase = text[words[at].start() : words[at + best - 1].end()]
        return best, _into(phrase, entry.made)


def _inner(text: str, replacement: str) -> str:
    """Return a replacement without what stands before and after the words of its original."""
    before = len(text) - len(text.lstrip("".join({*text} - {*"".join(_WORD.findall(text))})))
    after = len(text) - len(text.rstrip("".join({*text} - {*"".join(_WORD.findall(text))})))
    same = replacement.startswith(text[:before]) and replacement.endswith(text[len(text) - after :])
    return replacement[before : len(replacement) - after] if same else replacement


def _is_other(entry: _Entry, phrase: str, text: str, start: int) -> bool:
    """Return whether words that are written like an original are something else."""
    if entry.ordinary and phrase.islower():
        return True
    if not phrase.isdigit() or len(phrase) >= _PRICES:
        return False
    before, after = text[max(0, start - 2) : start], text[start + len(phrase) : start + len(phrase) + 2]
    return bool(re.search(r"[$€£¥]\s?$|\d[.,]$", before) or re.match(r"[.,]\d", after))


def _in_form(entry: _Entry, phrase: str) -> str:
    is_name = all(map(str.isalpha, _WORD.findall(entry.original)))
    if (phrase == entry.original and not is_name) or not any(map(str.isalpha, phrase)):
        return entry.made
    return in_case_of(phrase, entry.made)


def _into(phrase: str, replacement: str) -> str:
    """Return the characters of a replacement between the separators of what was found."""
    characters = "".join(_WORD.findall(replacement))
    if phrase.replace(" ", "").isupper():
        characters = characters.upper()
    if sum(map(str.isalnum, phrase)) != len(characters):
        separator = next((character for character in phrase if not character.isalnum()), "")
        return separator.join(characters) if characters.isalpha() else characters
    letters = iter(characters)
    return "".join(next(letters) if character.isalnum() else character for character in phrase)


def _letter(escape: re.Match[str]) -> str:
    """Return the letter of an escape of JSON; other characters stay escaped."""
    letter = chr(int(escape[1], 16))
    return letter if letter.isalpha() and not letter.isascii() else escape[0]


def tokens(texts: Iterable[str]) -> set[str]:
    """Return the words of texts in small letters, alone and as they are joined by other characters than blanks."""
    words: set[str] = set()
    for text in texts:
        lower = text.lower()
        words.update(_WORD.findall(lower))
        words.update(re.findall(r"[^\W_](?:[^\s\"'<>{}\[\],;]*[^\W_])?", lower))
    return words
