"""The time that model calls spend on retries: it is the provider's, not the participant's."""

from __future__ import annotations

import contextlib
import contextvars
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class RetryClock:
    """Sums the time of attempts that failed, of the waits after them, and of attempts under way after them.

    Calls may overlap and may run in other threads.
    """

    def __init__(self) -> None:
        self._ended = 0.0
        self._since: dict[object, float] = {}

    @property
    def seconds(self) -> float:
        """Return the seconds so far."""
        now = time.monotonic()
        return self._ended + sum(now - since for since in list(self._since.values()))

    def note_failure(self, call: object, since: float) -> None:
        """Note that an attempt of a call has failed; ``since`` is when the first one began, by the monotonic clock."""
        self._since.setdefault(call, since)

    def note_end(self, call: object, answered_in: float = 0.0) -> None:
        """Note that a call is over; ``answered_in`` are the seconds of the attempt that succeeded."""
        since = self._since.pop(call, None)
        if since is not None:
            self._ended += max(0.0, time.monotonic() - since - answered_in)


_CLOCK: contextvars.ContextVar[RetryClock | None] = contextvars.ContextVar("tau_retry_clock", default=None)


@contextlib.contextmanager
def count_retries(clock: RetryClock) -> Iterator[None]:
    """Count the retries of the calls that are made meanwhile, also on another loop."""
    token = _CLOCK.set(clock)
    try:
        yield
    finally:
        _CLOCK.reset(token)


def current_retry_clock() -> RetryClock:
    """Return the clock of the running call; outside of trials, one that is never read."""
    return _CLOCK.get() or RetryClock()
