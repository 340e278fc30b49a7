"""Formatting of numbers, durations, paths, and of texts of others, which may contain anything."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "counted",
    "distinct_lines",
    "duration",
    "figure",
    "listed",
    "money",
    "one_line",
    "plural",
    "printable",
    "relative_path",
    "shorten",
    "shorten_both",
    "visible",
]

#: What a CI service takes for a command. GitHub: ``::error::`` at the start of a line, also after blanks, and
#: ``##[error]`` anywhere in it. Azure: ``##vso[…]``, TeamCity: ``##teamcity[…]``, which are guarded anywhere.
_COMMAND = re.compile(r"^(?P<blanks> *)::|#(?=#\w*\[)", re.MULTILINE)


def plural(number: int, noun: str) -> str:
    """Return the number with its noun: ``1 task``, ``2 tasks``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def shorten(text: str, width: int = 60) -> str:
    """Return the text, cut to ``width`` characters with an ellipsis where it is longer."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def listed(texts: Sequence[str], most: int) -> str:
    """Return texts separated by commas, at most so many, and the number of the others: ``a, b and 3 more``."""
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")


def counted(numbers: Mapping[str, int]) -> str:
    """Return names with their numbers, in order of the names: ``a, b (3 times)``."""
    return ", ".join(name if n == 1 else f"{name} ({n} times)" for name, n in sorted(numbers.items()))


def by_numbers(text: str) -> tuple[list[str | tuple[int, str]], str]:
    """Return a key that sorts texts by the numbers in them: ``turn-2`` before ``turn-12``, and ``2`` before ``a``."""
    parts = re.split(r"([0-9]+)", text)
    parts[1::2] = [part.lstrip("0") for part in parts[1::2]]
    return [(len(part), part) if place % 2 else part for place, part in enumerate(parts)], text


def shorten_both(one: str, other: str, width: int = 60) -> tuple[str, str]:
    """Return two texts, each cut to ``width`` characters, so that the first difference between them is shown."""
    different = (place for place, (mine, theirs) in enumerate(zip(one, other, strict=False)) if mine != theirs)
    common = next(different, min(len(one), len(other)))
    if max(len(one), len(other)) <= width or common < width // 2:
        return shorten(one, width), shorten(other, width)
    # A third of the width is what both have in common before they differ.
    start = common - width // 3
    return shorten(f"…{one[start:]}", width), shorten(f"…{other[start:]}", width)


def one_line(text: str, width: int) -> str:
    """Return foreign text on one line of at most ``width`` characters, with control characters as escapes."""
    return shorten(visible(" ".join(text.split())), width)


def distinct_lines(texts: Sequence[str], width: int) -> list[str]:
    """Return foreign texts, each on one line of at most ``width`` characters; different texts stay different.

    They are cut at the end if they still differ then, else in the middle, and else they have numbers.
    """
    lines = [visible(" ".join(text.split())) for text in texts]
    for cut in (shorten, _shorten_middle):
        found = [cut(line, width) for line in lines]
        if len({*found}) == len({*lines}):
            return found
    numbers = {line: f"…{number}" for number, line in enumerate(dict.fromkeys(lines), 1)}
    return [line if len(line) <= width else line[: width - len(numbers[line])] + numbers[line] for line in lines]


def _shorten_middle(text: str, width: int) -> str:
    """Return the text, cut to ``width`` characters with an ellipsis in its middle where it is longer."""
    tail = width // 2
    return text if len(text) <= width else f"{text[: width - 1 - tail]}…{text[-tail:]}"


def visible(text: str) -> str:
    r"""Return text that cannot steer a terminal, hide a part of itself, or break XML; lines stay lines.

    Control characters, escape sequences, bidirectional overrides, zero-width characters and lone surrogates become
    escapes, such as ``\x1b`` and ``\u202e``. Tabs and unusual spaces become spaces.
    """
    if text.isprintable():
        return text
    return "".join(map(_visible_character, text.replace("\r\n", "\n").replace("\t", "    ")))


def _visible_character(character: str) -> str:
    if character.isprintable() or character == "\n":
        return character
    if character.isspace() and not _breaks_lines(character):
        return " "
    return character.encode("unicode_escape").decode("ascii")


def _breaks_lines(character: str) -> bool:
    return len(f"a{character}b".splitlines()) > 1


def printable(text: str) -> str:
    """Return text as it is printed: visible, and without what a CI service takes for a command; lines stay lines."""
    return _COMMAND.sub(lambda found: f"{found['blanks'] or ''}\\::" if found[0][-1] == ":" else "#\\", visible(text))


def figure(value: float) -> str:
    """Return a mean or a share with three decimals, a small one with two digits: ``0.425``, ``0.0014``, ``7e-05``."""
    return f"{value:.2g}" if 0 < abs(value) < 0.01 else f"{value:.3f}"


def money(amount: float) -> str:
    """Return an amount of USD: with cents from one dollar on, with four decimals or two digits below."""
    return f"${amount:,.2f}" if amount >= 1 or not amount else f"${amount:.4f}" if amount >= 0.001 else f"${amount:.2g}"


def duration(seconds: float) -> str:
    """Return a measured duration: ``350 ms``, ``4.2 s``, ``3.0 min``."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def relative_path(path: Path, start: Path) -> Path:
    """Return the path as seen from ``start`` if it lies below it, else the path itself."""
    return Path(os.path.relpath(path, start)) if path.is_relative_to(start) else path


def exception_text(error: BaseException) -> str:
    """Return the text of an exception, which is code of others, too, and may raise another one."""
    try:
        return str(error)
    except BaseException:  # noqa: BLE001 - see above
        return "its text cannot be shown"


def has_traceback(error: str) -> bool:
    """Return whether the text of an error is a traceback, so that its end is what names the exception."""
    return "Traceback" in error.strip().partition("\n")[0]


def error_line(error: str) -> str:
    """Return the line that names an error: the first, or the last of a traceback; empty for no text."""
    lines = error.strip().splitlines()
    return lines[-1 if has_traceback(error) else 0] if lines else ""
