"""The wall-clock limit of a conversation: whose time it was, and what of it counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..models import OUT_OF_TIME
from ..participants.containment import described_stall
from ..stalls import trial_time
from .endings import Ending

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..models import TerminationReason
    from ..participants import Side
    from ..stalls import Stall


class TimeLimit:
    """The time that a conversation has, and what was waited for so far.

    Args:
        seconds: The limit; None or 0 for none.
        retry_seconds: Returns the time that a side's model calls have spent on retries; None if it calls no model.
        excused_seconds: Returns the time of a side that does not count; None if it counts all.

    Attributes:
        tool: The tool whose call has not returned; None if there is none.
    """

    def __init__(
        self,
        seconds: float | None,
        retry_seconds: Callable[[Side], float] | None = None,
        excused_seconds: Callable[[Side], float] | None = None,
    ) -> None:
        self.tool: str | None = None
        self._limit, self._retry_seconds, self._excused_seconds = seconds, retry_seconds, excused_seconds
        self._started = trial_time()
        self._waited: dict[Side, float] = {"agent": 0.0, "user": 0.0}
        self._waiting: tuple[Side, float] | None = None
        self._answered_by_stages = self._called = 0.0
        self._stage_since: float | None = None

    def start(self) -> None:
        """Count the time from now on."""
        self._started = trial_time()

    def begin_wait(self, side: Side) -> None:
        """Note that a side has been given a message."""
        self._waiting = side, trial_time()

    def end_wait(self) -> None:
        """Note that the side has answered."""
        assert self._waiting is not None, "a side was waited for"
        side, since = self._waiting
        self._waited[side] += trial_time() - since
        self._waiting = None

    def begin_call(self, name: str) -> None:
        """Note that a tool was called."""
        self.tool, self._called = name, trial_time()

    def end_call(self) -> None:
        """Note that the call has returned."""
        self.tool = None

    def begin_stage(self) -> None:
        """Note that a stage of a capability is asked for the result of a call, which has a time of its own."""
        self._stage_since = trial_time()

    def end_stage(self, *, answered: bool) -> None:
        """Note that the stage has returned; its time does not count if it has answered the call."""
        if answered and self._stage_since is not None:
            self._answered_by_stages += trial_time() - self._stage_since
        self._stage_since = None

    def left(self) -> float | None:
        """Return the seconds that are left; None without a limit."""
        if not self._limit:
            return None
        now = trial_time()
        excused = sum(map(self._excused, self._waited)) + self._answered_by_stages
        if self._stage_since is not None:
            excused += now - self._stage_since
        return self._limit - (now - self._started - excused)

    def is_over(self) -> bool:
        """Return whether no time is left."""
        left = self.left() if self._limit else None
        return left is not None and left <= 0

    def most_by_call(self) -> float | None:
        """Return the seconds of the call under way; None if it had less than half of the time."""
        seconds = trial_time() - self._called
        return None if seconds * 2 < (self._limit or 0.0) else seconds

    def ending(self) -> Ending:
        """Return the ending by the clock: it counts against the agent, unless others took most of the time.

        Time that goes to retries of model calls is the provider's, and neither side's.
        """
        if self._waiting is not None:
            side, since = self._waiting
            self._waited[side] += trial_time() - since
        self._waited = {side: max(0.0, seconds - self._excused(side)) for side, seconds in self._waited.items()}
        times = ", ".join(f"{seconds:.1f} s for the {side}" for side, seconds in self._waited.items())
        retries = {side: min(self._retries(side), seconds) for side, seconds in self._waited.items()}
        own = {side: seconds - retries[side] for side, seconds in self._waited.items()}
        reason: TerminationReason = "user_error" if own["user"] > own["agent"] else "timeout"
        lost = sum(retries.values())
        if lost:
            times += f"; {lost:.1f} s of it in retries of model calls"
        if lost > max(own.values()):
            reason = "infrastructure_error"
        without = " without the model calls" if self._excused_seconds else ""
        return Ending(reason, error=f"{OUT_OF_TIME}{self._limit:g} s{without} (waited {times})")

    def stalled(self, stall: Stall) -> Ending:
        """Return the ending by code that blocks the event loop: of the side that is waited for, if there is one."""
        if self._waiting is None:
            problem = f"the trial {described_stall(stall)}"
            return Ending("infrastructure_error", error=problem, kind="BlockedLoopError")
        side, _ = self._waiting
        reason: TerminationReason = "timeout" if side == "agent" else "user_error"
        problem = f"{OUT_OF_TIME}{self._limit or stall.seconds:g} s: the {side} {described_stall(stall)}"
        return Ending(reason, error=problem)

    def _excused(self, side: Side) -> float:
        return self._excused_seconds(side) if self._excused_seconds else 0.0

    def _retries(self, side: Side) -> float:
        # Retries are part of the calls that are excused.
        return self._retry_seconds(side) if self._retry_seconds and not self._excused_seconds else 0.0
