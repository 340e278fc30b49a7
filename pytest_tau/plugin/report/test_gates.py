"""``@pytest.mark.tau(at_least=…)``: the trials of a test pass or fail together.

A failed trial is tolerated as long as the gate can still be met. The first failed trial that puts it out of reach is a
failed test like any other, so that the exit status, ``-x`` and JUnit's XML need no rules of their own.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from ...text import plural, printable
from ..compat import mark_last_failed
from ..context.run_state import run_state, will_be_restored
from ..items import get_item_state, is_task_item, item_state, marker_arguments, spec_of
from ..wire import TestGate, is_worker, trial_report
from .gates import count_failure, explain, failing_gates, forget_subtests, gated, status, tolerate
from .terminal import write_wrapped

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

_REASON = "not run: the gate of the test is decided"
#: More gates that are met are counted instead of listed, except with ``-v``.
_LISTED = 10


def register(config: pytest.Config) -> None:
    """Register the gates of tests; the controller of workers knows of them by their reports only."""
    config.pluginmanager.register(TestGates(config), "tau-test-gates")


@dataclass
class _Trials:
    """The trials of a test with a gate of its own.

    Attributes:
        gate: The gate.
        outcomes: By node id, ``passed``, ``failing``, ``broken``, ``error``, ``skipped``, ``interrupted``, ``not run``.
    """

    gate: TestGate
    outcomes: dict[str, str] = field(default_factory=dict)

    def count(self, *outcomes: str) -> int:
        return sum(outcome in outcomes for outcome in self.outcomes.values())

    @property
    def lost(self) -> int:
        """Return how many trials have run and not passed."""
        return self.count("failing", "broken", "error")

    @property
    def open(self) -> int:
        """Return how many trials have not been run, or not to the end."""
        return self.gate.trials - len(self.outcomes) + self.count("interrupted", "not run")

    @property
    def met(self) -> bool | None:
        """Return whether the gate is met; None while that is open, and if the test has skipped all of its trials."""
        if self.lost > self.gate.allowed:
            return False
        if self.count("passed") >= self.gate.needed:
            return True
        if self.open:
            return None
        # Trials that the test itself has skipped do not count.
        ran = self.gate.trials - self.count("skipped")
        return self.count("passed") >= self.gate._replace(trials=ran).needed if ran else None

    def __str__(self) -> str:
        gate, passed = self.gate, self.count("passed")
        parts = [f"{passed} of {plural(passed + self.lost, 'trial')} passed"]
        parts += [plural(number, "error")] if (number := self.count("broken", "error")) else []
        parts += [f"{number} {word}" for word in ("skipped", "interrupted") if (number := self.count(word))]
        parts += [f"{number} not run"] if (number := self.open - self.count("interrupted")) else []
        verdict = {True: "met", False: "missed", None: "not decided"}[self.met]
        return f"{gate.name}: {', '.join(parts)}; at_least {gate.at_least:g} needs {gate.needed}: {verdict}"


class TestGates:
    """Decides on the trials of tests that have a gate of their own."""

    __test__ = False

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._tests: dict[str, _Trials] = {}
        self._session: pytest.Session | None = None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Give each item its gate, with the number of its trials."""
        self._session = session
        groups: dict[tuple[str, str, str], list[pytest.Item]] = {}
        for item in session.items:
            if _marked(item) is not None and (key := _group(item)) is not None:
                groups.setdefault(key, []).append(item)
        for key, items in groups.items():
            marked = _marked(items[0]) or {}
            test, parameters, task = key
            name = f"{test}[{'-'.join(part for part in (task, parameters) if part)}]"
            gate = TestGate(name, float(marked["at_least"]), len(items), bool(marked.get("stop_early", False)))
            for item in items:
                item_state(item).report.test_gate = gate

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Skip a trial, in a worker, if its controller has found the gate decided."""
        state = get_item_state(item)
        if is_worker(self._config) and (gate := state and state.report.test_gate) and gate.stop_early:
            file = self._mark(gate)
            if file is not None and file.exists():
                _skip(item)
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> Generator[None, None, None]:
        """Tolerate a failed trial while the gate can be met, in the process that reports; else let it fail the run.

        A worker passes it on as tolerated: it does not know the trials of the others.
        """
        trial = trial_report(report)
        gate = trial.test_gate if trial is not None else None
        if gate is None:
            yield
            return
        name = gated(report)
        if is_worker(self._config):
            if name is not None and report.failed:
                tolerate(report)
            yield
            return
        tests = self._tests.setdefault(gate.name, _Trials(gate))
        outcome = _outcome(report, name)
        if outcome is not None:
            tests.outcomes[report.nodeid] = outcome
        elif report.outcome == "rerun":
            forget_subtests(self._config, report.nodeid)
        if name is not None and report.outcome in ("failed", "skipped"):
            self._decide(report, tests)
        yield
        if gate.stop_early and report.when == "teardown" and tests.met is not None:
            self._stop(gate)

    def _decide(self, report: Any, tests: _Trials) -> None:
        if tests.lost <= tests.gate.allowed:
            tolerate(report)
            return
        count_failure(report)
        if isinstance(report, pytest.SubtestReport):
            return
        allowed = plural(tests.gate.allowed, "trial")
        text = (
            f"{tests.lost} of {plural(tests.gate.trials, 'trial')} have not passed; at_least={tests.gate.at_least:g} "
        )
        report.sections.append(("tau gate", printable(f"{text}allows {allowed}")))

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, Any] | None:
        """Return category, letter and word of a gated trial, whichever gate decides on it."""
        name = gated(report)
        if name is None or not report.skipped:
            return None
        return status(report, name)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Let ``--lf`` run all trials of a test again whose gate is missed, and none of one whose gate is met."""
        for tests in self._tests.values():
            if tests.met is False:
                for nodeid in tests.outcomes:
                    mark_last_failed(self._config, nodeid)

    def pytest_tau_exit_verdict(self) -> str | None:
        """Fail the run if a gate is missed, or not decided for lack of trials, whichever trials were counted."""
        return failing_gates(tests.met for tests in self._tests.values() if tests.open or tests.met is False)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, None, None]:
        """Explain the tolerated trials of missed gates; write the gates after the lines of other plugins."""
        if self._tests and self._config.option.tbstyle != "no":
            everything = "x" in terminalreporter.reportchars
            missed = {name for name, tests in self._tests.items() if tests.met is False}
            explain(terminalreporter, lambda report: _named(report) in (self._tests if everything else missed))
        yield
        for text, met in self._lines():
            markup = {"green": True} if met else {"red": True} if met is False else {"yellow": True}
            write_wrapped(terminalreporter, self._config, f"tau: {text}", **markup)

    def verdicts(self) -> list[tuple[str, bool | None]]:
        """Return a line for each gate, and whether it is met; None if it is not decided."""
        return [(f"gate of {tests}", tests.met) for tests in self._tests.values()]

    def _lines(self) -> Iterator[tuple[str, bool | None]]:
        verdicts = self.verdicts()
        met = [verdict for verdict in verdicts if verdict[1]]
        hidden = len(met) > _LISTED and self._config.get_verbosity() < 1
        yield from (verdict for verdict in verdicts if not (hidden and verdict[1]))
        if hidden:
            yield f"gates of tests: {len(met)} of {len(verdicts)} met (-v lists them)", True

    def _stop(self, gate: TestGate) -> None:
        """Skip the trials of a decided test that have not started."""
        if self._config.pluginmanager.has_plugin("tau-controller"):
            file = self._mark(gate)
            if file is not None:
                file.touch()
            return
        for item in self._session.items if self._session is not None else ():
            state = get_item_state(item)
            unfinished = item.nodeid not in self._tests[gate.name].outcomes
            if state is not None and state.report.test_gate is gate and unfinished:
                _skip(item)

    def _mark(self, gate: TestGate) -> Path | None:
        """Return the file that says, in the folder that controller and workers share, that a gate is decided."""
        paths = run_state(self._config).paths
        folder = paths.shared if is_worker(self._config) else paths.make_shared()
        return folder / f"decided-{hashlib.sha256(gate.name.encode()).hexdigest()[:24]}" if folder is not None else None


