"""The moment at which every conversation takes place; nothing reads the real time."""

import functools
from datetime import datetime
from typing import Any, Final

NOW: Final = datetime(2025, 11, 14, 3, 40)
_DATE: Final = "%m/%d/%Y"
#: The day as records have it.
TODAY: Final = NOW.strftime(_DATE)
#: The moment as the agent reads it.
NOW_TEXT: Final = f"{NOW:%Y-%m-%d %H:%M:%S} EST"


def age_in_days(date: Any) -> int | None:
    """Return the whole days since a date such as ``03/15/2025``; None if it is no such date."""
    day = _parsed(date, _DATE) if isinstance(date, str) else None
    return (NOW - day).days if day else None


def moment(date: Any) -> datetime:
    """Return the moment of a transaction's date, with or without a time; the earliest one if it is neither."""
    if not isinstance(date, str):
        return datetime.min
    return _parsed(date, f"{_DATE} %H:%M:%S") or _parsed(date, _DATE) or datetime.min


@functools.lru_cache(maxsize=4096)
def _parsed(date: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(date, form)
    except ValueError:
        return None
