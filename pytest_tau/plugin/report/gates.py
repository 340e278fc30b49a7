"""``--tau-gate``, ``--tau-fail-on``: the run as a whole decides, and a single trial does not fail it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ..context.state import if_active
from ..options import Settings
from .records import records_of

if TYPE_CHECKING:
    from collections.abc import Generator

    from ...analysis.gates import Gate, Verdict
    from .early_stop import StopEarly

#: How a trial that does not fail the run is told, by what became of it: letter, and word with ``-v``.
_TOLD = {"failing": ("f", "FAILING"), "broken": ("e", "BROKEN")}
_FAIL_ON = ("regression",)


def configure(config: pytest.Config) -> None:
    """Begin to watch, as something else than single trials decides.

    Raises:
        pytest.UsageError: A gate that is none, of an unknown domain, or options that lack others.
    """
    settings = Settings(config)
    gates, fail_on = _gates(config, settings), settings.get("fail_on")
    if fail_on is not None:
        if fail_on not in _FAIL_ON:
            raise pytest.UsageError(f"{settings.label('fail_on')}: expected {' or '.join(_FAIL_ON)}, got {fail_on!r}")
        if settings.get("baseline") is None:
            raise pytest.UsageError(f"{settings.label('fail_on')}: compared with what? Name a run with --tau-baseline")
    if settings.get("stop_early") and not gates:
        raise pytest.UsageError(f"{settings.label('stop_early')}: needs a gate that can be settled, see --tau-gate")
    early = None
    if settings.get("stop_early"):
        from .early_stop import StopEarly

        early = StopEarly(config, gates, besides=fail_on is not None)
        config.pluginmanager.register(early, "tau-stop-early")
    config.pluginmanager.register(Gatekeeper(config, gates, early), "tau-gates")


def _gates(config: pytest.Config, settings: Settings) -> list[Gate]:
    given = settings.get("gate")
    if not given:
        return []
    from ...analysis.gates import Gate
    from ...errors import ConfigurationError, unknown_name

    label = settings.label("gate")
    try:
        gates = [Gate.parse(text) for text in given]
    except ConfigurationError as error:
        raise pytest.UsageError(f"{label}: {error}") from None
    active = if_active(config)
    known = active.domain_names() if active else []
    for gate in gates if active else ():
        if gate.domain is not None and gate.domain not in known:
            raise pytest.UsageError(f"{label}: {str(gate)!r}: {unknown_name('domain', gate.domain, known)}")
    return gates


class Gatekeeper:
    """Keeps single trials from failing the run, and has the gates decide.

    Args:
        config: pytest's configuration.
        gates: What must be reached; none where only the baseline decides.
        early: What stops the run early, if that is asked for.
    """

    def __init__(self, config: pytest.Config, gates: list[Gate], early: StopEarly | None) -> None:
        self._config, self._gates, self._early = config, gates, early
        self._found: list[Verdict] | None = None

    def pytest_report_header(self) -> list[str]:
        """What must be reached."""
        told = self._gates and if_active(self._config) is not None
        return [f"tau: gates: {', '.join(map(str, self._gates))}"] if told else []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Mark what is a trial's outcome, and no failed assertion of somebody's own test or mistake in it."""
        report = yield
        if report.failed and call.excinfo is not None and "_tau_case" in getattr(item, "fixturenames", ()):
            from .failures import HarnessFault, RewardBelowOne

            if call.excinfo.errisinstance(RewardBelowOne):
                report.tau_gated = "failing"  # type: ignore[attr-defined]
            elif call.excinfo.errisinstance(HarnessFault):
                report.tau_gated = "broken"  # type: ignore[attr-defined]
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> Generator[None, None, None]:
        """Report it so that neither pytest nor xdist, ``-x`` or JUnit's XML take it for a failure of the run.

        Before this, plugins that run failed tests again have seen it as one.
        """
        gated = getattr(report, "tau_gated", None)
        if gated and report.failed:
            report.outcome, report.wasxfail = "skipped", _message(report)
        yield
        if gated and report.skipped:
            # It is nothing that pytest expected, and --lf is to run it again; there is no public way to tell it so.
            failed = getattr(self._config.pluginmanager.get_plugin("lfplugin"), "lastfailed", None)
            if isinstance(failed, dict):
                failed[report.nodeid] = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, Any] | None:
        """The trial's own letter and word."""
        gated = getattr(report, "tau_gated", None)
        if gated is None or not report.skipped:
            return None
        letter, word = _TOLD[gated]
        return gated, letter, (word, {"yellow": True})

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, None, None]:
        """What failing trials are about, where that matters; after everybody else's lines the gates."""
        if self._explained(terminalreporter) and self._config.option.tbstyle != "no":
            self._explain(terminalreporter)
        yield
        for verdict in self.verdicts():
            terminalreporter.write_line(f"tau: {verdict}", green=verdict.met, red=not verdict.met)
        failing, broken = (len(terminalreporter.stats.get(name, ())) for name in ("failing", "broken"))
        told = [f"{number} {name}" for number, name in ((failing, "failing"), (broken, "broken")) if number]
        if told:
            what = "the gates decide" if self._gates else "only a regression does"
            shown = "" if self._explained(terminalreporter) else " (-rx explains each)"
            terminalreporter.write_line(f"tau: {' and '.join(told)}: no single trial fails the run, {what}{shown}")
        if broken and not any(gate.name == "errors" for gate in self._gates):
            left = "tau: broken trials have no verdict and are left out; --tau-gate 'errors<=0' has them fail the run"
            terminalreporter.write_line(left, yellow=True)

    def _explained(self, terminal: Any) -> bool:
        return "x" in terminal.reportchars or not all(verdict.met for verdict in self.verdicts())

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        """A gate that is missed fails the run."""
        yield
        if hasattr(self._config, "workerinput") or session.exitstatus != pytest.ExitCode.OK:
            return
        if not all(verdict.met for verdict in self.verdicts()):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def verdicts(self) -> list[Verdict]:
        """Of every gate, once all is reported; none where nothing of ours was run."""
        records = records_of(self._config)
        if self._found is None and records:
            from ...analysis.gates import by_task

            tasks = by_task(records, self._early.planned if self._early and self._early.stopped else None)
            self._found = [gate.verdict(tasks) for gate in self._gates]
        return self._found or []

    def _explain(self, terminal: Any) -> None:
        for name in _TOLD:
            reports = terminal.stats.get(name, ())
            if reports:
                terminal.write_sep("=", f"{name.upper()} TRIALS")
            for report in reports:
                terminal.write_sep("_", report.head_line or report.nodeid)
                report.toterminal(terminal._tw)  # noqa: SLF001 - as pytest's own sections are written


def _message(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return crash.message if crash is not None else str(report.longrepr).strip().partition("\n")[0]
