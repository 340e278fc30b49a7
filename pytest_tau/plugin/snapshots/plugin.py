"""Snapshots of trajectories: what the fixture ``tau_snapshot`` gives, and ``--tau-snapshot`` for the items of tasks."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from ..items import is_task_item, item_state, spec_of
from ..options import OptionValues
from ..run.setup import make_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from ...evaluation.component_reports import Line
    from ...integrations.syrupy import StateChange, TrajectorySnapshot
    from ...models import Simulation
    from ..items import TaskSpec

_NEEDED = "needs syrupy: install it with pip install 'pytest-tau[snapshot]'"
_BLOCKED = "needs syrupy, which -p no:syrupy keeps out of this run"


class SnapshotMismatch(AssertionError):  # noqa: N818 - it is the test's assertion
    """A trajectory is not as stored.

    Attributes:
        lines: What has changed.
    """

    def __init__(self, told: str, lines: list[Line]) -> None:
        self.lines = lines
        super().__init__(told)


def stored_trajectory(item: pytest.Item) -> TrajectorySnapshot:
    """What the fixture ``tau_snapshot`` gives to a test.

    Raises:
        ConfigurationError: syrupy is not there.
    """
    from ...errors import ConfigurationError

    problem = _problem(item.config)
    if problem is not None:
        raise ConfigurationError(f"the fixture tau_snapshot {problem}")
    return _snapshot(item, "calls")


@pytest.fixture
def tau_snapshot(request: pytest.FixtureRequest) -> TrajectorySnapshot:
    """The stored trajectory of this test: ``assert tau_simulation == tau_snapshot``."""
    return stored_trajectory(request.node)


def register(config: pytest.Config) -> None:
    """Check ``--tau-snapshot``.

    Raises:
        pytest.UsageError: It names nothing that a snapshot can hold, or syrupy is not there.
    """
    settings = OptionValues(config)
    preset = settings.get("snapshot")
    problem = _problem(config)
    if problem is not None:
        raise pytest.UsageError(f"{settings.label('snapshot')} {problem}")
    if preset not in ("calls", "messages"):
        raise pytest.UsageError(f"{settings.label('snapshot')}: expected calls or messages, got {preset!r}")
    config.pluginmanager.register(TaskSnapshots(preset), "tau-snapshots")


class TaskSnapshots:
    """Compares the trajectory of every task that passes with the stored one; registered by ``--tau-snapshot``.

    Args:
        preset: ``calls`` or ``messages``.
    """

    def __init__(self, preset: str) -> None:
        self._preset = preset

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Compare, once the reward was 1; a trial that has failed has told why."""
        result = yield
        simulation = item_state(item).simulation
        if is_task_item(item) and simulation is not None:
            _compare(item, simulation, self._preset)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Show what has changed in place of a traceback."""
        report = yield
        mismatch = call.excinfo.value if call.excinfo is not None else None
        if isinstance(mismatch, SnapshotMismatch):
            from ..failure_repr import FailureRepr

            report.longrepr = FailureRepr(str(mismatch), mismatch.lines, item.nodeid)
        return report


def _problem(config: pytest.Config) -> str | None:
    """Why there can be no snapshots."""
    if config.pluginmanager.is_blocked("syrupy"):
        return _BLOCKED
    return None if config.pluginmanager.hasplugin("syrupy") else _NEEDED


def _snapshot(item: pytest.Item, preset: str) -> TrajectorySnapshot:
    from ...integrations.syrupy import MAYBE_UNUSED, Selection, parts_of, trajectory_snapshot
    from .unused import InQuestion, narrowed

    if MAYBE_UNUSED not in item.config.stash and not narrowed(item.config):
        in_question: Callable[[Path, str], bool] = InQuestion(item.session)
        item.config.stash[MAYBE_UNUSED] = in_question
    world = _World(item)
    return trajectory_snapshot(item, Selection(parts_of(preset), world.changes, world.is_given))


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
    told = "no snapshot is stored" if stored is None else "the trajectory is not as stored"
    lines = _difference(item, preset, None if stored is None else str(stored), got)
    raise SnapshotMismatch(told, [Line("verdict", f"reward 1, and {told}"), Line("user", f"in {file}"), *lines])


def _difference(item: pytest.Item, preset: str, stored: str | None, got: str) -> list[Line]:
    """What has changed, and the command that accepts it."""
    import difflib

    from ...evaluation.component_reports import Line
    from ..rerun_command import rerun_command

    lines: list[Line] = []
    if stored is not None:
        kinds: dict[str, Any] = {"-": "error", "+": "command", " ": "user", "@": "head"}
        changes = difflib.unified_diff(stored.split("\n"), got.split("\n"), "stored", "this run", n=2, lineterm="")
        lines = [Line(kinds[change[0]], change) for change in changes]
    update = f"{rerun_command(item, recorded=True)} --tau-snapshot={preset} --snapshot-update"
    return [*lines, Line("command", f"{'store it' if stored is None else 'if that is meant'}: {update}")]


class _World:
    """What a test's simulation does not tell of itself: the databases before and after, and the task."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._given: str | None = None

    def changes(self, simulation: Simulation) -> list[StateChange]:
        """What a conversation has changed, the agent's side first.

        Raises:
            ConfigurationError: It is not the simulation that the test's fixture has run.
        """
        from ...environment import canonical
        from ...errors import ConfigurationError
        from ...integrations.syrupy import StateChange

        case, own = self._case, item_state(self._item).simulation
        if case is None or own is None or own.id != simulation.id:
            raise ConfigurationError(
                "what a conversation has changed in the databases is known of tau_simulation alone; "
                "for another one select other parts: tau_snapshot(selection={'calls', 'results', 'verdict'})"
            )
        before, after = make_environment(self._item, case), self._item.funcargs["tau_env"]  # type: ignore[attr-defined]
        found = []
        for side, old, new in (
            ("agent", before.agent_db, after.agent_db),
            ("user", before.user_db, after.user_db),
        ):
            for change in old.changes(new) if old is not None and new is not None else ():
                kind = {"expected": "added", "got": "removed"}.get(change.missing or "", "changed")
                old_value, new_value = (json.loads(canonical(value)) for value in (change.expected, change.got))
                found.append(StateChange(side, change.path, old_value, new_value, kind))
        return found

    def is_given(self, text: str) -> bool:
        """Whether a text stands in the domain's data as the conversation begins, or in the task."""
        case = self._case
        if case is None:
            return False
        if self._given is None:
            self._given = json.dumps(make_environment(self._item, case).dump()) + case.task.model_dump_json()
        return text in self._given

    @property
    def _case(self) -> TaskSpec | None:
        case = spec_of(self._item)
        # The fixture may have been overridden.
        task = getattr(self._item, "funcargs", {}).get("tau_task")
        return case._replace(task=task) if case is not None and task is not None else case
