"""Event loops that code blocks: which trial blocks one, and how much time it takes from the others on it."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .clock import steady_time as _now

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")

#: Seconds in which a loop that nothing blocks responds.
_PROMPT = 0.005
#: Seconds between two looks at what a blocked loop runs.
_SAMPLE = 0.05
#: Seconds between two checks of a loop that responds.
_PAUSE = 0.1


class Stall(NamedTuple):
    """What blocks an event loop so long that it is given up.

    Attributes:
        trial: The name of the trial whose code it is; None if it is not known.
        seconds: How long the loop has been blocked.
        stack: The stack of the thread of the loop, the innermost frame last.
    """

    trial: str | None
    seconds: float
    stack: traceback.StackSummary


class TrialTime:
    """The time of one trial on an event loop, which stands still while code of others blocks the loop.

    Args:
        name: The name of the trial.
        limit: Seconds after which the loop is given up if this trial blocks it; None for never.
        give_up: Called in another thread when the loop is given up.

    Attributes:
        own: Seconds for which this trial has blocked the loop.
    """

    def __init__(self, name: str, limit: float | None, give_up: Callable[[Stall], None]) -> None:
        self.name, self.limit, self.give_up, self.own = name, limit, give_up, 0.0
        self._watch: LoopWatch | None = None
        self._before = 0.0

    def begin(self, watch: LoopWatch) -> None:
        """Begin on a loop."""
        self._watch, self._before = watch, watch.blocked_seconds()

    @property
    def lost(self) -> float:
        """Return the seconds for which others have blocked the loop since the trial began."""
        blocked = 0.0 if self._watch is None else self._watch.blocked_seconds()
        return max(0.0, blocked - self._before - self.own)


#: The trial whose code is running; None outside of trials.
TRIAL_TIME: contextvars.ContextVar[TrialTime | None] = contextvars.ContextVar("tau_trial_time", default=None)


def trial_time() -> float:
    """Return seconds on a steady clock, without the time for which other trials have blocked the event loop."""
    trial = TRIAL_TIME.get()
    return _now() - (0.0 if trial is None else trial.lost)


async def wait_within(task: asyncio.Task[Any], seconds: float | None) -> bool:
    """Wait for a task; return whether it ended within this time of the trial.

    Unlike ``asyncio.wait_for``, it neither cancels the task nor counts time for which others block the loop.
    """
    if seconds is None:
        await asyncio.wait({task})
        return True
    end = trial_time() + seconds
    while not task.done() and (left := end - trial_time()) > 0:
        await asyncio.wait({task}, timeout=left)
    return task.done()


async def within(work: Coroutine[Any, Any, T], seconds: float | None) -> T:
    """Return the result of a coroutine, which has this time of the trial.

    Raises:
        TimeoutError: It has none in time. It is cancelled, and not waited for.
    """
    task = asyncio.ensure_future(work)
    try:
        if not await wait_within(task, seconds):
            raise TimeoutError
        return task.result()
    finally:
        task.cancel()


class LoopWatch:
    """Watches an event loop from a thread while trials run on it.

    A loop that responds costs a wakeup every tenth of a second. Of one that does not, the time is counted for the trial
    whose task it runs.

    Args:
        loop: The loop.
        thread: Returns the identifier of the thread that runs the loop.
        give_up: Called once, after the ``give_up`` of no trial yet, when one has blocked the loop for its limit.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, thread: Callable[[], int | None], give_up: Callable[[Stall], None]
    ) -> None:
        self._loop, self._thread_of_loop, self._give_up = loop, thread, give_up
        self._trials: set[TrialTime] = set()
        self._changed = threading.Condition()
        self._watching = self._closed = False
        # Seconds so far, and since when the loop does not respond.
        self._blocked: tuple[float, float | None] = (0.0, None)

    def begin(self, trial: TrialTime) -> None:
        """Watch the loop for a trial."""
        trial.begin(self)
        with self._changed:
            self._trials.add(trial)
            if not self._watching:
                self._watching = True
                threading.Thread(target=self._watch, name="tau-watch", daemon=True).start()
            self._changed.notify()

    def end(self, trial: TrialTime) -> None:
        """Watch the loop no longer for a trial."""
        with self._changed:
            self._trials.discard(trial)

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def blocked_seconds(self) -> float:
        """Return the seconds for which the loop has not responded so far."""
        seconds, since = self._blocked
        return seconds if since is None else seconds + _now() - since

    def _watch(self) -> None:
        while self._waits_for_trials():
            responds, sent = threading.Event(), _now()
            try:
                self._loop.call_soon_threadsafe(responds.set)
            except RuntimeError:
                return  # the loop is closed
            if not responds.wait(_PROMPT):
                self._blocked = self._blocked[0], sent
                given_up = self._follow(responds, sent)
                self._blocked = self.blocked_seconds(), None
                if given_up:
                    return
                continue
            with self._changed:
                self._changed.wait_for(lambda: self._closed, _PAUSE)

    def _waits_for_trials(self) -> bool:
        """Return, as soon as there are trials to watch for, True; False if there will be none."""
        with self._changed:
            self._changed.wait_for(lambda: self._trials or self._closed)
            return not self._closed

    def _follow(self, responds: threading.Event, sent: float) -> bool:
        """Count the time of a loop that does not respond until it does; return whether it was given up."""
        blocker, since, seen = self._running(), sent, sent
        while True:
            now = _now()
            if blocker is not None:
                blocker.own += now - seen
            seen, before = now, blocker
            limits = [trial.limit for trial in list(self._trials) if trial.limit is not None]
            limit = (max(limits) if limits else None) if blocker is None else blocker.limit
            if limit is not None and now - since >= limit and not self._closed:
                self._give_up(Stall(None if blocker is None else blocker.name, now - since, self._stack()))
                return True
            if self._closed or responds.wait(_SAMPLE):
                if blocker is not None:
                    blocker.own += _now() - seen
                return False
            blocker = self._running()
            if blocker is not before:
                since = seen

    def _running(self) -> TrialTime | None:
        """Return the trial whose task the loop runs, or the only one on the loop; None for other code."""
        trials = list(self._trials)
        if len(trials) == 1:
            return trials[0]
        task: Any = asyncio.current_task(self._loop)
        found: TrialTime | None = getattr(task, "trial_time", None)
        return task.get_context().get(TRIAL_TIME) if found is None and hasattr(task, "get_context") else found

    def _stack(self) -> traceback.StackSummary:
        frame = sys._current_frames().get(self._thread_of_loop() or 0)  # noqa: SLF001 - the documented way
        return traceback.extract_stack(frame) if frame is not None else traceback.StackSummary()
