"""Hooks between the packages of the plugin; private, they may change with any release.

No conftest.py is meant to implement them.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Container, Iterator, Mapping, Sequence

    from ..analysis.gates import Gate, Verdict
    from ..analysis.summary import DomainSummary
    from ..chat import Role, TrialModels
    from ..environment import DomainSpec
    from ..evaluation import Evaluator
    from ..models import Simulation
    from ..runner import ModelChoice, ModelSettings
    from ..runs.record import TrialRecord
    from ..settings import Option
    from .items import TaskSpec
    from .wire import TrialReport


@pytest.hookspec(firstresult=True)
def pytest_tau_provided(
    config: pytest.Config,
) -> tuple[dict[str, DomainSpec], tuple[Evaluator, ...], tuple[str, ...]] | None:
    """Return what plugins and settings provide; first result. Called by the command ``tau``.

    Returns:
        The domains by name, the evaluators, and the names of the domains that the settings select.

    Raises:
        pytest.UsageError: A plugin raised an exception, or returned something else.
    """


@pytest.hookspec(firstresult=True)
def pytest_tau_options_schema(config: pytest.Config) -> dict[str, Any] | None:
    """Return the JSON Schema of the options; first result. Called by ``tau schema``."""


@pytest.hookspec(firstresult=True)
def pytest_tau_option_groups(config: pytest.Config) -> dict[str, list[Option]] | None:
    """Return the options by the title of their group; first result. Called by ``tau options``."""


@pytest.hookspec
def pytest_tau_trials_running(running: int | None) -> None:
    """Report how many trials run; collect-all. Called before the loop waits for them; with None at its end."""


@pytest.hookspec
def pytest_tau_trials_waiting(trials: Mapping[str, float]) -> None:
    """Report since how many seconds trials run that pytest waits for, by node id; collect-all, called each second."""


@pytest.hookspec
def pytest_tau_phase_reported(report: pytest.TestReport, trial: TrialReport) -> None:
    """Report a phase of a test that runs a trial, with its facts so far; collect-all.

    Called in the process that reports, in ``pytest_runtest_logreport`` before pytest counts the report.
    """


@pytest.hookspec
def pytest_tau_trial_reported(report: pytest.TestReport, trial: TrialReport, record: TrialRecord) -> None:
    """Report a finished trial; collect-all.

    Called in the process that reports, right after ``pytest_tau_phase_reported`` for the last phase of its test.
    """


@pytest.hookspec
def pytest_tau_models(config: pytest.Config, models: ModelSettings) -> dict[Role, ModelChoice] | None:
    """Return the models that are called besides those of agent, user and judge, by role; collect-all."""


@pytest.hookspec
def pytest_tau_after_trial(
    item: pytest.Item, spec: TaskSpec, number: int, models: TrialModels
) -> Callable[[Simulation], Awaitable[None]] | None:
    """Return what is awaited when a trial has ended, before it is stored; collect-all.

    Called in pytest's thread, when the trial starts. What it returns is called on the event loop of the trial, and may
    add facts to the simulation, and usage to the models.
    """


@pytest.hookspec
def pytest_tau_plan(specs: list[TaskSpec], test: pytest.Function | None) -> None:
    """Add variants of the tasks that are run, or replace tasks by them (``items.variant_of``); collect-all.

    Args:
        specs: The selected tasks of a domain, a file or a marked test, each with its settings; changed in place.
        test: The marked test; None for the items of a domain or a file.

    Raises:
        ConfigurationError: The settings do not fit the tasks.
    """


@pytest.hookspec(firstresult=True)
def pytest_tau_is_skipped(item: pytest.Item) -> bool | None:
    """Return True if the setup of an item skips it, so that its trial is not started early; first result."""


@pytest.hookspec
def pytest_tau_may_restore(simulation: Simulation) -> bool | None:
    """Return False if a simulation of the same test and seed in an earlier session is not reused; collect-all."""


@pytest.hookspec
def pytest_tau_finished(
    records: Sequence[TrialRecord], failed: Container[str], summaries: Sequence[DomainSummary]
) -> None:
    """Report what a run has come to; collect-all. A run with an implementation computes every figure of its domains.

    Called in the process that reports, in ``pytest_sessionfinish``, if there are trials. ``failed`` are the node ids of
    the tests that have failed.
    """


class SummaryLine(NamedTuple):
    """A line of the terminal summary.

    Attributes:
        text: The line.
        markup: The keyword arguments of ``TerminalReporter.write_line``, such as ``yellow=True``.
        command: Whether the line is a command for the CI service. Any other line is kept from being one.
    """

    text: str
    markup: Mapping[str, bool] = MappingProxyType({})
    command: bool = False


@pytest.hookspec
def pytest_tau_summary_lines() -> Iterator[SummaryLine]:
    """Yield lines of the terminal summary, computed when they are written; collect-all.

    Called once, in the process that reports, at the end, for one plugin after the other, in the order of
    ``report.terminal.SECTIONS``.
    """
    yield from ()


@pytest.hookspec
def pytest_tau_exit_verdict() -> str | None:
    """Return why the run fails although pytest may consider it a success, in the words of its last line; collect-all.

    Called in the process that reports, once everything is reported.
    """


@pytest.hookspec(firstresult=True)
def pytest_tau_gate_verdicts(gates: Sequence[Gate]) -> list[Verdict] | None:
    """Return the verdicts of the gates of a run in which not every planned trial was run; first result.

    Called in the process that reports, once everything is reported; None if those of the trials that ran are right.
    """


@pytest.hookspec(firstresult=True)
def pytest_tau_regression() -> bool | None:
    """Return whether there is a regression against the baseline, if that was decided while the run was under way.

    First result; called in the process that reports, once everything is reported.
    """
