"""Which trials may be started before their item's turn, and starting them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from .fixtures import case_of, make_environment, make_side, trial_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .trials import RunningTrial

#: The fixtures that a trial is made of; started ahead, it is made without pytest setting them up.
_OWN = frozenset(
    {
        *("_tau_case", "tau_task", "tau_trial", "tau_env", "_tau_models", "tau_model"),
        *("tau_agent", "tau_user", "tau_simulation", "request"),
    }
)
_SKIPPING = ("skip", "skipif", "xfail")


class Ahead:
    """Keeps so many trials under way.

    Args:
        most: How many at the same time.

    Attributes:
        changed: Set whenever a trial has ended.
        hindrances: Items whose trials were not started ahead, with the fixture because of which.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.changed = threading.Event()
        self.hindrances: dict[pytest.Item, str] = {}
        self._trials: dict[pytest.Item, RunningTrial] = {}
        self._unfit: set[pytest.Item] = set()

    @property
    def running(self) -> int:
        """How many trials are under way."""
        return sum(not trial.done for trial in self._trials.values())

    def fill(self, upcoming: Iterable[pytest.Item]) -> bool:
        """Start trials of the items that come next, in order; returns whether there is room for more."""
        room = self.most - self.running
        for item in upcoming:
            if room <= 0:
                return False
            if not self.started(item) and self.fits(item):
                room -= self._start(item)
        return room > 0

    def started(self, item: pytest.Item) -> bool:
        """Whether the item's trial was started."""
        return item in self._trials

    def ended(self) -> list[pytest.Item]:
        """The items whose trials have ended, in the order in which they were started."""
        return [item for item, trial in self._trials.items() if trial.done]

    def forget(self, item: pytest.Item) -> None:
        """The item's turn is over."""
        self._trials.pop(item, None)

    def cancel(self) -> None:
        """End what is under way without a result."""
        for trial in self._trials.values():
            trial.cancel()

    def fits(self, item: pytest.Item) -> bool:
        """Whether the item's trial can be started before its turn."""
        if item in self._unfit:
            return False
        hindrance = _hindrance(item)
        if hindrance:
            self.hindrances[item] = hindrance
        if hindrance is not None and not _waits_for_setup(item, hindrance):
            self._unfit.add(item)
        return hindrance is None

    def _start(self, item: pytest.Item) -> bool:
        """Start the trial; where that fails, the item's own setup meets the same mistake and tells it."""
        from ..errors import TauError
        from .active import active_of
        from .models import trial_models
        from .trials import AHEAD, RunningTrial, Setting

        case = case_of(item)
        budget = active_of(item.config).budget
        if case is None or (budget.limit is not None and budget.spent >= budget.limit):
            return False
        try:
            environment = make_environment(item, case)
            models = trial_models(item, case, trial_of(item), environment)
            agent, user = make_side("agent", item, case), make_side("user", item, case)
            trial = RunningTrial(item, Setting(case, trial_of(item), environment, models, agent, user))
        except (TauError, pytest.UsageError):
            self._unfit.add(item)
            return False
        self.hindrances.pop(item, None)
        self._trials[item] = item.stash[AHEAD] = trial
        trial.when_ended(self.changed.set)
        return True


def _hindrance(item: pytest.Item) -> str | None:
    """Why a trial cannot be started ahead: a fixture's name, or nothing worth telling; None where it can."""
    info: Any = getattr(item, "_fixtureinfo", None)
    if info is None or "tau_simulation" not in info.names_closure or case_of(item) is None:
        return ""
    if any(item.get_closest_marker(name) for name in _SKIPPING):
        return ""
    for name in info.names_closure:
        definitions = info.name2fixturedefs.get(name, ())
        if name in _OWN:
            if any(not _is_own(definition) for definition in definitions):
                return str(name)
        elif not all(_is_set_up(definition) for definition in definitions[-1:]):
            return str(name)
    return None


def _is_own(definition: Any) -> bool:
    # Parametrisation by the marker puts a definition of pytest's own over ours.
    return str(definition.func.__module__).startswith(("pytest_tau.plugin", "_pytest."))


def _is_set_up(definition: Any) -> bool:
    """Whether it is a fixture of the whole session that is set up already, and so holds for a trial started now."""
    return definition.scope == "session" and definition.cached_result is not None


def _waits_for_setup(item: pytest.Item, name: str) -> bool:
    """Whether the fixture is one of the whole session, and will be set up once the first item that has it is run."""
    info: Any = getattr(item, "_fixtureinfo", None)
    definitions: list[Any] = list(info.name2fixturedefs.get(name, ())) if info else []
    return name not in _OWN and bool(definitions) and definitions[-1].scope == "session"
