"""The parts of a trajectory that a snapshot contains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import ConfigurationError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ...environment import Change
    from ...models import Simulation

#: The parts of a snapshot, in its order.
PARTS = ("messages", "calls", "results", "database", "verdict")
#: Names for several parts.
PRESETS: dict[str, frozenset[str]] = {
    "calls": frozenset({"calls", "results", "database", "verdict"}),
    "messages": frozenset(PARTS),
}


@dataclass(frozen=True)
class Selection:
    """The parts of a snapshot, and functions for facts that a simulation lacks.

    Attributes:
        parts: Some of ``PARTS``.
        changes: Returns the changes that a simulation has made in the databases, each after its side.
        is_given: Returns whether a text is in the domain's data or in the task, so that it was not generated.
    """

    parts: frozenset[str]
    changes: Callable[[Simulation], list[tuple[str, Change]]]
    is_given: Callable[[str], bool]

    def __call__(self, *, prop: Any, path: Any) -> bool:
        """Return whether a part is selected; this makes it one of syrupy's filters."""
        return prop in self.parts


def parts_of(selection: str | Iterable[str]) -> frozenset[str]:
    """Return the parts that a selection names.

    Args:
        selection: ``calls`` or ``messages``, each a preset of several parts; or the parts themselves.

    Raises:
        ConfigurationError: There is no such preset or part; lists the known ones.
    """
    if isinstance(selection, str):
        if selection not in PRESETS:
            raise ConfigurationError(unknown_name("snapshot", selection, PRESETS))
        return PRESETS[selection]
    parts = frozenset(selection)
    if not parts:
        raise ConfigurationError(f"an empty snapshot: select at least one of {', '.join(PARTS)}")
    for part in parts:
        if part not in PARTS:
            raise ConfigurationError(unknown_name("part of a snapshot", str(part), PARTS))
    return parts
