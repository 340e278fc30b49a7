"""Formatting of numbers, durations, paths and long texts for people."""

from __future__ import annotations

import os
from pathlib import Path


def plural(number: int, noun: str) -> str:
    """Return the number with its noun: ``1 task``, ``2 tasks``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def shorten(text: str, width: int = 60) -> str:
    """Return the text, cut to ``width`` characters with an ellipsis where it is longer."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


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
    """Return foreign text on one line of at most ``width`` characters, without control characters."""
    return shorten(" ".join("".join(each if each.isprintable() else " " for each in text).split()), width)


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
