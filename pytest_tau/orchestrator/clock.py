"""The clock of a trial, whose readings are recorded and replayed."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ..clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Sequence


class Clock:
    """A clock that returns the time in ISO 8601 with its zone; in a replay, the recorded times.

    Args:
        recorded: The readings of the recorded trial's clock, in order; none for the real time.
    """

    def __init__(self, recorded: Sequence[str] = ()) -> None:
        self._recorded = list(recorded)
        self.readings: list[str] = []

    def now(self) -> str:
        """Return the time."""
        if self._recorded:
            # The clock of a replayed trial that is longer than the recorded one stops at the last time.
            time = self._recorded[min(len(self.readings), len(self._recorded) - 1)]
        else:
            time = utc_now().isoformat(timespec="microseconds")
        self.readings.append(time)
        return time

    @property
    def elapsed(self) -> float:
        """The seconds between the first and the last reading."""
        if not self.readings:
            return 0.0
        return (datetime.fromisoformat(self.readings[-1]) - datetime.fromisoformat(self.readings[0])).total_seconds()
