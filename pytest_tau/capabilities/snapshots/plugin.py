"""Snapshots of trajectories: those of the fixture ``tau_snapshot``, and ``--tau-snapshot`` for the items of tasks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from ...capability import ExplainedFailure, run_of
from ...errors import install_extra
from ...files import ambiguous_names
from ...plain import json
from .trials import trial_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from ...capability import RunTrial
    from ...environment import Change
    from ...evaluation import Line
    from ...models import Simulation
    from . import SnapshotSettings
    from .extension import TrajectorySnapshot

_NEEDED = f"needs syrupy: {install_extra('snapshot')}"
_BLOCKED = "needs syrupy, which is disabled by -p no:syrupy"


def stored_trajectory(item: pytest.Item) -> TrajectorySnapshot:
    """Return the stored trajectory of a test.

    Raises:
        ConfigurationError: syrupy is not installed, or blocked.
    """
    from ...errors import ConfigurationError

    problem = _problem(item.config)
    if problem is not None:
        raise ConfigurationError(f"the fixture tau_snapshot {problem}")
    return _snapshot(item, "calls")


def make_snapshots(config: pytest.Config, settings: SnapshotSettings) -> TaskSnapshots:
    """Return the comparison that ``--tau-snapshot`` asks for.

    Raises:
        pytest.UsageError: syrupy is not installed, or blocked.
    """
    problem = _problem(config)
    if problem is not None:
        raise pytest.UsageError(f"{run_of(config).label('snapshot')} {problem}")
    assert settings.snapshot is not None, "the capability is on"
    return TaskSnapshots(settings.snapshot)


class TaskSnapshots:
    """Compares the trajectory of every trial that passes with the stored one.

    Args:
        preset: ``calls`` or ``messages``.
    """

    def __init__(self, preset: str) -> None:
        self._preset = preset

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Compare the trajectory of a trial that has passed; one that has failed is reported for that."""
        result = yield
        trial = trial_of(item)
        if trial is not None and trial.is_of_task and trial.simulation is not None:
            _compare(item, trial, trial.simulation, self._preset)
        return result


def _problem(config: pytest.Config) -> str | None:
    """Return why snapshots cannot be used; None if they can."""
    if config.pluginmanager.is_blocked("syrupy"):
        return _BLOCKED
    return None if config.pluginmanager.hasplugin("syrupy") else _NEEDED


def _snapshot(item: pytest.Item, preset: str) -> TrajectorySnapshot:
    from .extension import IS_AMBIGUOUS, MAYBE_UNUSED, trajectory_snapshot
    from .parts import Selection, parts_of
    from .unused import UnusedCheck, is_subset

    item.config.stash.setdefault(IS_AMBIGUOUS, _is_ambiguous)
    if MAYBE_UNUSED not in item.config.stash and not is_subset(item.config):
        check: Callable[[Path, str], bool] = UnusedCheck(item.session)
        item.config.stash[MAYBE_UNUSED] = check
    test_data = _TestData(item)
    return trajectory_snapshot(item, Selection(parts_of(preset), test_data.changes, test_data.is_given))


def _is_ambiguous(item: pytest.Item, name: str) -> bool:
    """Return whether a task's or a domain's name differs from another one only by case."""
    trial = trial_of(item)
    if trial is not None and trial.is_of_task and "[" not in name:  # that of an item has the number of its trial in it
        return name in ambiguous_names(run_of(item.config).domain_names)
    return trial is not None and trial.task.ambiguous


def _compare(item: pytest.Item, trial: RunTrial, simulation: Simulation, preset: str) -> None:
    from ...evaluation import Line

    snapshot = _snapshot(item, preset)
    if simulation == snapshot:
        return
    result = snapshot.executions[0]
    if result.exception is not None:
        raise result.exception
    stored, asserted = result.recalled_data, str(result.asserted_data)
    file = os.path.relpath(result.snapshot_location, item.config.invocation_params.dir)
    problem = "no snapshot is stored" if stored is None else "the trajectory differs from the stored one"
    lines = _difference(trial, preset, None if stored is None else str(stored), asserted)
    raise ExplainedFailure(problem, [Line("verdict", f"reward 1, but {problem}"), Line("user", f"in {file}"), *lines])


def _difference(trial: RunTrial, preset: str, stored: str | None, asserted: str) -> list[Line]:
    """Return the differences, and the command that accepts them."""
    import difflib

    from ...evaluation import Line

    lines: list[Line] = []
    if stored is not None:
        kinds: dict[str, Any] = {"-": "error", "+": "command", " ": "user", "@": "head"}
        changes = difflib.unified_diff(stored.split("\n"), asserted.split("\n"), "stored", "this run", n=2, lineterm="")
        lines = [Line(kinds[change[0]], change) for change in changes]
    update = f"{trial.command(recorded=True)} --tau-snapshot={preset} --snapshot-update"
    return [*lines, Line("command", f"{'store it' if stored is None else 'if this is intended'}: {update}")]


class _TestData:
    """The data of a test that its simulation does not contain: the databases before and after, and the task."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._given: str | None = None

    def changes(self, simulation: Simulation) -> list[tuple[str, Change]]:
        """Return the changes that a conversation has made to the databases, the agent's side first.

        Raises:
            ConfigurationError: The simulation is not that of the test's fixture ``tau_simulation``.
        """
        from ...errors import ConfigurationError

        trial = trial_of(self._item)
        recorded = trial.simulation if trial else None
        if trial is None or recorded is None or recorded.id != simulation.id:
            raise ConfigurationError(
                "database changes are known only for tau_simulation; "
                "for another simulation, select other parts: tau_snapshot(selection={'calls', 'results', 'verdict'})"
            )
        before, after = trial.environment(), self._item.funcargs["tau_env"]  # type: ignore[attr-defined]
        return [(side, change) for side, old, new in before.databases_with(after) for change in old.changes(new)]

    def is_given(self, text: str) -> bool:
        """Return whether a text is part of the domain's data at the start of the conversation, or of the task."""
        trial = trial_of(self._item)
        if trial is None:
            return False
        if self._given is None:
            self._given = json.dumps(trial.environment().dump()) + trial.task.task.model_dump_json()
        return text in self._given
