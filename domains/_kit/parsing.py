"""Reading of texts by any rules agent: their sentences, and whether they agree."""

from __future__ import annotations

import re

from pytest_tau.policy import has_limit

_SENTENCES = re.compile(r"(?<=[.?!])\s+")
_ASIDE = re.compile(r"(?:by the way|incidentally)\b", re.IGNORECASE)
_YES = re.compile(r"^\W*(?:yes|yeah|sure|please do|i confirm|i agree|go ahead|ok|okay)\b(?!,? but)", re.IGNORECASE)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [part for part in _SENTENCES.split(text) if part.strip()]


def drop_asides(text: str) -> str:
    """Return the text without the sentences that only mention something in passing."""
    return " ".join(sentence for sentence in sentences(text) if not _ASIDE.match(sentence))


def is_yes(text: str) -> bool:
    """Return whether a text agrees to a whole proposal."""
    return bool(_YES.search(text)) and not has_limit(text)
