"""Okapi BM25 over the contents of documents.

This is own code, because the library whose numbers published results have (rank_bm25) needs numpy, which nothing else
of a run without models needs, and visits every document for every word. An index by words gives the same scores to the
last bit in a fiftieth of the time.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from . import Hit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..documents import Documents

#: Saturation of repeated words, influence of a document's length, and the weight of words that most documents have.
#: Source: rank_bm25 0.2.2, defaults of BM25Okapi.
K1, B, EPSILON = 1.5, 0.75, 0.25


class BM25Index:
    """An index by words: lower-cased text, split at white space, with its punctuation.

    Source: τ²-bench v1.0.1: rank_bm25 0.2.2 over the contents, without the titles.
    """

    def __init__(self, documents: Documents) -> None:
        self._ids = [document.id for document in documents]
        words = [Counter(document.content.lower().split()) for document in documents]
        lengths = [sum(counts.values()) for counts in words]
        mean = sum(lengths) / len(lengths) if lengths else 0.0
        #: For each word, the places of its documents and its frequencies in them.
        self._found: dict[str, list[tuple[int, int]]] = {}
        for place, counts in enumerate(words):
            for word, frequency in counts.items():
                self._found.setdefault(word, []).append((place, frequency))
        # With a mean of 0 there is no word that could be looked up.
        self._norms = [K1 * (1 - B + B * length / mean) if mean else 0.0 for length in lengths]
        self._weights = self._inverse_frequencies()

    def _inverse_frequencies(self) -> dict[str, float]:
        """Return the weight of each word; a negative one becomes a part of the mean of all."""
        number = len(self._ids)
        weights = {
            word: math.log(number - len(places) + 0.5) - math.log(len(places) + 0.5)
            for word, places in self._found.items()
        }
        floor = EPSILON * (sum(weights.values()) / len(weights)) if weights else 0.0
        return {word: weight if weight >= 0 else floor for word, weight in weights.items()}

    def search(self, query: str, k: int) -> Sequence[Hit]:
        """Return the ``k`` best documents, also those with a score of 0; those of equal score in document order."""
        words = query.lower().split()
        if not words:
            return []
        scores = [0.0] * len(self._ids)
        norms = self._norms
        for word in words:
            weight = self._weights.get(word)
            if weight:
                for place, frequency in self._found[word]:
                    scores[place] += weight * (frequency * (K1 + 1) / (frequency + norms[place]))
        best = sorted(range(len(scores)), key=lambda place: -scores[place])[: max(k, 0)]
        return [Hit(self._ids[place], scores[place]) for place in best]
