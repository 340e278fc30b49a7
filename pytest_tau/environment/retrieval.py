"""The interfaces by which a domain has a knowledge base; :mod:`pytest_tau.knowledge` implements them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from .database import Database
from .toolkit import Toolkit

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from ..models import Message, Task


@dataclass(frozen=True)
class Retrieval:
    """How an agent accesses the documents of a knowledge base.

    Attributes:
        name: The retrieval variant; None for the domain's default.
        args: Arguments of the variant, such as ``top_k``.
        indexes: Indexes that plugins have added, each made from the documents, by the names of their variants.
    """

    name: str | None = None
    args: Mapping[str, Any] = field(default_factory=dict)
    indexes: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)


class RetrievalToolkit(Toolkit[Database]):
    """The agent's tools that search a knowledge base.

    Attributes:
        waits: The names of tools that call a model or run a program, which other conversations must not wait for.
    """

    waits: frozenset[str] = frozenset()

    def bind(self, models: Any) -> None:
        """Take the models of the trial, for searches that call one."""

    def close(self) -> None:
        """Release what the searches occupy."""


class Retriever(Protocol):
    """A retrieval variant of a knowledge base, with its arguments."""

    @property
    def name(self) -> str:
        """The name of the variant."""
        ...

    @property
    def models(self) -> dict[str, tuple[str, Mapping[str, Any]]]:
        """The models that searches call, ``embedding`` and ``reranker``: names, and arguments of calls."""
        ...

    def policy_text(self, policy: Callable[[], str], task: Task | None) -> str:
        """Return the agent's policy; ``policy`` returns the domain's own."""
        ...

    def toolkit(self, db: Database) -> RetrievalToolkit | None:
        """Return the retrieval tools of one environment; None if the variant has none."""
        ...

    def report(self, messages: Sequence[Message], task: Task) -> dict[str, Any]:
        """Return what was searched for and read in a conversation, as a JSON object."""
        ...

    def check(self, tools: Collection[str]) -> None:
        """Read the documents, and check that the variant can be used here."""
        ...


class KnowledgeBase(Protocol):
    """The documents of a domain."""

    @property
    def digest(self) -> str:
        """The fingerprint of the documents."""
        ...

    @property
    def tool_names(self) -> Collection[str]:
        """The names of the retrieval tools of all variants."""
        ...

    @property
    def documents(self) -> Any:
        """The documents, of which ``find`` returns one by its title or its id."""
        ...

    @property
    def digests(self) -> Mapping[str, str]:
        """The fingerprint of each document, by id."""
        ...

    def retriever(self, retrieval: Retrieval) -> Retriever:
        """Return a variant of the knowledge base."""
        ...


class KnowledgeSpec(Protocol):
    """The declaration of a knowledge base."""

    def load(self, folder: Path) -> KnowledgeBase:
        """Return the knowledge base of a domain whose data is in a folder; the documents are read when needed."""
        ...
