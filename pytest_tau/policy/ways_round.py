"""Ways round a refusal that a policy leaves, such as an upgrade after which a booking may be cancelled.

A task whose user wants what is refused, and whose text neither takes nor forbids such a way, has two right ends.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError, ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..environment import Database, DomainSpec
    from ..models import Action


@dataclass(frozen=True)
class WayRound:
    """A way to get what the policy refuses.

    Attributes:
        name: What has to be done or said, in a few words.
        wish: A regular expression for the wish in a scenario.
        settled: A regular expression for words that take the way or forbid it.
        open: Yields the records for which the way is open and the reference does not go it, each in a few words. It
            gets the agent's database at the beginning, the scenario in lower case, and the reference actions.
    """

    name: str
    wish: str
    settled: str
    open: Callable[[Any, str, Sequence[Action]], Iterable[str]]

    def found(self, db: Database, text: str, actions: Sequence[Action]) -> list[str]:
        """Return the records for which a scenario leaves the way open."""
        if not re.search(self.wish, text) or re.search(self.settled, text):
            return []
        try:
            return list(self.open(db, text, actions))
        except ToolError:  # the records are those of other data
            return []


def load_ways_round(spec: DomainSpec) -> list[WayRound]:
    """Return the ways round a refusal that a domain declares.

    Raises:
        ConfigurationError: They cannot be imported, or are not ``WayRound`` objects.
    """
    declared: Any = spec.ways_round
    if isinstance(declared, str):
        module, _, attribute = declared.partition(":")
        try:
            declared = getattr(importlib.import_module(module), attribute)
        except Exception as error:
            problem = f"cannot import {declared!r}: {type(error).__name__}: {error}"
            raise ConfigurationError(f"domain {spec.name!r}: ways_round: {problem}") from error
    if not isinstance(declared, list | tuple) or not all(isinstance(element, WayRound) for element in declared):
        raise ConfigurationError(f"domain {spec.name!r}: ways_round: expected WayRound objects, got {declared!r:.80}")
    return list(declared)
