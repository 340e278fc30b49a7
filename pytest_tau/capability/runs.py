"""The run of pytest that a capability has hooks in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, cast

from ..errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from ..environment import Domain, Environment
    from ..models import Simulation, Task

T = TypeVar("T")
#: The name of the plugin that is the handle of a run.
HANDLE = "tau-run"


class ExplainedFailure(AssertionError):  # noqa: N818 - it is the test's assertion
    """Fails a test of a trial; its report has lines instead of a traceback.

    Args:
        message: The failure in one line.
        lines: The lines of the report, each a ``pytest_tau.evaluation.Line``.
    """

    def __init__(self, message: str, lines: Sequence[Any]) -> None:
        self.lines = lines
        super().__init__(message)


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

    @property
    def ambiguous(self) -> bool:
        """Whether its item id differs from that of another task only by case: names of files then get digits."""

    def variant(
        self, parameter: str, capability: str, value: Any, *, skipped: Callable[[], str | None] | None = None
    ) -> RunTask:
        """Return a variant of the task, for ``pytest_tau_plan``.

        Args:
            parameter: The parameter in the ids of its items, after that of a variant that the task is already.
            capability: The name of the capability that makes it.
            value: What the capability is given in its trials, as ``TrialView.variant``.
            skipped: Returns why its trials are skipped; None if they are not.
        """


class RunTrial(Protocol):
    """The trial of a test item."""

    @property
    def task(self) -> RunTask:
        """The task that is run: another one than that of the item, if the project overrides ``tau_task``."""

    @property
    def number(self) -> int:
        """The number of the trial, from 0."""

    @property
    def group(self) -> Any:
        """The trials that it is pooled with, a ``pytest_tau.runs.Group``; None for a test that runs no trial."""

    @property
    def is_of_task(self) -> bool:
        """Whether the item comes from a task file or a domain, as opposed to a test function."""

    @property
    def home(self) -> Path:
        """The file of the item; the folder where pytest was started for one of a domain, which has no file."""

    @property
    def is_of_domain(self) -> bool:
        """Whether the item comes from a domain."""

    @property
    def simulation(self) -> Simulation | None:
        """The finished simulation, until it is reported."""

    @property
    def is_started(self) -> bool:
        """Whether the trial has started before its item runs."""

    @property
    def is_restored(self) -> bool:
        """Whether its simulation is, or will be, taken from the run that this one continues."""

    def environment(self) -> Environment:
        """Return a new environment, as the trial begins with.

        Raises:
            TaskFormatError: The initial state cannot be applied; names the file.
        """

    def skip(self, reason: str) -> None:
        """Skip the trial, which has not started; it counts as one that was not run."""

    def command(self, *, recorded: bool = False) -> str:
        """Return the command that runs the trial again.

        Args:
            recorded: The trial has a verdict: if its run records cassettes, replay it.
        """

    def model(self, role: Any) -> Any:
        """Return the ``pytest_tau.chat.LLM`` of a role of ``pytest_tau_models``; None if there is none.

        Raises:
            ConfigurationError: A plugin made something that is not a model.
        """

    def tape(self, name: str) -> Callable[[], Any]:
        """Return what opens another cassette next to that of the trial, when it is needed.

        Args:
            name: The name before its suffix: ``review`` for ``TASK.trial-0.review.cassette``.

        Returns:
            A function that returns the ``Tape`` that records or replays calls, or None if the run does neither. It
            raises a ``ReplayError`` if the cassette cannot be read.
        """


class RunStore(Protocol):
    """What sends the results of this process to a store that other machines share."""

    @property
    def store(self) -> Any:
        """The ``pytest_tau.runs.Store``."""

    @property
    def is_settled(self) -> bool:
        """Whether the store has all simulations so far."""

    @property
    def patience(self) -> float:
        """The seconds in which the store must answer."""

    @property
    def problems(self) -> Collection[str]:
        """Why something is not in the store."""

    def wait(self) -> None:
        """Wait until the store has all simulations, for a while."""

    def hurry(self) -> None:
        """Let the rest of the run wait little for the store."""


class RunHandle(Protocol):
    """A run of pytest with trials, in one of its processes. ``run_of`` returns it, and ``FinishedRun`` has it.

    Attributes:
        decide_gates: Set by a capability that ends runs early: returns the verdicts of gates, or None to compute them
            of the trials that ran. Called once everything is reported.
        decide_regression: Likewise, whether there is a regression against the baseline.
    """

    decide_gates: Callable[[Sequence[Any]], list[Any] | None] | None
    decide_regression: Callable[[], bool | None] | None

    @property
    def settings(self) -> Any:
        """The settings, a ``pytest_tau.runner.RunConfig``; None while nothing has needed tasks."""

    def recorded(self, tasks: Iterable[tuple[Domain, Task]]) -> dict[str, Any]:
        """Return what ``run.json`` records of the settings and of tasks, for a comparison with an earlier run.

        Args:
            tasks: The tasks, each with its domain.
        """

    @property
    def name(self) -> str:
        """The name of the run; empty if nothing is stored."""

    @property
    def folder(self) -> Path | None:
        """The folder in which the run is stored; None for none, and in a worker."""

    @property
    def is_worker(self) -> bool:
        """Whether this process is a worker of pytest-xdist."""

    @property
    def shared(self) -> Path | None:
        """The folder that a controller and its workers on this machine share; None without workers."""

    @property
    def store(self) -> RunStore | None:
        """The store of the run; None if it is a folder."""

    @property
    def domain_names(self) -> Collection[str]:
        """The names of all domains that tasks can be of."""

    @property
    def known_ids(self) -> Collection[str]:
        """The ids of all tasks from which this process has selected so far."""

    @property
    def planned(self) -> Mapping[str, Any]:
        """The ``pytest_tau.runs.Group`` of each planned trial by node id, in order.

        If all workers are on other machines, there are none before the end.
        """

    @property
    def records(self) -> Sequence[Any]:
        """The trials that were reported so far, each a ``pytest_tau.runs.TrialRecord``; none in a worker."""

    @property
    def gates(self) -> Sequence[Any]:
        """The gates, each a ``pytest_tau.analysis.Gate``.

        Raises:
            pytest.UsageError: An expression is not a gate.
        """

    @property
    def baseline(self) -> Any:
        """The ``pytest_tau.analysis.RunRecords`` of the baseline; None if there is none, or it cannot be read."""

    def task_of(self, item: Any) -> RunTask | None:
        """Return the task that a test item runs; None for an item that runs none."""

    def trial_of(self, item: Any) -> RunTrial | None:
        """Return the trial of a test item; None for an item that runs no task."""

    def option(self, key: str) -> Any:
        """Return the value of an option by its key, such as ``seed`` or that of a capability's own setting."""

    def label(self, key: str) -> str:
        """Return the name of an option as the user wrote it: ``--tau-seed``, or ``tau_seed`` of the ini file."""

    def source(self, key: str) -> Literal["command line", "ini"] | None:
        """Return where the user wrote an option; None for its default."""

    def folder_of(self, key: str) -> Path:
        """Return the folder from which relative paths in the value of an option start."""

    def stored(self, key: str) -> Any:
        """Open the stored run that an option names, by a path or a name: a ``pytest_tau.runs.Run``.

        Raises:
            ConfigurationError: There is no such run.
            OSError: A file cannot be opened.
        """

    def provided(self, hook: str, kind: type[T], expected: str, check: Callable[[T], None]) -> list[T]:
        """Return what plugins provide by a hook of a capability, which has the argument ``config``.

        Args:
            hook: The name of the hook, which returns a list, or None.
            kind: The class of the elements.
            expected: What a result is to be, for the error.
            check: Raises a ``ValueError`` for an element that cannot be used.

        Raises:
            pytest.UsageError: One raised an exception, or returned something else; names the file.
        """

    @property
    def selects(self) -> bool:
        """Whether options or arguments select some of the tests and tasks."""

    def declare_part(self, *, empty: bool = False, elsewhere: Collection[str] = ()) -> None:
        """Declare that the run has a part of its trials only, so that a comparison may have few of them.

        Args:
            empty: Whether there are trials, and none for this run, which is then no error.
            elsewhere: The node ids of tests that other machines run.
        """

    def schedule(self, upcoming: Callable[[Any], list[Any]]) -> None:
        """Start trials early in another order than that of the items.

        Args:
            upcoming: Returns an item and those that follow it, as far as they are known.
        """

    def line(self, text: str, **markup: bool) -> None:
        """Add a line to the summary, before the session has ended: ``line("known: 2 pass now", yellow=True)``."""

    def write(self, text: str, **markup: bool) -> None:
        """Write a line to the terminal now."""

    def fail(self, reason: str) -> None:
        """Fail the run, for a reason in a few words that the last line of the terminal has."""

    def note(self, name: str, notes: Mapping[str, Any]) -> None:
        """Record in ``run.json``, under the name of a capability, what it has found out; replaces its earlier notes."""

    def noted(self, name: str) -> Mapping[str, Any] | None:
        """Return what a capability has noted in the run that this one continues; None if it continues none."""

    def give(self, name: str, value: Any) -> None:
        """Give the process that reports what a capability has found out in this one; replaces what it gave earlier.

        Args:
            name: The name of the capability.
            value: JSON data.
        """

    def given(self, name: str) -> list[Any]:
        """Return what each process has given: the finished workers, or this process if there are none."""


def has_run(config: Any) -> bool:
    """Return whether pytest runs trials, so that ``run_of`` returns the run; not in a project without any."""
    return bool(config.pluginmanager.has_plugin(HANDLE))


def run_of(config: Any) -> RunHandle:
    """Return the run of pytest's configuration.

    Raises:
        ConfigurationError: The run has no trials, as of a project that does not use pytest-tau.
    """
    handle = config.pluginmanager.get_plugin(HANDLE)
    if handle is None:
        raise ConfigurationError("the run has no trials: run_of is for hooks of a capability that is on")
    return cast("RunHandle", handle)
