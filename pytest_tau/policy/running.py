"""Rules run in a thread of their own: one that raises or never ends is reported, and the others are still checked."""

from __future__ import annotations

import ctypes
import queue
import threading
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

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
        seconds: The time for each.
    """
    found: list[Found] = []
    while len(found) < len(rules):
        results: queue.SimpleQueue[Found] = queue.SimpleQueue()
        arguments = (rules[len(found) :], trajectory, results)
        thread = threading.Thread(target=_work, args=arguments, daemon=True, name="tau-policy")
        thread.start()
        try:
            while len(found) < len(rules):
                found.append(results.get(timeout=seconds))
        except queue.Empty:
            found.append(f"no end after {seconds:g} s")
            _stop(thread)
    return found


def _work(rules: Sequence[Rule], trajectory: Trajectory, results: queue.SimpleQueue[Found]) -> None:
    for rule in rules:
        try:
            outcome = _checked(rule, trajectory)
        except _Stopped:
            return
        except BaseException as error:  # noqa: BLE001 - foreign code: whatever it raises is reported by its name
            outcome = f"{type(error).__name__}: {error}"
        results.put(outcome)


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
