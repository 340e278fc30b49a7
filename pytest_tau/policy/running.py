"""Rules are checked: one that raises or never ends is reported, and the others are still checked."""

from __future__ import annotations

import contextlib
import ctypes
import queue
import threading
import time
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from ..errors import is_interrupt
from .parts import Breach

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .rule import Rule
    from .trajectory import Trajectory

#: Seconds for one rule and one conversation.
SECONDS = 5.0
#: Breaches of one rule in one conversation that are kept.
MOST = 100

#: The breaches that a rule found, or why it could not be checked.
Found: TypeAlias = "list[Breach] | str"


class _Stopped(BaseException):
    """Raised inside of a rule that took too long."""


def run_rules(rules: Sequence[Rule], trajectory: Trajectory, seconds: float = SECONDS) -> list[Found]:
    """Check rules and return for each its breaches, or why it could not be checked.

    Args:
        rules: The rules.
        trajectory: The conversation.
        seconds: The time for each that is not bounded.
    """
    unbounded = [rule for rule in rules if not rule.bounded]
    others = iter(_run_in_time(unbounded, trajectory, seconds))
    return [_bounded_outcome(rule, trajectory) if rule.bounded else next(others) for rule in rules]


def _bounded_outcome(rule: Rule, trajectory: Trajectory) -> Found:
    try:
        return _checked(rule, trajectory)
    except BaseException as error:
        if is_interrupt(error):
            raise
        # Code of a domain: whatever it raises is reported by its name.
        return f"{type(error).__name__}: {error}"


def _run_in_time(rules: Sequence[Rule], trajectory: Trajectory, seconds: float) -> list[Found]:
    """Check rules in another thread, each in a limited time."""
    found: list[Found] = []
    while len(found) < len(rules):
        worker = _Worker.idle() or _Worker()
        job = _Job(rules[len(found) :], trajectory)
        worker.jobs.put(job)
        if job.ends_in(seconds):
            found += job.found
            _IDLE.append(worker)
        else:
            found += [*job.found, f"no end after {seconds:g} s"]
            _stop(worker.thread)
    return found


class _Job:
    """Rules that are checked in one conversation."""

    def __init__(self, rules: Sequence[Rule], trajectory: Trajectory) -> None:
        self.found: list[Found] = []
        self._rules, self._trajectory = rules, trajectory
        self._under_way, self._given_up = (0, time.monotonic()), False
        self._done = threading.Lock()
        self._done.acquire()

    def run(self) -> None:
        """Check the rules."""
        for number, rule in enumerate(self._rules):
            self._under_way = number, time.monotonic()
            outcome = _outcome(rule, self._trajectory)
            if self._given_up:
                raise _Stopped
            self.found.append(outcome)
        self._done.release()

    def ends_in(self, seconds: float) -> bool:
        """Wait until all rules were checked; return whether each of them took at most so many seconds."""
        left = seconds
        while not self._done.acquire(timeout=max(left, 0.0)):
            number, since = self._under_way
            left = since + seconds - time.monotonic()
            if left <= 0 and number == len(self.found):
                self._given_up = True
                return False
        return True


class _Worker:
    """A thread that checks rules, kept for the next conversation unless a rule takes too long."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._work, daemon=True, name="tau-policy")
        self.thread.start()

    @classmethod
    def idle(cls) -> _Worker | None:
        """Return a worker that waits for a conversation; None if there is none. A forked process has none."""
        while _IDLE:
            worker = _IDLE.pop()
            if worker.thread.is_alive():
                return worker
        return None

    def _work(self) -> None:
        with contextlib.suppress(_Stopped):
            while True:
                self.jobs.get().run()


#: Workers that wait for a conversation.
_IDLE: list[_Worker] = []


def _outcome(rule: Rule, trajectory: Trajectory) -> Found:
    try:
        return _checked(rule, trajectory)
    except _Stopped:
        raise
    except BaseException as error:  # noqa: BLE001 - foreign code: whatever it raises is reported by its name
        return f"{type(error).__name__}: {error}"


def _checked(rule: Rule, trajectory: Trajectory) -> Found:
    result = rule.check(trajectory)
    if isinstance(result, str | dict) or not hasattr(result, "__iter__"):
        return f"expected breaches, got {result!r:.80}"
    found = list(islice(result, MOST))
    wrong = next((each for each in found if not _is_breach(each, trajectory)), None)
    return found if wrong is None else f"expected a Breach with the number of a turn, got {wrong!r:.80}"


def _is_breach(each: object, trajectory: Trajectory) -> bool:
    return isinstance(each, Breach) and type(each.turn_number) is int and 1 <= each.turn_number <= len(trajectory.turns)


def _stop(thread: threading.Thread) -> None:
    """End a thread at its next line of Python code. One that is inside of a library stays, and does nothing more."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_Stopped))
