"""Joining of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def join_sentences(parts: Iterable[str]) -> str:
    """Return the parts that are not empty, with a space between them."""
    return " ".join(part for part in parts if part)


def join_words(words: Iterable[str]) -> str:
    """Return the words as an enumeration: ``a, b and c``."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
