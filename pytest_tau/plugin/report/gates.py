"""``--tau-gate``, ``--tau-fail-on``: gates on all trials decide, and no single trial fails the run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from ...capability.runs import run_of
from ...text import plural, printable
from ..compat import mark_last_failed, terminal_writer
from ..context.run_state import get_context, run_state
from ..items import TRIAL_ID, group_of, spec_of
from ..options import OptionValues, repetitions
from ..wire import is_worker, trial_report, worker_input
from .terminal import write_wrapped
from .trial_reports import records_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from ...analysis.gates import Gate, Verdict
    from ..items import TaskSpec


#: The letter, and with ``-v`` the word, of a failed trial that does not fail the run, by its outcome.
SHOWN = {"failing": ("f", "FAILING"), "broken": ("e", "BROKEN")}
#: What the outcome of a subtest of such a trial begins with in pytest's counts.
_OF_SUBTEST = "subtests "


def register(config: pytest.Config) -> None:
    """Register the gates.

    Raises:
        pytest.UsageError: A gate is malformed or names an unknown domain, or an option lacks another one.
    """
    values = OptionValues(config)
    gates, fail_on = _gates(config, values), values.get("fail_on")
    if fail_on is not None and values.get("baseline") is None:
        raise pytest.UsageError(f"{values.label('fail_on')}: needs a run to compare with: add --tau-baseline RUN")
    config.pluginmanager.register(GatePlugin(config, gates), "tau-gates")


def _gates(config: pytest.Config, values: OptionValues) -> list[Gate]:
    from ...errors import unknown_name
    from ..capabilities import gates_of

    gates, label = gates_of(config), values.label("gate")
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
    """

    def __init__(self, config: pytest.Config, gates: list[Gate]) -> None:
        self._config, self._gates = config, gates
        self._found: list[Verdict] | None = None

    def pytest_report_header(self) -> list[str]:
        """Show the gates."""
        is_shown = self._gates and get_context(self._config) is not None
        return [printable(f"tau: gates: {', '.join(map(str, self._gates))}")] if is_shown else []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Refuse gates that need more trials than any task has, and comparisons that decide nothing.

        What counts are the trials that tasks have, not those that are selected: a single trial that is run again, or
        a part of a matrix, leaves the gate undecided, and the settings are right.

        Raises:
            pytest.UsageError: A gate cannot be reached, or the comparison cannot be decided.
        """
        if self._config.option.collectonly or any(TRIAL_ID.search(argument) for argument in self._config.args):
            return  # an editor lists the tests, or a single trial is run again: no gate is about that
        specs = [spec for item in items if (spec := spec_of(item)) is not None]
        problem = self._out_of_reach(specs) or self._undecidable(items, len(specs))
        if problem and is_worker(self._config):
            # An exception would be a crash of the worker, and xdist runs tests after errors of collection.
            items.clear()
            report = pytest.CollectReport(problem.partition(":")[0], "failed", problem, [], tau_usage_error=True)
            self._config.hook.pytest_collectreport(report=report)
        elif problem:
            raise pytest.UsageError(problem)

    def _undecidable(self, items: Sequence[pytest.Item], trials: int) -> str | None:
        """Return why the comparison with the baseline decides nothing, whatever the trials give."""
        values, state = OptionValues(self._config), run_state(self._config)
        is_selected = any("::" in argument for argument in self._config.args)
        is_selected = is_selected or any(selected.wanted for selected in state.selection.values())
        if values.get("fail_on") is None or state.is_part or is_selected:
            return None  # a part of the tests
        groups = [group for item in items if (group := group_of(item)) is not None]
        # A test may ask for its simulation while it runs: its trial is not known.
        before = self._before() if groups and len(groups) == trials else None
        if before is None:
            return None
        from ...analysis.decidable import why_undecidable
        from ...analysis.paired import PassCount
        from ...runs.groups import Group

        name, rows = before
        why = why_undecidable(name, {Group(*row[:4]): PassCount(*row[4:]) for row in rows}, groups)
        remedy = "run more tasks that pass there, or use a gate, such as --tau-gate 'pass^1>=0.9'"
        return f"{values.label('fail_on')}: a regression cannot be decided: {why}: {remedy}" if why else None

    def _before(self) -> Any:
        """Return the data of the baseline; None if it cannot be read."""
        given = worker_input(self._config)
        if given is not None:
            return given.baseline
        baseline: Any = self._config.pluginmanager.get_plugin("tau-baseline")
        return baseline.counts() if baseline is not None else None

    def _out_of_reach(self, specs: Sequence[TaskSpec]) -> str | None:
        """Return what is wrong with the first gate that needs more trials than any task has."""
        for gate in self._gates:
            needed = gate.metric.trials
            trials = [spec.config.trials for spec in specs if gate.domain in (None, spec.domain.name)]
            if trials and max(trials) < needed:
                values = OptionValues(self._config)
                of_marker = max(trials) != values.get("trials") * (repetitions(self._config) or 1)
                remedy = f"set trials={needed} in the marker tau" if of_marker else f"add --tau-trials {needed}"
                return (
                    f"{values.label('gate')}: {str(gate)!r} needs {needed} trials of a task, and no task has more than "
                    f"{max(trials)}: {remedy}"
                )
        return None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> Generator[None, None, None]:
        """Turn a gated failure into an expected one, which pytest, xdist, ``-x`` and JUnit's XML do not count.

        Plugins that run failed tests again have seen the failure before.
        """
        mine = gated(report) is not None and not has_own_gate(report)
        if mine and report.failed:
            tolerate(report)
        yield
        if mine and report.skipped:
            mark_last_failed(self._config, report.nodeid)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, None, None]:
        """Explain gated trials if a gate is missed; write the gates after the lines of all other plugins."""
        if self._explained(terminalreporter) and self._config.option.tbstyle != "no":
            explain(terminalreporter, lambda report: not has_own_gate(report))
        yield
        for verdict in self.verdicts():
            colour = {True: "green", False: "red", None: "yellow"}[verdict.met]
            write_wrapped(terminalreporter, self._config, f"tau: {verdict}", **{colour: True})
            if worst := self._worst(verdict):
                write_wrapped(terminalreporter, self._config, f"tau:  worst: {worst}")
        failing, broken = (
            sum(not has_own_gate(report) for report in terminalreporter.stats.get(name, ())) for name in SHOWN
        )
        counts = [f"{number} {name}" for number, name in ((failing, "failing"), (broken, "broken")) if number]
        if counts:
            decides = "only the gates do" if self._gates else "only a regression does"
            shown = "" if self._explained(terminalreporter) else " (-rx explains each)"
            text = f"tau: {' and '.join(counts)}: single trials do not fail the run, {decides}{shown}"
            write_wrapped(terminalreporter, self._config, text)
        if broken and not any(gate.name == "errors" for gate in self._gates):
            hint = "tau: trials with an error have no verdict and are excluded; --tau-gate 'errors<=0' fails on errors"
            write_wrapped(terminalreporter, self._config, hint, yellow=True)

    def _worst(self, verdict: Verdict) -> str:
        """Return the trials with the worst values, if the gate is missed."""
        if verdict.met is not False:
            return ""
        from ...analysis.gates.metrics import by_task

        tasks = verdict.gate.by_variant(by_task(records_of(self._config))).get(verdict.variant, {})
        return ", ".join(f"{record.test} {value:.4g}" for record, value in verdict.gate.worst(tasks))

    def _explained(self, terminal: Any) -> bool:
        return "x" in terminal.reportchars or not all(verdict.met for verdict in self.verdicts())

    def pytest_tau_exit_verdict(self) -> str | None:
        """Fail the run if a gate is missed or not decided."""
        return failing_gates(verdict.met for verdict in self.verdicts())

    def verdicts(self) -> list[Verdict]:
        """Return the verdict of each gate for each variant, computed once; none before trials are reported."""
        records = records_of(self._config)
        if self._found is None and records:
            from ...analysis.gates.metrics import by_task
            from ...runs.manifest import IN_OTHER_SHARDS

            counts = run_state(self._config).counts
            missing = counts.missing
            # A run that was stopped on purpose knows more of trials that were not run.
            decide = run_of(self._config).decide_gates
            known: list[Verdict] | None = decide(self._gates) if decide else None
            planned = Counter(counts.planned[test] for test in counts.planned if test not in counts.skipped)
            tasks = by_task(records, planned if missing else None)
            self._found = known or [verdict for gate in self._gates for verdict in gate.verdicts(tasks)]
            if missing and known is None:
                why = f"{plural(len(missing), 'trial')} of {len(counts.planned):,} not run to the end"
                self._found = [verdict.undecided(why) if verdict.met else verdict for verdict in self._found]
            if others := counts.excluded.get(IN_OTHER_SHARDS):
                why = f"{plural(others, 'trial')} of the run not run here; tau merge --gate decides on the whole"
                self._found = [verdict.undecided(why) for verdict in self._found]
        return self._found or []


def failing_gates(met: Iterable[bool | None]) -> str | None:
    """Return in words that a gate is missed, or else that one is not decided; None if each is met."""
    outcomes = {*met}
    return "gate missed" if False in outcomes else "gate not decided" if None in outcomes else None


def decisions(config: pytest.Config, *, details: bool = True) -> list[tuple[str, bool | None]]:
    """Return the lines of gates and baseline, for pages, and whether each is met; None for one that decides nothing.

    Args:
        config: pytest's configuration.
        details: Whether the lines of the comparison that decide nothing are among them.
    """
    plugin = config.pluginmanager.get_plugin
    gates: Any = plugin("tau-gates")
    baseline: Any = plugin("tau-baseline")
    of_tests: Any = plugin("tau-test-gates")
    lines: list[tuple[str, bool | None]] = [
        (str(verdict), verdict.met) for verdict in (gates.verdicts() if gates else ())
    ]
    lines += [(line, None) for line in (baseline.conclusions() if baseline else ())]
    lines += of_tests.verdicts() if of_tests else []
    for line, colours in baseline.lines() if baseline else ():
        if details or "green" in colours:
            lines.append((line, colours.get("green")))
    return lines


def has_own_gate(report: Any) -> bool:
    """Return whether the trial belongs to a test with a gate of its own, which decides on it."""
    trial = trial_report(report)
    return trial is not None and trial.test_gate is not None


def gated(report: Any) -> str | None:
    """Return the outcome of a failed trial that does not fail the run by itself; None for any other report."""
    trial = trial_report(report)
    return trial.gated if trial else None


def status(report: Any, name: str) -> tuple[str, str, Any]:
    """Return category, letter and word of a tolerated report; a subtest is counted apart from its trial.

    Args:
        report: The report.
        name: The outcome of the trial.
    """
    letter, word = SHOWN[name]
    if isinstance(report, pytest.SubtestReport):
        return _OF_SUBTEST + name, "", (f"SUB{word}", {"yellow": True})
    return name, letter, (word, {"yellow": True})


def forget_subtests(config: pytest.Config, nodeid: str) -> None:
    """Forget the tolerated subtests of a test that is run again, as pytest-rerunfailures does with failed ones."""
    terminal: Any = config.pluginmanager.get_plugin("terminalreporter")
    for name in SHOWN if terminal is not None else ():
        reports = terminal.stats.get(_OF_SUBTEST + name, [])
        reports[:] = [report for report in reports if report.nodeid != nodeid]


def tolerate(report: Any) -> None:
    """Turn a failure into an expected one, which pytest, xdist, ``-x`` and JUnit's XML do not count."""
    report.outcome, report.wasxfail = "skipped", _message(report)


def count_failure(report: Any) -> None:
    """Turn an expected failure into a failure again."""
    report.outcome = "failed"
    if hasattr(report, "wasxfail"):
        del report.wasxfail


def explain(terminal: Any, chosen: Callable[[Any], bool]) -> None:
    """Write the failure reports of gated trials.

    Args:
        terminal: pytest's terminal reporter.
        chosen: Returns whether a report is written.
    """
    for name, (_, word) in SHOWN.items():
        shown_reports = [*terminal.stats.get(_OF_SUBTEST + name, ()), *terminal.stats.get(name, ())]
        reports = [report for report in shown_reports if chosen(report)]
        if reports:
            terminal.write_sep("=", f"{word} TRIALS")
        for report in reports:
            terminal.write_sep("_", report.head_line or report.nodeid)
            report.toterminal(terminal_writer(terminal))


def _message(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return crash.message if crash is not None else printable(str(report.longrepr).strip().partition("\n")[0])
