"""The properties of trials and domains in the file of ``--junitxml``: see docs/metrics.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ...text import one_line, visible
from ..compat import is_of_junit_file, junit_xml
from ..seams import SummaryLine

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from ...analysis.scores import Floor, Scores
    from ...analysis.summary import DomainSummary
    from ...runs.record import TrialRecord

#: Characters of the name of a domain with its variant.
_LONGEST = 200


def register(config: pytest.Config) -> None:
    """Register what adds the properties, and reports a file that cannot be written."""
    if getattr(config.option, "xmlpath", None):  # pytest may make its writer later
        config.pluginmanager.register(JUnitFile(config), "tau-junit")


class JUnitFile:
    """Adds the properties; fails a run whose file cannot be written, for which pytest prints a traceback instead."""

    def __init__(self, config: pytest.Config) -> None:
        self._config, self._problem = config, ""

    def pytest_tau_trial_reported(self, report: pytest.TestReport, record: TrialRecord) -> None:
        """Add the properties of a trial to its test case."""
        if junit_xml(self._config) is not None:
            report.user_properties += trial_properties(record)

    def pytest_tau_finished(self, summaries: Sequence[DomainSummary]) -> None:
        """Add the properties of the domains to the suite."""
        xml = junit_xml(self._config)
        if xml is not None:
            for name, value in suite_properties(summaries):
                xml.add_global_property(name, value)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        """Note the error of writing the file; it is written by the innermost call."""
        try:
            yield
        except OSError as error:
            if not is_of_junit_file(error):
                raise
            self._problem = error.strerror or str(error)
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return the error."""
        if self._problem:
            text = f"tau: the run failed: --junitxml {self._config.option.xmlpath} cannot be written: {self._problem}"
            yield SummaryLine(text, {"red": True})


def trial_properties(record: TrialRecord) -> list[tuple[str, object]]:
    """Return the properties that a test case has in addition to the user properties of its trial."""
    properties: list[tuple[str, object]] = [("tau_termination_reason", record.termination_reason)]
    properties += [("tau_seed", record.seed)] if record.seed is not None else []
    properties += [("tau_failed_checks", visible("; ".join(record.failed_checks)))] if record.failed_checks else []
    properties += [("tau_excluded", "true")] if record.excluded else []
    properties += [("tau_attempts", record.attempts)] if record.attempts > 1 else []
    properties += [("tau_turns", record.turns), ("tau_calls", record.calls)]
    if record.model_usage:
        properties.append(("tau_cost", "unknown" if record.cost is None else f"{record.cost:.6f}"))
    return [*properties, *([("tau_restored", "true")] if record.restored else [])]


def suite_properties(summaries: Sequence[DomainSummary]) -> list[tuple[str, str]]:
    """Return the properties of the suite, for each domain, and for each variant of its tests if there are several."""
    properties: list[tuple[str, str]] = []
    for summary in summaries:
        properties += _named(summary.name, summary.scores, summary.floor)
        for score in summary.variants.scores if summary.variants else ():
            properties += _named(f"{summary.name}[{score.name}]", score)
    return properties


def add_user_properties(config: pytest.Config, report: Any) -> None:
    """Add the user properties of a test that has no report on its teardown, with which pytest adds them."""
    xml = junit_xml(config)
    if xml is not None:
        case = xml.node_reporter(report)
        for name, value in report.user_properties:
            case.add_property(name, str(value))


def _named(name: str, scores: Scores, floor: Floor | None = None) -> list[tuple[str, str]]:
    """Return the properties of a domain or of a variant of its tests."""
    values = {"tasks": str(scores.tasks), "trials": str(scores.trials), "errors": str(scores.errors)}
    values |= {f"pass^{rate.k}": f"{rate.value:.6f}" for rate in scores.rates}
    if floor:
        values["floor"] = f"{floor.rate:.6f}"
    return [(f"tau.{one_line(name, _LONGEST)}.{key}", value) for key, value in values.items()]
