"""Search by a regular expression."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .index import Hit
from .pattern_search import PatternSearch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..documents import Documents

#: Patterns that match themselves only.
_PLAIN = re.compile(r"[A-Za-z0-9 _,:;%-]+")


class GrepIndex:
    """Finds the documents in which a regular expression matches most often.

    Source: τ²-bench v1.0.1: over the contents, an invalid expression is searched literally.
    """

    def __init__(self, documents: Documents, *, case_sensitive: bool = False) -> None:
        self._ids = [each.id for each in documents]
        self._texts, self._flags = [each.content for each in documents], 0 if case_sensitive else re.IGNORECASE
        # For patterns that are plain words; other than ASCII has letters with several lower cases.
        self._lowered = [text.lower() if text.isascii() else None for text in self._texts]
        self._search = PatternSearch(self._texts)

    def search(self, query: str, k: int) -> Sequence[Hit]:
        """Return the ``k`` documents with the most matches; those with as many in document order.

        Raises:
            ToolError: The search took too long.
        """
        if not query.strip():
            return []
        found = self._plain(query) if _PLAIN.fullmatch(query) else self._search.counts(query, int(self._flags))
        hits = [Hit(name, count) for name, count in zip(self._ids, found, strict=True) if count]
        return sorted(hits, key=lambda hit: -hit.score)[: max(k, 0)]

    def _plain(self, words: str) -> list[int]:
        if not self._flags:
            return [text.count(words) for text in self._texts]
        expression, lowered = re.compile(words, self._flags), words.lower()
        return [
            len(expression.findall(text)) if low is None else low.count(lowered)
            for low, text in zip(self._lowered, self._texts, strict=True)
        ]
