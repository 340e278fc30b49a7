"""``--tau-baseline RUN``: the comparison with an earlier run, which decides with ``--tau-fail-on regression``."""

from __future__ import annotations

import contextlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from ...capability.runs import run_of
from ...errors import ConfigurationError, TauError
from ...text import printable
from ..context.run_state import get_context, open_named_run, run_state
from ..options import OptionValues
from ..seams import SummaryLine
from ..wire import is_worker
from .trial_reports import records_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...analysis.compare import Comparison
    from ...analysis.run_records import RunRecords

#: The only result of a comparison that does not fail the run.
_NO_REGRESSION = "no regression"


def register(config: pytest.Config) -> None:
    """Register the comparison; read the baseline.

    Raises:
        pytest.UsageError: There is no such run, or it cannot be read.
    """
    values = OptionValues(config)
    if is_worker(config):
        return
    baseline = Baseline(config, decides=values.get("fail_on") == "regression")
    if get_context(config) is not None:
        try:
            baseline.read()
        except TauError as error:
            raise pytest.UsageError(str(error)) from error
    # Without a context, an ini key names it in a run that may have no tasks.
    config.pluginmanager.register(baseline, "tau-baseline")


class Baseline:
    """Compares the run with a baseline.

    Args:
        config: pytest's configuration.
        decides: Whether a regression fails the run.
    """

    def __init__(self, config: pytest.Config, *, decides: bool) -> None:
        self._config, self._decides = config, decides
        self._before: RunRecords | None = None
        self._problems: list[str] = []
        self._session: pytest.Session | None = None

    def read(self) -> RunRecords:
        """Return the baseline, read at the first call.

        Raises:
            ConfigurationError: There is no such run, or it cannot be read.
        """
        if self._before is not None:
            return self._before
        from ...analysis.run_records import RunRecords

        label = OptionValues(self._config).label("baseline")
        try:
            run = open_named_run(self._config, "baseline")
            self._before = RunRecords.of(run)
        except (TauError, OSError) as error:
            raise ConfigurationError(f"{label}: {error}") from error
        if not self._before.records:
            raise ConfigurationError(f"{label}: {run.path} has no trials")
        if run.problems:
            self._problems.append(f"{len(run.problems)} simulations of {run.name} cannot be read")
        return self._before

    def counts(self) -> tuple[str, list[tuple[str, str, str, str, int, int]]] | None:
        """Return the name of the baseline and how its groups have passed, if it decides; None if it cannot be read."""
        if not self._decides:
            return None
        from ...analysis.run_records import pass_counts

        try:
            before = self.read()
        except TauError:
            return None  # the comparison reports it
        return before.name, [(*group, *count) for group, count in pass_counts(before.records).items()]

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Store the session, which has the items."""
        self._session = session

    def pytest_report_header(self) -> list[str]:
        """Show the name of the baseline."""
        return [printable(f"tau: baseline: {self._before.name}")] if self._before is not None else []

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return the comparison with its warnings."""
        for line, colours in self.lines():
            yield SummaryLine(f"tau: {line}", colours)

    def conclusions(self) -> list[str]:
        """Return in one sentence for each variant whether it changed; nothing if nothing can be compared."""
        return self._comparison.conclusions() if self._comparison is not None else []

    def lines(self) -> list[tuple[str, dict[str, bool]]]:
        """Return the comparison, its warnings, and what it decides; each line with its colours."""
        comparison = self._comparison
        # If it is decided otherwise, the level of a single comparison says nothing.
        compared = comparison.lines(verdict=self._decided is None) if comparison else ()
        found: list[tuple[str, dict[str, bool]]] = [(line, {}) for line in compared]
        warnings = [*(comparison.warnings() if comparison is not None else ()), *self._problems]
        found += [(f"baseline: {warning}", {"yellow": True}) for warning in warnings]
        if self._decides and records_of(self._config):
            failed = self._fails()
            found.append((f"--tau-fail-on regression: {self._result()}", {"red": failed, "green": not failed}))
        return found

    def pytest_tau_exit_verdict(self) -> str | None:
        """Fail the run on a regression, or if none could be found; only if the baseline decides."""
        if not (self._decides and self._fails()):
            return None
        return "regression" if self._regression else "regression not decided"

    @cached_property
    def _decided(self) -> bool | None:
        """Return whether there is a regression, if this is not decided by the single comparison at the end."""
        decide = run_of(self._config).decide_regression
        return decide() if self._decides and decide else None

    @property
    def _regression(self) -> bool:
        if self._comparison is None:
            return False
        return self._comparison.regression if self._decided is None else self._decided

    def _fails(self) -> bool:
        """Return whether there is a regression, or trials that cannot be compared, or too few to find a regression."""
        return bool(records_of(self._config)) and self._result() != _NO_REGRESSION

    def _result(self) -> str:
        """Return what the comparison decides, in words."""
        comparison = self._comparison
        if self._regression:
            return "a regression"
        if comparison is None or not comparison.variants:
            return "nothing to compare"
        if comparison.undecided:
            return "not decided: " + "; ".join(comparison.undecided)
        return _NO_REGRESSION

    @cached_property
    def _comparison(self) -> Comparison | None:
        """Return the comparison of all reported trials, so read it at the end; None without trials or baseline."""
        records = records_of(self._config)
        if not records:
            return None
        try:
            before = self.read()
        except TauError as error:
            self._problems.append(str(error))
            return None
        from ...analysis.compare import Comparison
        from ...analysis.run_records import RunRecords

        return Comparison(before, RunRecords("this run", records, self._own_info()))

    def _own_info(self) -> dict[str, Any]:
        """Return this run's manifest: that of its folder, or what it would be if results were stored."""
        from ...runs.manifest import read_manifest
        from ..store.manifest import build_manifest

        state = run_state(self._config)
        folder, context = state.paths.used_results, state.context
        info: dict[str, Any] = {}
        if folder is not None:
            with contextlib.suppress(TauError):  # resuming the run reports the error
                info = read_manifest(folder)
        if not info and context is not None and self._session is not None and self._session.items:
            info = build_manifest(self._session, context.config, state.paths, state.counts)
        return info
