"""``--tau-gate``, ``--tau-fail-on``: gates on all trials decide, and no single trial fails the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ...text import printable
from ..compat import mark_last_failed, terminal_writer
from ..context.run_state import get_context
from ..items import TRIAL_ID, spec_of
from ..options import OptionValues, repetitions
from ..wire import add_facts, is_worker, trial_report
from .records import records_of

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from ...analysis.gates import Gate, Verdict
    from ..items import TaskSpec
    from .early_stop import EarlyStop

#: The letter, and with ``-v`` the word, of a failed trial that does not fail the run, by its outcome.
_SHOWN = {"failing": ("f", "FAILING"), "broken": ("e", "BROKEN")}


def register(config: pytest.Config) -> None:
    """Register the gates, and the early stop if it is asked for.

    Raises:
        pytest.UsageError: A gate is malformed or names an unknown domain, or an option lacks another one.
    """
    values = OptionValues(config)
    gates, fail_on = _gates(config, values), values.get("fail_on")
    if fail_on is not None and values.get("baseline") is None:
        raise pytest.UsageError(f"{values.label('fail_on')}: needs a run to compare with: add --tau-baseline RUN")
    if values.get("stop_early") and not gates:
        raise pytest.UsageError(f"{values.label('stop_early')}: needs a gate: add --tau-gate EXPR")
    early = None
    if values.get("stop_early"):
        from .early_stop import EarlyStop

        early = EarlyStop(config, gates, only_gates=fail_on is None)
        config.pluginmanager.register(early, "tau-stop-early")
    config.pluginmanager.register(GatePlugin(config, gates, early), "tau-gates")


def _gates(config: pytest.Config, values: OptionValues) -> list[Gate]:
    from ...errors import unknown_name

    gates, label = list(values.get("gate")), values.label("gate")
    context = get_context(config)
    known = context.domain_names() if context else []
    for gate in gates if context else ():
        if gate.domain is not None and gate.domain not in known:
            raise pytest.UsageError(f"{label}: {str(gate)!r}: {unknown_name('domain', gate.domain, known)}")
    return gates


class GatePlugin:
    """Keeps single trials from failing the run, so that the gates decide.

    Args:
        config: pytest's configuration.
        gates: The gates; none if only the baseline decides.
        early: The early stop, if it is asked for.
    """

    def __init__(self, config: pytest.Config, gates: list[Gate], early: EarlyStop | None) -> None:
        self._config, self._gates, self._early = config, gates, early
        self._found: list[Verdict] | None = None

    def pytest_report_header(self) -> list[str]:
        """Show the gates."""
        shown = self._gates and get_context(self._config) is not None
        return [printable(f"tau: gates: {', '.join(map(str, self._gates))}")] if shown else []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Refuse gates that need more trials than any task has, before anything runs.

        What counts are the trials that tasks have, not those that are selected: a single trial that is run again, or
        a part of a matrix, leaves the gate undecided, and the settings are right.

        Raises:
            pytest.UsageError: A gate cannot be reached.
        """
        problem = self._out_of_reach([spec for item in items if (spec := spec_of(item)) is not None])
        if problem and is_worker(self._config):
            # An exception would be a crash of the worker, and xdist runs tests after errors of collection.
            items.clear()
            report = pytest.CollectReport("--tau-gate", "failed", problem, [], tau_usage_error=True)
            self._config.hook.pytest_collectreport(report=report)
        elif problem:
            raise pytest.UsageError(problem)

    def _out_of_reach(self, specs: Sequence[TaskSpec]) -> str | None:
        """Return what is wrong with the first gate that needs more trials than any task has."""
        if self._config.option.collectonly or any(TRIAL_ID.search(argument) for argument in self._config.args):
            return None  # an editor lists the tests, or a single trial is run again: no gate is about that
        for gate in self._gates:
            needed = gate.metric.trials
            trials = [spec.config.trials for spec in specs if gate.domain in (None, spec.domain.name)]
            if trials and max(trials) < needed:
                values = OptionValues(self._config)
                own = max(trials) != values.get("trials") * (repetitions(self._config) or 1)
                remedy = f"set trials={needed} in the marker tau" if own else f"add --tau-trials {needed}"
                return (
                    f"{values.label('gate')}: {str(gate)!r} needs {needed} trials of a task, and no task has more than "
                    f"{max(trials)}: {remedy}"
                )
        return None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Mark the report of a trial's outcome; other failures of a test function still fail the run."""
        report = yield
        if report.failed and call.excinfo is not None and "_tau_spec" in getattr(item, "fixturenames", ()):
            from ..run.outcomes import HarnessError, TrialFailed

            if call.excinfo.errisinstance(TrialFailed):
                add_facts(report, gated="failing")
            elif call.excinfo.errisinstance(HarnessError):
                add_facts(report, gated="broken")
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> Generator[None, None, None]:
        """Turn a gated failure into an expected one, which pytest, xdist, ``-x`` and JUnit's XML do not count.

        Plugins that run failed tests again have seen the failure before.
        """
        gated = _gated(report)
        if gated and report.failed:
            report.outcome, report.wasxfail = "skipped", _message(report)
        yield
        if gated and report.skipped:
            mark_last_failed(self._config, report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, Any] | None:
        """Return category, letter and word of a gated trial."""
        gated = _gated(report)
        if gated is None or not report.skipped:
            return None
        letter, word = _SHOWN[gated]
        return gated, letter, (word, {"yellow": True})

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, None, None]:
        """Explain gated trials if a gate is missed; write the gates after the lines of all other plugins."""
        if self._explained(terminalreporter) and self._config.option.tbstyle != "no":
            self._explain(terminalreporter)
        yield
        for verdict in self.verdicts():
            terminalreporter.write_line(printable(f"tau: {verdict}"), green=verdict.met, red=not verdict.met)
        failing, broken = (len(terminalreporter.stats.get(name, ())) for name in ("failing", "broken"))
        counts = [f"{number} {name}" for number, name in ((failing, "failing"), (broken, "broken")) if number]
        if counts:
            what = "only the gates do" if self._gates else "only a regression does"
            shown = "" if self._explained(terminalreporter) else " (-rx explains each)"
            terminalreporter.write_line(
                f"tau: {' and '.join(counts)}: single trials do not fail the run, {what}{shown}"
            )
        if broken and not any(gate.name == "errors" for gate in self._gates):
            hint = "tau: trials with an error have no verdict and are excluded; --tau-gate 'errors<=0' fails on errors"
            terminalreporter.write_line(hint, yellow=True)

    def _explained(self, terminal: Any) -> bool:
        return "x" in terminal.reportchars or not all(verdict.met for verdict in self.verdicts())

    def pytest_tau_exit_verdict(self) -> pytest.ExitCode | None:
        """Fail the run if a gate is missed."""
        return None if all(verdict.met for verdict in self.verdicts()) else pytest.ExitCode.TESTS_FAILED

    def verdicts(self) -> list[Verdict]:
        """Return the verdict of each gate for each variant, computed once; none before trials are reported."""
        records = records_of(self._config)
        if self._found is None and records:
            from ...analysis.gate_metrics import by_task

            tasks = by_task(records, self._early.planned if self._early and self._early.stopped else None)
            self._found = [verdict for gate in self._gates for verdict in gate.verdicts(tasks)]
        return self._found or []

    def _explain(self, terminal: Any) -> None:
        for name in _SHOWN:
            reports = terminal.stats.get(name, ())
            if reports:
                terminal.write_sep("=", f"{name.upper()} TRIALS")
            for report in reports:
                terminal.write_sep("_", report.head_line or report.nodeid)
                report.toterminal(terminal_writer(terminal))


def _gated(report: Any) -> str | None:
    trial = trial_report(report)
    return trial.gated if trial else None


def _message(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return crash.message if crash is not None else printable(str(report.longrepr).strip().partition("\n")[0])
