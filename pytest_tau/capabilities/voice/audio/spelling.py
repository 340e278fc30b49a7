"""What people say for what they would write, and back: ids, addresses and numbers are spelled on a telephone.

Source: τ²-bench v1.0.1, guidelines of the user who speaks: signs have names, commas separate letters and digits.
"""

from __future__ import annotations

import re

#: The names of signs inside of what is spelled.
_SIGNS = {"@": "at", ".": "dot", "_": "underscore", "-": "dash", "/": "slash", "\\": "backslash", "#": "hash"}
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_DIGITS = {name: str(digit) for digit, name in enumerate(_WORDS)} | {"oh": "0"}

#: What is spelled: addresses, names of users, codes of digits and capitals, numbers of four digits and more but years.
_SPELLED = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|#?\w+(?:_\w+)+"
    r"|#?\b(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{3,}\b"
    r"|(?<![\w$.,])(?!(?:19|20)\d\d\b)\d{4,}(?!\w|[.,]\d| dollars)"
)
_PARTS = re.compile(r"[A-Za-z]+|\d+|[^A-Za-z\d]")
_AMOUNT = re.compile(r"\$(\d[\d,]*)(?:\.(\d\d))?\b")

_UNIT = rf"(?:[A-Zb-hj-z]|\d+(?! dollars)|{'|'.join(_DIGITS)})"
#: Letters and digits one by one, as they are heard: ``W, two, 3``, ``E-H-G``, ``nine nine five``.
_RUN = re.compile(rf"(?<![\w$'])(?:{_UNIT}(?:, ?| |-)){{2,}}{_UNIT}(?![\w'])", re.IGNORECASE)
_SINGLE = re.compile(r"[A-Za-z]+|\d+")
_UNDERSCORE = re.compile(r"[,.]?\s*\bunderscore\b[,.]?\s*", re.IGNORECASE)
_HASH = re.compile(r"\bhash(?:tag)?[,.]?\s*(?=[A-Z]*\d)", re.IGNORECASE)
_ADDRESS = re.compile(
    r"(\w+(?:(?: dot |\. ?)\w+)*(?:,? \d+)?)[,.]? (?:at|@) (\w+)[,.]?(?: dot |\. ?)(com|org|net|edu|io)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"\w+_\w+")


def spoken_form(text: str) -> str:
    """Return what is said for a text: ``W, 2, 3, 7`` for ``W237``, ``emma underscore kim`` for ``emma_kim``."""
    return _SPELLED.sub(lambda match: _spelled(match.group()), _AMOUNT.sub(_amount, text))


def _amount(match: re.Match[str]) -> str:
    dollars, cents = match.group(1).replace(",", ""), int(match.group(2) or 0)
    return f"{dollars} dollars" + (f" and {cents} cents" if cents else "")


def _spelled(text: str) -> str:
    code = text.upper() == text
    spoken = ""
    sign = True
    for part in _PARTS.findall(text):
        words = _SIGNS.get(part) or (", ".join(part) if code or part.isdigit() else part)
        # No pause around the names of signs, but for "at": the name of a host follows.
        gap = " " if sign or (part in _SIGNS and part != "@") else ", "
        spoken += f"{gap if spoken else ''}{words}"
        sign = part in _SIGNS
    return spoken


def written_form(text: str) -> str:
    """Return what would be written for what was heard: the reverse of ``spoken_form``, as far as rules go.

    Letters and digits that follow each other one by one are one code, and the names of signs join what is around them.
    """
    text = _RUN.sub(_code, text)
    text = _HASH.sub("#", _UNDERSCORE.sub("_", text))
    text = _NAME.sub(lambda match: match.group().lower(), text)
    return _ADDRESS.sub(_address, text)


def _code(match: re.Match[str]) -> str:
    units = _SINGLE.findall(match.group())
    return "".join(_DIGITS.get(unit.lower(), unit.upper()) for unit in units)


def _address(match: re.Match[str]) -> str:
    local = re.sub(r" dot |\. ?", ".", match.group(1), flags=re.IGNORECASE)
    return re.sub(r"[, ]", "", f"{local}@{match.group(2)}.{match.group(3)}").lower()
