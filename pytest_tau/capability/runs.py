"""The run of pytest that a capability has hooks in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from ..errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from ..environment import Domain
    from ..models import Task

#: The name of the plugin that is the handle of a run.
HANDLE = "tau-run"


class RunTask(Protocol):
    """The task of a test item."""

    @property
    def task(self) -> Task:
        """The task."""

    @property
    def domain(self) -> Domain:
        """Its domain."""

    @property
    def config(self) -> Any:
        """The settings that it is run with, a ``pytest_tau.runner.RunConfig``."""


class RunHandle(Protocol):
    """A run of pytest with trials, in one of its processes. ``run_of`` returns it, and ``FinishedRun`` has it."""

    @property
    def records(self) -> Sequence[Any]:
        """The trials that were reported so far, each a ``pytest_tau.runs.record.TrialRecord``; none in a worker."""

    @property
    def known_ids(self) -> Collection[str]:
        """The ids of all tasks from which this process has selected so far."""

    @property
    def folder(self) -> Path | None:
        """The folder in which the run is stored; None for none."""

    @property
    def is_worker(self) -> bool:
        """Whether this process is a worker of pytest-xdist."""

    def task_of(self, item: Any) -> RunTask | None:
        """Return the task that a test item runs; None for an item that runs none."""

    def option(self, key: str) -> Any:
        """Return the value of an option by its key, such as ``seed`` or that of a capability's own setting."""

    def label(self, key: str) -> str:
        """Return the name of an option as the user wrote it: ``--tau-seed``, or ``tau_seed`` of the ini file."""

    def line(self, text: str, **markup: bool) -> None:
        """Add a line to the summary, before the session has ended: ``line("known: 2 pass now", yellow=True)``."""

    def note(self, name: str, notes: Mapping[str, Any]) -> None:
        """Record in ``run.json``, under the name of a capability, what it has found out; replaces its earlier notes."""

    def command(self, item: Any) -> str:
        """Return the command that runs the trial of an item again."""

    def give(self, name: str, value: Any) -> None:
        """Give the controller what a capability has found out in this worker, as JSON; elsewhere do nothing."""

    def given_by(self, node: Any, name: str) -> Any:
        """Return what a finished worker has given, in ``pytest_testnodedown``; None if it has given nothing."""


def run_of(config: Any) -> RunHandle:
    """Return the run of pytest's configuration.

    Raises:
        ConfigurationError: The run has no trials, as of a project that does not use pytest-tau.
    """
    handle = config.pluginmanager.get_plugin(HANDLE)
    if handle is None:
        raise ConfigurationError("the run has no trials: run_of is for hooks of a capability that is on")
    return cast("RunHandle", handle)