def _marked(item: pytest.Item) -> dict[str, Any] | None:
    """Return the arguments of an item's marker if it has a gate; they were checked at collection."""
    arguments = marker_arguments(item) if spec_of(item) is not None and not is_task_item(item) else {}
    return arguments if "at_least" in arguments else None


def _group(item: pytest.Item) -> tuple[str, str, str] | None:
    """Return the test, its parameters and the task, whose trials are one group."""
    from ...runs.groups import Group

    spec = spec_of(item)
    if spec is None:
        return None
    group = Group.of(item.nodeid, spec.domain.name, spec.task.id)
    return group.test, group.parameters, group.task_id


def _skip(item: pytest.Item) -> None:
    """Skip a trial that has not started and is not taken from an earlier run."""
    state = item_state(item)
    if state.prefetched is None and state.report.not_run is None and not will_be_restored(item):
        item.add_marker(pytest.mark.skip(reason=_REASON))
        state.report.not_run = "decided"


def _outcome(report: Any, name: str | None) -> str | None:
    """Return the outcome of a trial in the phase that decides it; None in any other phase."""
    if name is not None and report.outcome != "rerun":
        return name
    if isinstance(report, pytest.SubtestReport):
        return None  # one that has failed fails its trial
    trial = trial_report(report)
    if trial is not None and trial.interrupted:
        return "interrupted"
    if report.failed:
        return "error"
    if report.skipped:
        return "not run" if trial is not None and trial.not_run is not None else "skipped"
    return "passed" if report.passed and report.when == "call" else None


def _named(report: Any) -> str | None:
    trial = trial_report(report)
    return trial.test_gate.name if trial is not None and trial.test_gate is not None else None
