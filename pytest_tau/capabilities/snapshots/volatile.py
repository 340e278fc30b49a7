"""Texts that differ between equal runs: generated ids, and times."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...models import Simulation

_UUID = re.compile(
    r"(?<![0-9a-zA-Z])(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32})(?![0-9a-zA-Z])",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?<!\d)(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?\s?(Z|[+-]\d\d:?\d\d)?(?!\d)", re.IGNORECASE
)
#: A tool's clock and the trial's need not agree to the second.
_SLACK = timedelta(seconds=2)
#: A replayed trial has the times of its recording, but its tools use the current time.
_JUST_NOW = timedelta(hours=1)


class Volatile:
    """Replaces volatile texts by stable ones, an id by the same text throughout a simulation.

    Args:
        simulation: The simulation.
        is_given: Returns whether a text is in the domain's data or the task; such a text stays.
    """

    def __init__(self, simulation: Simulation, is_given: Callable[[str], bool]) -> None:
        self._is_given, self._given, self._ids = is_given, set[str](), dict[str, str]()
        now = datetime.now(UTC)
        self._spans = [(now - _JUST_NOW, now + _SLACK)]
        start, end = _parsed(simulation.start_time), _parsed(simulation.end_time)
        if start is not None and end is not None:
            self._spans.append((_aware(start) - _SLACK, _aware(end) + _SLACK))
        for message in simulation.messages:  # numbers the ids in this order, whatever parts are shown
            self.replaced(message.content or "")

    def replaced(self, text: str) -> str:
        """Return the text with volatile parts replaced."""
        return _TIME.sub(self._time, _UUID.sub(self._id, text))

    def _id(self, match: re.Match[str]) -> str:
        value = match.group()
        if value in self._given or value in self._ids:
            return self._ids.get(value, value)
        if self._is_given(value):
            self._given.add(value)
            return value
        return self._ids.setdefault(value, f"<id {len(self._ids) + 1}>")

    def _time(self, match: re.Match[str]) -> str:
        date, clock, fraction, zone = match.groups()
        zone = "+00:00" if (zone or "").upper() == "Z" else zone or ""
        zone = zone if ":" in zone or not zone else f"{zone[:3]}:{zone[3:]}"
        time = _parsed(f"{date}T{clock}.{(fraction or '0')[:6]:0<6}{zone}")
        if time is None:
            return match.group()
        # Without a zone it may be local time or UTC.
        meant = [time] if time.tzinfo else [time.astimezone(), time.replace(tzinfo=UTC)]
        return (
            "<now>" if any(start <= moment <= end for moment in meant for start, end in self._spans) else match.group()
        )


def _parsed(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo else time.astimezone()
