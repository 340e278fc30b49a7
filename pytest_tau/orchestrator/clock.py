"""The clock of a trial: what it told is kept with a recording, and told again when that is replayed."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Clock:
    """Tells the time, in ISO 8601 with its zone; from a recording as long as that lasts.

    Args:
        recorded: What the clock of the recorded trial told, in order; none for the real time.

    Attributes:
        told: Everything that it told so far.
    """

    def __init__(self, recorded: Sequence[str] = ()) -> None:
        self._recorded = list(recorded)
        self.told: list[str] = []

    def now(self) -> str:
        """The time."""
        position = len(self.told)
        if self._recorded:
            # A replayed trial that goes on for longer than the recorded one stands still at its end.
            time = self._recorded[min(position, len(self._recorded) - 1)]
        else:
            time = datetime.now(timezone.utc).isoformat(timespec="microseconds")
        self.told.append(time)
        return time

    @property
    def elapsed(self) -> float:
        """Seconds between the first and the last time told."""
        if not self.told:
            return 0.0
        return (datetime.fromisoformat(self.told[-1]) - datetime.fromisoformat(self.told[0])).total_seconds()
