"""What an earlier run has left: which trials had finished, what came of them, and whether that still holds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ..run.fixtures import case_of, trial_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from ...models import Simulation
    from ..context.run_context import Active, Case

#: The run that this one goes on with.
EARLIER = pytest.StashKey["EarlierRun"]()


class _Place(NamedTuple):
    """Where a simulation stands: its file, and the first byte of its line."""

    file: Path
    start: int


class EarlierRun:
    """The simulations of an earlier run; of a test that was run again, the last.

    Args:
        folder: The run's.
        info: What it tells of itself.
        active: The state of this run.
        unwanted: Trials with these outcomes are held again.

    Attributes:
        folder: As given.
        info: As given.
        found: How many tests have a simulation in the earlier run.
        again: How many of them are held again because of their outcome.
    """

    def __init__(self, folder: Path, info: Mapping[str, Any], active: Active, unwanted: frozenset[str]) -> None:
        self.folder, self.info = folder, info
        self._active, self._unwanted = active, unwanted
        self._places: dict[str, _Place] = {}
        self.found = self.again = 0

    def read(self) -> None:
        """Find where each simulation stands; conversations are read in their turn."""
        from ...runs.jsonl import PATTERN
        from .writer import lines_of

        outcomes: dict[str, str] = {}
        for file in sorted(self.folder.glob(PATTERN)):
            for test, start, line in lines_of(file):
                self._places[test] = _Place(file, start)
                if self._unwanted:
                    outcomes[test] = _outcome(line)
        self.found = len(self._places)
        for test in [test for test, outcome in outcomes.items() if outcome in self._unwanted]:
            del self._places[test]
        self.again = self.found - len(self._places)

    def has(self, item: pytest.Item) -> bool:
        """Whether there is a simulation for an item, whose turn has not come yet."""
        return item.nodeid in self._places and case_of(item) is not None and _can_be_restored(item)

    def take(self, item: pytest.Item) -> Simulation | None:
        """An item's simulation, once; None where there is none that fits."""
        if not self.has(item):
            return None
        from ...models import Simulation

        file, start = self._places.pop(item.nodeid)
        try:
            with file.open("rb") as lines:
                lines.seek(start)
                simulation = Simulation.model_validate_json(lines.readline())
        except (OSError, ValueError):
            return None  # held again
        case, trial = case_of(item), trial_of(item)
        same = case and (simulation.task_id, simulation.trial, simulation.seed) == (
            case.task.id,
            trial,
            self._active.seed(trial),
        )
        return simulation if same else None

    def changed(self, cases: Iterable[Case]) -> list[str]:
        """Which of the tasks that are about to run, and of their domains, are not those of the earlier run."""
        from ...runs.manifest import differing_cases, hashes
        from .manifest import once

        return differing_cases(self.info["hashes"], hashes(once(cases), self._active.config.simulation))


def _can_be_restored(item: pytest.Item) -> bool:
    """Whether a stored simulation is all that a test needs.

    One that looks at the participants, or asks a model itself, finds in them what the simulation has left there. Where
    the task or the environment is made by somebody else, it is not known what the stored simulation was held with.
    """
    # pytest has no public way to ask where a test's fixtures are from; without it, everything is held again.
    info: Any = getattr(item, "_fixtureinfo", None)
    if info is None or "tau_simulation" not in info.names_closure:
        return False
    asked, made = set(info.argnames), set[str]()
    for name in info.names_closure:
        for definition in info.name2fixturedefs.get(name, ()):
            if not str(definition.func.__module__).startswith("pytest_tau.plugin"):
                made.add(name)
                asked |= {*definition.argnames} - {name}
    return not asked & {"tau_agent", "tau_user", "tau_model", "_tau_models"} and not made & {"tau_task", "tau_env"}


def _outcome(line: bytes) -> str:
    """The outcome of the simulation in a line, without the time that it takes to check all of it."""
    from ...models import FAULTS, RewardInfo

    try:
        entry = json.loads(line)
        verdict = entry["reward_info"]
        if verdict is None or entry["termination_reason"] in FAULTS:
            return "error"
        return "passed" if RewardInfo(reward=verdict["reward"]).passed else "failed"
    except (ValueError, KeyError, TypeError):
        return "error"


def will_be_restored(item: pytest.Item) -> bool:
    """Whether an item's simulation will be taken from an earlier run."""
    earlier = item.config.stash.get(EARLIER, None)
    return earlier is not None and earlier.has(item)


def restored_simulation(item: pytest.Item) -> Simulation | None:
    """The simulation of an item that an earlier run has; given once, for a rerun is held."""
    earlier = item.config.stash.get(EARLIER, None)
    return earlier.take(item) if earlier is not None else None
