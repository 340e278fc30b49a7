"""The protocol: which texts models read, and how their messages are sent and judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .texts import PromptName, Texts

#: How often a conversation is run again after a reply that cannot be used. Source: τ²-bench v1.0.1.
_MORE_ATTEMPTS = 3


@dataclass(frozen=True)
class Protocol:
    """The protocol of the model calls of a run.

    Attributes:
        name: ``tau``, the own one, or ``tau2``, that of τ²-bench.
        texts: The official texts, under ``tau2``.
    """

    name: Literal["tau", "tau2"] = "tau"
    texts: Texts | None = None

    @property
    def is_official(self) -> bool:
        """Return whether texts and messages are those of τ²-bench."""
        return self.texts is not None

    @property
    def attempts(self) -> int:
        """Return how often a conversation is run at most, if a reply of a model cannot be used."""
        return 1 + _MORE_ATTEMPTS if self.is_official else 1

    def template(self, name: PromptName, built_in: str) -> str:
        """Return the template of a system message: the official one, or the built-in one.

        Raises:
            ConfigurationError: The official texts lack it.
        """
        return self.texts.prompt(name) if self.texts is not None else built_in


#: The protocol of this package.
TAU = Protocol()
