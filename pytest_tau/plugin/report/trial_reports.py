"""pytest's reports on trials: what is known of a trial, its explained failure, and their way from a worker.

As reports arrive in the process that reports, the facts are passed to the hooks of the plugin.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ...plain import json
from ...text import printable
from ..context.run_state import require_context, run_state
from ..items import get_item_state, is_task_item, item_state, spec_of
from ..wire import add_facts, from_data, is_worker, to_data, trial_report
from .junit import add_user_properties

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import TracebackType

    from ...models import Simulation
    from ...runs.record import TrialRecord
    from ..items import TaskSpec
    from ..wire import Gated

#: The title of the section about the simulation of a failed test function.
SIMULATION = "tau simulation"
#: Keys of the data of a report: JSON in one text, as execnet calls several functions for each value that it sends, and
#: the attachments, which have bytes.
_OWN, _ATTACHMENTS = "tau", "tau_attachments"


#: What the simulation is called in the frames of a test.
_SIMULATION = "tau_simulation"


def register(config: pytest.Config) -> None:
    """Register what passes the facts on."""
    config.pluginmanager.register(TrialReports(config), "tau-reports")


def records_of(config: pytest.Config) -> list[TrialRecord]:
    """Return the records of the trials that were reported so far, in order; none in a worker."""
    return list(run_state(config).counts.records.values())


class TrialReports:
    """Passes the facts of trials to the plugin's hooks; of a test that is run again, the last record counts."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._last: Any = None
        self._hint: str | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        """Pass the facts of a trial on, before pytest counts the report; that of a subtest is not the trial's."""
        trial = trial_report(report)
        if trial is not None and not is_worker(self._config) and not isinstance(report, pytest.SubtestReport):
            self._last = report
            self._pass_on(report)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Count the trial of a test that the end of the run has interrupted, as ``q`` in ``--pdb`` does.

        Such a test has no report on its teardown.
        """
        try:
            return (yield)
        except BaseException:
            self._count_interrupted(item)
            raise

    def _count_interrupted(self, item: pytest.Item) -> None:
        trial = trial_report(self._last)
        record = item_state(item).record if spec_of(item) is not None else None
        if record is None or trial is None or trial.record is not None or self._last.nodeid != item.nodeid:
            return
        report = copy.copy(self._last)
        report.when = "teardown"
        add_facts(report, record=record)
        self._pass_on(report)
        add_user_properties(self._config, report)

    def _pass_on(self, report: Any) -> None:
        trial, hook = report.tau, self._config.hook
        if report.when == "teardown":
            run_state(self._config).counts.ended.append((report.nodeid, replace(trial, attachments=None)))
        hook.pytest_tau_phase_reported(report=report, trial=trial)
        if trial.record is not None:
            hook.pytest_tau_trial_reported(report=report, record=trial.record)

    @pytest.hookimpl(tryfirst=True)
    def pytest_exception_interact(self, node: pytest.Item | pytest.Collector, call: pytest.CallInfo[None]) -> None:
        """Find the simulation in the frames of a failure, before pytest enters the debugger (``--pdb``)."""
        state = get_item_state(node) if isinstance(node, pytest.Item) else None
        excinfo = call.excinfo
        self._hint = _hint(excinfo.tb) if state is not None and state.simulation is not None and excinfo else None

    def pytest_enter_pdb(self) -> None:
        """Name the simulation that can be looked at in the debugger."""
        if self._hint is not None:
            self._config.get_terminal_writer().line(f"tau: {self._hint}", yellow=True)
            self._hint = None

    @pytest.hookimpl(wrapper=True)
    def pytest_report_to_serializable(self, report: Any) -> Generator[None, Any, Any]:
        """Add an explained failure and the facts of a trial to the data of a report."""
        data = yield
        if data is None:
            return data
        failure: Any = getattr(report, "longrepr", None)
        explained = None
        if hasattr(failure, "lines"):
            explained = [
                failure.reprcrash.message,
                [list(line) for line in failure.lines],
                failure.style,
                failure.is_error,
            ]
        trial = trial_report(report)
        facts = None if trial is None else to_data(trial)
        if facts is not None and (attachments := facts.pop("attachments", None)):
            data[_ATTACHMENTS] = attachments
        if explained is not None or facts is not None:
            data[_OWN] = json.dumps([explained, facts])
        return data

    @pytest.hookimpl(wrapper=True)
    def pytest_report_from_serializable(self, data: dict[str, Any]) -> Generator[None, Any, Any]:
        """Restore an explained failure and the facts of a trial from the data of a report."""
        explained, facts = json.loads(data.pop(_OWN, "[null, null]"))
        attachments = data.pop(_ATTACHMENTS, None)
        report = yield
        if explained is not None:
            from ..failure_repr import FailureRepr

            message, lines, style, is_error = explained
            report.longrepr = FailureRepr(message, lines, report.nodeid, style, is_error=is_error)
        if facts is not None:
            report.tau = from_data(facts if attachments is None else {**facts, "attachments": attachments})
        return report


def _hint(traceback: TracebackType | None) -> str | None:
    """Return the line for the frames of a traceback; None if none has the simulation."""
    there: list[bool] = []
    while traceback is not None:
        there.append(_SIMULATION in traceback.tb_frame.f_locals)
        traceback = traceback.tb_next
    if not any(there):
        return None
    steps = there[::-1].index(True)
    where = f"after '{'up' if steps == 1 else f'up {steps}'}', " if steps else ""
    return f"{where}{_SIMULATION} is the trial: try {_SIMULATION}.messages, .calls, .reward_info"


def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Explain the failure of a trial; add the simulation to the failure of a test function that ran one."""
    report, explained = (yield), None
    if report.failed and call.excinfo is not None and "_tau_spec" in getattr(item, "fixturenames", ()):
        # pytest asks the item only about failures of the call; a trial fails in the setup, too.
        from .failures import represent

        explained = represent(item, call.excinfo)
        report.longrepr = explained or report.longrepr
    spec = spec_of(item)
    if spec is None:
        return report
    from ...masking import mask_secrets

    state = item_state(item)
    simulation, trial = state.simulation, state.trial
    if report.when == "setup" and trial is not None:
        # It may have started before the setup in which the item waits for it.
        report.duration = max(report.duration, trial.elapsed)
    if report.when == "call" and simulation is not None and simulation.replay_differences:
        report.sections.append(("tau replay", printable("\n".join(simulation.replay_differences))))
    if (
        report.when == "call"
        and report.passed
        and simulation is not None
        and {*getattr(item.config.option, "reportchars", "")} & {*"AP"}
    ):
        report.sections += _capability_section(item.config, simulation)
    brief = getattr(item.config.option, "tbstyle", "auto") == "line"
    if report.failed and trial is not None and simulation is not None and not brief:
        from ..run.item_facts import fault_section

        report.sections += fault_section(trial, simulation)
    if report.failed and simulation is not None and not (explained or is_task_item(item) or brief):
        from ...diagnosis import explain, plain_text
        from ..capabilities import capabilities_of

        evaluators, capabilities = require_context(item.config).evaluators, capabilities_of(item.config)
        lines = explain(simulation, evaluators=evaluators, capabilities=capabilities)
        report.sections.append((SIMULATION, printable(plain_text(lines))))
    report.sections = [(title, mask_secrets(text, spec.config.models.args)) for title, text in report.sections]
    _add_facts(item, report)
    if report.failed and call.excinfo is not None:
        add_facts(report, gated=_gated(item, report, call.excinfo))
    return report


