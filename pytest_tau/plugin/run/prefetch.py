"""Which trials may be started before their item's turn, and starting them."""

from __future__ import annotations

import queue
import re
from typing import TYPE_CHECKING, Any

import pytest

from ..store.previous_run import will_be_restored
from .fixtures import case_of, make_environment, make_side, trial_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..context.budget import Budget
    from .trials import RunningTrial

#: The fixtures that a trial is made of; started ahead, it is made without pytest setting them up.
_OWN = frozenset(
    {
        *("_tau_case", "tau_task", "tau_trial", "tau_env", "_tau_models", "tau_model"),
        *("tau_agent", "tau_user", "tau_simulation", "request"),
    }
)
_SKIPPING = ("skip", "skipif")
#: How pytest names the fixtures that it makes of ``setup_module`` and its like.
_XUNIT = re.compile(r"_xunit_(setup_[a-z]+)_fixture_.*")
#: The property of an item whose trial could not be started ahead: the fixture because of which.
ALONE = "tau_alone"


class Ahead:
    """Keeps so many trials under way.

    Args:
        most: How many at the same time.
        budget: Once it is spent, nothing is started.
    """

    def __init__(self, most: int, budget: Budget) -> None:
        self.most = most
        self._budget = budget
        self._under_way: dict[pytest.Item, RunningTrial] = {}
        self._ended: queue.SimpleQueue[pytest.Item] = queue.SimpleQueue()
        self._started: set[pytest.Item] = set()
        self._unfit: set[pytest.Item] = set()

    @property
    def running(self) -> int:
        """How many trials are under way; those that ``ended`` has not told yet are counted."""
        return len(self._under_way)

    def fill(self, upcoming: Iterable[pytest.Item]) -> bool:
        """Start trials of the items that come next, in order; returns whether there is room for more."""
        limit = self._budget.limit
        if limit is not None and self._budget.spent >= limit:
            return True
        for item in upcoming:
            if self.running >= self.most:
                break
            if not self.started(item) and self.fits(item):
                self._start(item)
        return self.running < self.most

    def started(self, item: pytest.Item) -> bool:
        """Whether the item's trial was started, or its turn is over."""
        return item in self._started

    def under_way(self, item: pytest.Item) -> bool:
        """Whether the item's trial goes on, or ``ended`` has not told yet that it does not."""
        return item in self._under_way

    def settled(self, item: pytest.Item) -> bool:
        """Whether nothing more can come of the item here."""
        return item in self._started or item in self._unfit

    def ended(self, patience: float = 0.0) -> Iterator[pytest.Item]:
        """The items whose trials have ended since this was last asked, in the order in which they have.

        Args:
            patience: Seconds to wait for the first.
        """
        try:
            item = self._ended.get(timeout=patience) if patience else self._ended.get_nowait()
            while True:
                if self._under_way.pop(item, None) is not None:
                    yield item
                item = self._ended.get_nowait()
        except queue.Empty:
            return

    def forget(self, item: pytest.Item) -> None:
        """The item's turn is over; a trial that it has not waited for is of no use."""
        self._started.add(item)
        trial = self._under_way.pop(item, None)
        if trial is not None:
            trial.cancel()

    def cancel(self) -> None:
        """End what is under way without a result."""
        for trial in self._under_way.values():
            trial.cancel()

    def fits(self, item: pytest.Item) -> bool:
        """Whether the item's trial can be started before its turn."""
        if item in self._unfit:
            return False
        hindrance = _hindrance(item)
        if hindrance is None:
            return True
        if not _waits_for_setup(item, hindrance):
            self._unfit.add(item)
            if hindrance:
                item.user_properties.append((ALONE, _XUNIT.sub(r"\1", hindrance)))
        return False

    def _start(self, item: pytest.Item) -> None:
        """Start the trial; where that fails, the item's own setup meets the same mistake and tells it."""
        from .models import trial_models
        from .trials import AHEAD, RunningTrial, Setting

        case = case_of(item)
        assert case is not None, "what fits has a case"
        try:
            environment = make_environment(item, case)
            models = trial_models(item, case, trial_of(item), environment)
            agent, user = make_side("agent", item, case), make_side("user", item, case)
            trial = RunningTrial(item, Setting(case, trial_of(item), environment, models, agent, user))
        except pytest.exit.Exception:
            raise
        except (Exception, SystemExit, pytest.skip.Exception, pytest.fail.Exception):  # noqa: BLE001
            # A foreign hook may raise anything, and skip or fail its item.
            self._unfit.add(item)
            return
        self._started.add(item)
        self._under_way[item] = item.stash[AHEAD] = trial
        trial.when_ended(lambda: self._ended.put(item))


def _hindrance(item: pytest.Item) -> str | None:
    """Why a trial cannot be started ahead: a fixture's name, or nothing worth telling; None where it can."""
    info: Any = getattr(item, "_fixtureinfo", None)
    if info is None or "tau_simulation" not in info.names_closure or case_of(item) is None:
        return ""
    if will_be_restored(item):
        return ""
    if any(item.get_closest_marker(name) for name in _SKIPPING) or _is_not_run(item):
        return ""
    before = True
    for name in info.names_closure:
        definitions = info.name2fixturedefs.get(name, ())
        if name in _OWN:
            if any(not _is_own(definition) for definition in definitions):
                return str(name)
        # They are set up in this order: what comes after the trial has no part in it.
        elif before and not all(_holds(definition) for definition in definitions[-1:]):
            return str(name)
        before = before and name != "tau_simulation"
    return None


def _is_not_run(item: pytest.Item) -> bool:
    """Whether it is expected to fail and so not run; what is expected to fail and run is held like any other."""
    return any(marker.kwargs.get("run") is False for marker in item.iter_markers("xfail"))


def _is_own(definition: Any) -> bool:
    return str(definition.func.__module__).startswith("pytest_tau.plugin")


def _holds(definition: Any) -> bool:
    """Whether it holds for a trial started now: a fixture of the whole session that is set up, or a mere parameter."""
    if definition.func.__name__ == "get_direct_param_fixture_func":
        return True
    # Of what was set up, the third part is the error that it ended with.
    done = definition.cached_result is not None and definition.cached_result[2] is None
    return _is_shared(definition) and done


def _is_shared(definition: Any) -> bool:
    """Whether it is the same for every item of the session."""
    return definition.scope == "session" and definition.params is None


def _waits_for_setup(item: pytest.Item, name: str) -> bool:
    """Whether the fixture is one of the whole session, and will be set up once the first item that has it is run."""
    info: Any = getattr(item, "_fixtureinfo", None)
    definitions: list[Any] = list(info.name2fixturedefs.get(name, ())) if info else []
    return name not in _OWN and bool(definitions) and _is_shared(definitions[-1])
