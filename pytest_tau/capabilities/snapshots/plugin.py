"""Snapshots of trajectories: those of the fixture ``tau_snapshot``, and ``--tau-snapshot`` for the items of tasks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from ...errors import install_extra
from ...files import ambiguous_names
from ...plain import json
from ...plugin.context.run_state import require_context
from ...plugin.items import get_item_state, is_task_item, item_state, spec_of
from ...plugin.options import OptionValues
from ...plugin.run.setup import make_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from ...environment.changes import Change
    from ...evaluation.component_reports import Line
    from ...models import Simulation
    from ...plugin.items import TaskSpec
    from . import SnapshotSettings
    from .extension import TrajectorySnapshot

_NEEDED = f"needs syrupy: {install_extra('snapshot')}"
_BLOCKED = "needs syrupy, which is disabled by -p no:syrupy"


class SnapshotMismatch(AssertionError):  # noqa: N818 - it is the test's assertion
    """A trajectory differs from the stored one.

    Attributes:
        lines: The differences, for the failure report.
    """

    def __init__(self, message: str, lines: list[Line]) -> None:
        self.lines = lines
        super().__init__(message)


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
        raise pytest.UsageError(f"{OptionValues(config).label('snapshot')} {problem}")
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
        simulation = item_state(item).simulation if is_task_item(item) else None
        if simulation is not None:
            _compare(item, simulation, self._preset)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Show the differences instead of a traceback."""
        report = yield
        mismatch = call.excinfo.value if call.excinfo is not None else None
        if isinstance(mismatch, SnapshotMismatch):
            from ...plugin.failure_repr import FailureRepr

            style = getattr(item.config.option, "tbstyle", "auto")
            report.longrepr = FailureRepr(str(mismatch), mismatch.lines, item.nodeid, style)
        return report


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
    spec = spec_of(item)
    if is_task_item(item) and "[" not in name:  # the name of an item has the number of its trial in it
        return name in ambiguous_names(require_context(item.config).domain_names())
    return spec is not None and spec.ambiguous


def _compare(item: pytest.Item, simulation: Simulation, preset: str) -> None:
    from ...evaluation.component_reports import Line

    snapshot = _snapshot(item, preset)
    if simulation == snapshot:
        return
    result = snapshot.executions[0]
    if result.exception is not None:
        raise result.exception
    stored, got = result.recalled_data, str(result.asserted_data)
    file = os.path.relpath(result.snapshot_location, item.config.invocation_params.dir)
    problem = "no snapshot is stored" if stored is None else "the trajectory differs from the stored one"
    lines = _difference(item, preset, None if stored is None else str(stored), got)
    raise SnapshotMismatch(problem, [Line("verdict", f"reward 1, but {problem}"), Line("user", f"in {file}"), *lines])


def _difference(item: pytest.Item, preset: str, stored: str | None, got: str) -> list[Line]:
    """Return the differences, and the command that accepts them."""
    import difflib

    from ...evaluation.component_reports import Line
    from ...plugin.rerun_command import rerun_command

    lines: list[Line] = []
    if stored is not None:
        kinds: dict[str, Any] = {"-": "error", "+": "command", " ": "user", "@": "head"}
        changes = difflib.unified_diff(stored.split("\n"), got.split("\n"), "stored", "this run", n=2, lineterm="")
        lines = [Line(kinds[change[0]], change) for change in changes]
    update = f"{rerun_command(item, recorded=True)} --tau-snapshot={preset} --snapshot-update"
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

        spec, state = self._spec, get_item_state(self._item)
        own = state.simulation if state else None
        if spec is None or own is None or own.id != simulation.id:
            raise ConfigurationError(
                "database changes are known only for tau_simulation; "
                "for another simulation, select other parts: tau_snapshot(selection={'calls', 'results', 'verdict'})"
            )
        before, after = make_environment(self._item, spec), self._item.funcargs["tau_env"]  # type: ignore[attr-defined]
        return [(side, change) for side, old, new in before.databases_with(after) for change in old.changes(new)]

    def is_given(self, text: str) -> bool:
        """Return whether a text is part of the domain's data at the start of the conversation, or of the task."""
        spec = self._spec
        if spec is None:
            return False
        if self._given is None:
            self._given = json.dumps(make_environment(self._item, spec).dump()) + spec.task.model_dump_json()
        return text in self._given

    @property
    def _spec(self) -> TaskSpec | None:
        spec = spec_of(self._item)
        # A conftest.py may override the fixture.
        task = getattr(self._item, "funcargs", {}).get("tau_task")
        return spec._replace(task=task) if spec is not None and task is not None else spec
