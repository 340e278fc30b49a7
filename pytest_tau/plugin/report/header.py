"""What a run tells: the header, explained failures, the exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ..context.state import if_active
from ..options import named_domains, options_given
from ..run.fixtures import ELAPSED, SIMULATION
from .records import records_of

if TYPE_CHECKING:
    from collections.abc import Generator

    from ...participants import Side
    from ...runner import RunConfig
    from ..context.run_context import Active


#: Set once the settings were told.
_TOLD = pytest.StashKey[bool]()


def pytest_report_header(config: pytest.Config) -> list[str]:
    """What runs: domain, data, tasks, participants; and what stands in for what was not named."""
    active = if_active(config)
    if active is None:
        return []
    config.stash[_TOLD] = True
    return _settings_told(config, active)


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    """What runs, where only collection has found out that there are tasks."""
    active = if_active(config)
    if active is None or config.stash.get(_TOLD, False) or config.get_verbosity() < 0:
        return []
    return _settings_told(config, active)


def _settings_told(config: pytest.Config, active: Active) -> list[str]:
    run = active.config
    told = [f"seed {run.seed}"]
    if named_domains(config):
        told.insert(0, f"domain {', '.join(run.domains)}")
    told.append(f"data {run.data_dir}" if run.data_dir else "bundled data")
    told += [_participant(active, side) for side in ("agent", "user")]
    told += ["solo"] if run.simulation.solo else []
    told += [f"policy {run.simulation.policy}"] if run.simulation.policy else []
    if active.judge is not None:
        uniform = active.judge.name in ("accept", "reject")
        told.append(f"judge {active.judge.name}" + (" (every statement alike)" if uniform else ""))
    grading = run.simulation.evaluation.grading.name
    told += [f"grading {grading}"] if grading != "official" else []
    lines = ["tau: " + ", ".join(told)]
    lines += [f"tau: {line}" for line in _models_told(run)]
    if run.agent is None and run.agent_spec == "gold":
        lines.append("tau: no agent named and no model configured: gold plays the reference actions (see --tau-agent)")
    elif run.user is None and run.user_spec == "gold" and run.agent_spec not in ("gold", "noop"):
        lines.append("tau: user gold plays the reference actions whatever the agent says; --tau-user scripted listens")
    replay = active.source("agent", run).replay
    if replay is not None:
        lines.append(f"tau: only tasks that {replay.path.name} has conversations of ({len(replay.task_ids)})")
    return lines


def _participant(active: Active, side: Side) -> str:
    name, choice = active.source(side, active.config).name, active.config.choice(side)
    return f"{side} {name} ({choice.name})" if choice else f"{side} {name}"


def _models_told(run: RunConfig) -> list[str]:
    lines = []
    for side, prompting in run.simulation.prompting.items():
        called = run.choice(side)
        if called and prompting.name != "built in":
            lines.append(f"{side} prompt: {prompting.name}")
        if called and prompting.context_tokens:
            lines.append(f"{side} context: {prompting.context_tokens:,} tokens, older messages are left out")
        if called and prompting.text_tools:
            lines.append(f"{side} tool calls: in text")
    how = {"replay": "replayed", "missing": "recorded where there is no cassette, else replayed", "all": "recorded"}
    lines += [f"model calls: {how[run.models.tape]}"] if run.models.tape else []
    lines += [f"budget: ${run.models.budget:g}"] if run.models.budget is not None else []
    return lines


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Explain the failure of a task, and below the failure of a test of one's own the simulation that it ran."""
    report = yield
    if report.failed and call.excinfo is not None and "_tau_case" in getattr(item, "fixturenames", ()):
        # pytest asks the item only about failures of the call, and this is for those of the setup, too.
        from .failures import represent

        report.longrepr = represent(item, call.excinfo) or report.longrepr
    simulation = item.stash.get(SIMULATION, None)
    elapsed = item.stash.get(ELAPSED, None)
    if report.when == "setup" and elapsed is not None:
        report.duration = elapsed  # it was waited for in the setup, but began before that
    if report.when == "call" and simulation is not None and simulation.replay_differences:
        report.sections.append(("tau replay", "\n".join(simulation.replay_differences)))
    if report.failed and simulation is not None and not hasattr(item, "case"):
        from ...diagnosis import explain, plain_text

        active = if_active(item.config)
        lines = explain(simulation, evaluators=active.evaluators if active else ())
        report.sections.append(("tau simulation", plain_text(lines)))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable(report: Any) -> Generator[None, Any, Any]:
    """Let an explained failure cross from an xdist worker as data."""
    data = yield
    lines = getattr(getattr(report, "longrepr", None), "lines", None)
    if lines is not None and data is not None:
        data["tau_failure"] = [report.longrepr.reprcrash.message, [list(line) for line in lines]]
    return data


@pytest.hookimpl(wrapper=True)
def pytest_report_from_serializable(data: dict[str, Any]) -> Generator[None, Any, Any]:
    """Make an explained failure of the data again."""
    failure = data.pop("tau_failure", None)
    report = yield
    if failure is not None:
        from .failures import FailureRepr

        message, lines = failure
        report.longrepr = FailureRepr(message, lines, report.nodeid)
    return report


class Reporter:
    """Settles the exit status; one for each run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._usage_errors = self._not_run = 0
        self._tests_ran = self._others_passed = False

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count collectors that met a mistake of the user's."""
        self._usage_errors += hasattr(report, "tau_usage_error")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what was run, and count what was not."""
        self._tests_ran = True
        told = dict(report.user_properties)
        self._others_passed |= report.when == "call" and report.passed and "tau_outcome" not in told
        self._not_run += report.when == "setup" and "tau_not_run" in told

    def pytest_terminal_summary(self, terminalreporter: Any, exitstatus: int) -> None:
        """Say what the exit status is about, where nothing else does."""
        if self._unexplained() and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            told = "tau: no simulation was run; name a domain with --tau-domain, or task files, or marked tests"
            terminalreporter.write_line(told, yellow=True)
        if self._not_run:
            told = f"tau: {self._not_run} of the trials not run: the budget is spent"
            terminalreporter.write_line(told, red=True)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Generator[None, None, None]:
        """A mistake of the user's is a usage error, and a run without a simulation is no success."""
        yield  # others, too, settle the exit status, and may not know of usage errors
        if hasattr(self._config, "workerinput"):
            return
        if self._usage_errors and not self._tests_ran:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        elif self._not_run and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        elif self._without_effect() and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED

    def _unexplained(self) -> bool:
        if not self._without_effect():
            return False
        from ..collect.shard import is_empty

        return not is_empty(self._config)

    def _without_effect(self) -> bool:
        """Whether a run of tasks was asked for and none took place, and nothing else did either unless by option."""
        option = self._config.option
        if self._others_passed and not options_given(self._config):
            return False
        dry = option.collectonly or getattr(option, "setupplan", False) or getattr(option, "setuponly", False)
        return if_active(self._config) is not None and not dry and not records_of(self._config) and not self._not_run


def start(config: pytest.Config) -> None:
    """Begin to watch what is run."""
    config.pluginmanager.register(Reporter(config), "tau-reporter")
