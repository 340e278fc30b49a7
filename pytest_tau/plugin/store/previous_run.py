"""The simulations of a previous run that this one continues."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from ...documents import parse_json
from ...runs.layout import simulation_files
from ..compat import fixture_info, is_own_fixture
from ..items import spec_of, trial_of
from .manifest import unique_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    import pytest

    from ...models import Simulation
    from ...runner import SimulationSettings
    from ...runs.jsonl import Place
    from ..items import TaskSpec


class PreviousRun:
    """The simulations of a previous run; of a test that was run again, the last one.

    Args:
        folder: The folder of the previous run.
        info: The content of its ``run.json``.
        seed_of: Returns the seed of a trial in this run.
        rerun_outcomes: The outcomes of trials that are run again.

    Attributes:
        folder: The folder of the previous run.
        info: The content of its ``run.json``.
        rerun_outcomes: The outcomes of trials that are run again.
        found: The number of tests that have a simulation in the previous run.
        rerun: The number of these that are run again because of their outcome.
    """

    def __init__(
        self, folder: Path, info: Mapping[str, Any], seed_of: Callable[[int], int], rerun_outcomes: frozenset[str]
    ) -> None:
        self.folder, self.info, self.rerun_outcomes = folder, info, rerun_outcomes
        self._seed_of = seed_of
        self._places: dict[str, Place] = {}
        self.found = self.rerun = 0

    def read(self) -> None:
        """Find the place of each simulation; ``pop`` reads the conversation."""
        from ...runs.jsonl import is_interrupted, read_tests

        outcomes: dict[str, str] = {}
        for file in simulation_files(self.folder):
            for test, place, line in read_tests(file):
                if is_interrupted(line):
                    continue  # as if it had not been run
                self._places[test] = place
                if self.rerun_outcomes:
                    outcomes[test] = _outcome(line)
        self.found = len(self._places)
        for test in [test for test, outcome in outcomes.items() if outcome in self.rerun_outcomes]:
            del self._places[test]
        self.rerun = self.found - len(self._places)

    def __contains__(self, item: pytest.Item) -> bool:
        """Return whether there is a simulation for an item, which ``pop`` has not returned yet."""
        return item.nodeid in self._places and spec_of(item) is not None and _can_be_restored(item)

    def pop(self, item: pytest.Item) -> Simulation | None:
        """Return an item's simulation, once; None if there is none that fits."""
        if item not in self:
            return None
        from ...models import Simulation

        try:
            simulation = Simulation.model_validate_json(self._line(item))
        except (OSError, ValueError):
            return None  # the trial is run again
        finally:
            del self._places[item.nodeid]
        spec, trial = spec_of(item), trial_of(item)
        expected = (spec.task.id, trial, self._seed_of(trial)) if spec else None
        if (simulation.task_id, simulation.trial, simulation.seed) != expected:
            return None
        return simulation if all(item.config.hook.pytest_tau_may_restore(simulation=simulation)) else None

    def facts(self, item: pytest.Item) -> dict[str, Any]:
        """Return domain, task and conditions of an item's simulation; empty if there is none that can be read."""
        if item not in self:
            return {}
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            stored = parse_json(self._line(item))
            return {"domain": stored["domain"], "task": stored.get("task"), **(stored.get("conditions") or {})}
        return {}

    def _line(self, item: pytest.Item) -> bytes:
        file, _, start = self._places[item.nodeid]
        with file.open("rb") as lines:
            lines.seek(start)
            return lines.readline()

    def changed(self, specs: Iterable[TaskSpec], settings: SimulationSettings) -> list[str]:
        """Return the differences of tasks and domains from those of the previous run."""
        from ...runs.fingerprints import hashes
        from ...runs.manifest_diff import diff_tasks

        return diff_tasks(self.info["hashes"], hashes(unique_tasks(specs), settings))


def _can_be_restored(item: pytest.Item) -> bool:
    """Return whether a stored simulation is all that a test needs.

    A test that uses the participants or a model needs them as they are after a conversation. If another fixture
    provides the task or the environment, it is unknown whether the stored simulation ran on the same.
    """
    info = fixture_info(item)
    if info is None or "tau_simulation" not in info.names_closure:
        return False
    requested, overridden = set(info.argnames), set[str]()
    for name in info.names_closure:
        for definition in info.name2fixturedefs.get(name, ()):
            if not is_own_fixture(definition):
                overridden.add(name)
                requested |= {*definition.argnames} - {name}
    return not requested & {
        "tau_agent",
        "tau_agent_client",
        "tau_user",
        "tau_model",
        "_tau_models",
    } and not overridden & {
        "tau_task",
        "tau_env",
    }


def _outcome(line: bytes) -> str:
    """Return the outcome of the simulation in a line, without checking all of it."""
    from ...models import FAULTS, RewardInfo

    try:
        entry = parse_json(line)
        verdict = entry["reward_info"]
        if verdict is None or entry["termination_reason"] in FAULTS:
            return "error"
        return "passed" if RewardInfo(reward=verdict["reward"]).passed else "failed"
    except (ValueError, KeyError, TypeError):
        return "error"