def _add_facts(item: pytest.Item, report: Any) -> None:
    """Add the facts of a trial that are known by now; to the last report of a test also the record."""
    state, spec = item_state(item), spec_of(item)
    facts = {name: value for name, value in vars(state.report).items() if value is not None}
    if state.simulation is not None:
        facts |= {"simulated": True, "interrupted": state.simulation.info.interrupted}
        facts["replay_differences"] = len(state.simulation.replay_differences or ())
        last = report.when == "teardown"
        facts["record"] = state.record if last else None
        if last and spec is not None and is_worker(item.config):  # the controller does not have the domain
            facts["floor"] = floor_of(spec)
    add_facts(report, **facts)


def floor_of(spec: TaskSpec) -> bool | None:
    """Return whether an agent that does nothing passes a task; None if that cannot be found out."""
    from ...evaluation import passes_without_agent

    try:
        evaluation = spec.config.simulation.evaluation
        return passes_without_agent(spec.task, spec.domain, evaluation.grading, solo=evaluation.solo)
    except Exception:  # noqa: BLE001 - a domain's code may raise anything, and the trial has reported it
        return None


def _gated(item: pytest.Item, report: Any, excinfo: pytest.ExceptionInfo[BaseException]) -> Gated | None:
    """Return the outcome of a failed trial, if a gate of its test or of the run decides instead of it."""
    from ..run.outcomes import HarnessError, TrialFailed

    has_gate = item_state(item).report.test_gate is not None
    if not has_gate and not item.config.pluginmanager.has_plugin("tau-gates"):
        return None
    if excinfo.errisinstance(HarnessError):
        return "broken"
    # A test function with a gate of its own may fail as it likes; that of a run is about trials alone.
    return "failing" if excinfo.errisinstance(TrialFailed) or (has_gate and report.when == "call") else None


def _capability_section(config: pytest.Config, simulation: Simulation) -> list[tuple[str, str]]:
    """Return the section of a passed trial with what capabilities say of it, which ``-rA`` shows."""
    from ...capability.calls import failure_lines

    active = require_context(config).config.simulation.capabilities
    asked_for = {capability.capability.name for capability in active if capability.is_asked_for}
    lines = [*failure_lines([capability.capability for capability in active], simulation, asked_for)]
    return [("tau capabilities", printable("\n".join(lines)))] if lines else []
