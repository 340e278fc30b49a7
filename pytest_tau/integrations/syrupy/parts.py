"""Which parts of a trajectory a snapshot holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import ConfigurationError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ...models import Simulation

#: What a snapshot can hold, in the order in which it does.
PARTS = ("messages", "calls", "results", "database", "verdict")
#: What one word stands for.
PRESETS: dict[str, frozenset[str]] = {
    "calls": frozenset({"calls", "results", "database", "verdict"}),
    "messages": frozenset(PARTS),
}


@dataclass(frozen=True)
class StateChange:
    """One place of a database that a conversation has left different.

    Attributes:
        side: ``agent`` or ``user``: whose database.
        path: Record and field, as ``orders/#W2378156/status``.
        before: The value at the beginning, as JSON.
        after: The value at the end, as JSON.
        kind: Whether the place was there before and after.
    """

    side: str
    path: str
    before: Any
    after: Any
    kind: str = "changed"


@dataclass(frozen=True)
class Selection:
    """The parts of a snapshot, and where it has from what the simulation does not tell.

    Attributes:
        parts: Some of ``PARTS``.
        changes: What a simulation has changed in the databases.
        is_given: Whether a text stands in the domain's data or in the task, and so is not of the conversation's making.
    """

    parts: frozenset[str]
    changes: Callable[[Simulation], list[StateChange]]
    is_given: Callable[[str], bool]

    def __call__(self, *, prop: Any, path: Any) -> bool:
        """Whether a part is selected; by this it is to syrupy one of its filters."""
        return prop in self.parts


def parts_of(selection: str | Iterable[str]) -> frozenset[str]:
    """The parts that a selection names.

    Args:
        selection: ``calls`` or ``messages``, each short for several parts; or the parts themselves.

    Raises:
        ConfigurationError: There is no such preset or part; lists those that there are.
    """
    if isinstance(selection, str):
        if selection not in PRESETS:
            raise ConfigurationError(unknown_name("snapshot", selection, PRESETS))
        return PRESETS[selection]
    parts = frozenset(selection)
    if not parts:
        raise ConfigurationError(f"a snapshot of nothing: select some of {', '.join(PARTS)}")
    for part in parts:
        if part not in PARTS:
            raise ConfigurationError(unknown_name("part of a snapshot", str(part), PARTS))
    return parts
