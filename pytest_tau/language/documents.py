"""What documents say: from when they count, where they have the agent look, and what they quote."""

from __future__ import annotations

import re
from typing import Final

_WRITTEN: Final = r"\d\d?/\d\d?/\d{4}|\d{4}-\d\d-\d\d|[A-Z][a-z]+ \d\d?, \d{4}"
#: From when a document counts: ``In force since: 01/15/2025``, ``Effective January 15, 2025``, ``updated 2025-01-15``.
_SINCE: Final = re.compile(
    rf"\b(?:in force|effective|valid|since|as of|from|updated|version|date)\b[^\n]{{0,30}}?({_WRITTEN})", re.IGNORECASE
)
_LOOK: Final = re.compile(r"\b(?:look (?:up|at|in|into)|check|find|search)\b", re.IGNORECASE)
_TABLE: Final = re.compile(r"`?\b([a-z]+(?:_[a-z]+)+)\b`? (?:database|table)\b")
_QUOTED: Final = re.compile(r"\"([^\"]+)\"|(?<!\w)'([^']+)'(?!\w)")
#: Choices that only a description states: ``either "by mail" or "by phone"``.
_CHOICE: Final = re.compile(r"([\"'])[^\"']+\1(?:, ([\"'])[^\"']+\2)*,? or ([\"'])[^\"']+\3")


def in_force_since(text: str) -> str | None:
    """Return from when a document counts, as it says it: "In force since 01/15/2025"; None if it does not."""
    match = _SINCE.search(text)
    return match[1] if match else None


def table_to_read(sentence: str) -> str | None:
    """Return the table into which a sentence has the agent look; None if there is none, or several."""
    tables = _TABLE.findall(sentence)
    return tables[0] if len(tables) == 1 and _LOOK.search(sentence) else None


def quoted_in(text: str) -> list[str]:
    """Return what is in quotes in a text."""
    return [double or single for double, single in _QUOTED.findall(text)]


def quoted_choices_in(text: str) -> list[str]:
    """Return the values between which a text has one choose, in quotes and joined by "or"; empty if it does not."""
    choice = _CHOICE.search(text)
    return quoted_in(choice[0]) if choice else []
