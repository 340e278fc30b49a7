"""Indexes over the documents of a knowledge base, by words, by meaning, by regular expressions; and their interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..documents import Documents


class Hit(NamedTuple):
    """A document that an index found.

    Attributes:
        id: The document's id.
        score: How well it fits; the larger the better.
    """

    id: str
    score: float


class Index(Protocol):
    """Finds documents for a query."""

    def search(self, query: str, k: int) -> Sequence[Hit | tuple[str, float]]:
        """Return the documents that fit best.

        Args:
            query: What the agent searches for.
            k: The most documents.

        Returns:
            At most ``k`` pairs of a document's id and its score, the best first.
        """
        ...


#: Makes an index over documents. It is called once a process, at the first search.
IndexFactory: TypeAlias = Callable[["Documents"], Index]
