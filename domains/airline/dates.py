"""The moment at which conversations take place, and days around it."""

from __future__ import annotations

import datetime as dt
from typing import Final

#: When every booking of a conversation is made.
NOW: Final = "2024-05-15T15:00:00"
MOMENT: Final = dt.datetime.fromisoformat(NOW)


def add_days(date: str, days: int) -> str:
    """Return the date so many days later, as ``2024-05-20``."""
    return (dt.date.fromisoformat(date) + dt.timedelta(days=days)).isoformat()


TODAY: Final = MOMENT.date().isoformat()
TOMORROW: Final = add_days(TODAY, 1)
