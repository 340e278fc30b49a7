"""``--tau-html``: the HTML report of the run, written at its end by the process that reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ...runs.layout import simulation_files
from ...text import relative_path
from ..capabilities import capabilities_of
from ..context.run_state import get_context, run_state
from ..options import OptionValues
from ..seams import SummaryLine
from ..wire import is_worker

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ...environment import Domain


def register(config: pytest.Config) -> None:
    """Register the report.

    Raises:
        pytest.UsageError: The file is a folder, or the run stores no results.
    """
    if is_worker(config):
        return
    values = OptionValues(config)
    file: Path = values.get("html")
    if file.is_dir():
        raise pytest.UsageError(f"{values.label('html')}: expected a file, got the folder {file}")
    if values.get("results") == "none":
        problem = f"needs a stored run, but {values.label('results')} none stores nothing"
        raise pytest.UsageError(f"{values.label('html')}: {problem}")
    config.pluginmanager.register(HtmlReport(config, file), "tau-html")


class HtmlReport:
    """Writes the report."""

    def __init__(self, config: pytest.Config, file: Path) -> None:
        self._config, self._file = config, file

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return the line that names the report, which is written with the line: the last one of the summary."""
        problem = self._write()
        shown = relative_path(self._file, self._config.invocation_params.dir)
        if problem is None:
            yield SummaryLine(f"tau: report in {shown}")
        elif not self._config.option.collectonly:
            yield SummaryLine(f"tau: no report in {shown}: {problem}", {"red": True})

    def pytest_unconfigure(self) -> None:
        """Write the report also if there is no terminal."""
        if not self._config.pluginmanager.has_plugin("terminalreporter"):
            self._write()

    def _write(self) -> str | None:
        """Write the report; return the problem if it cannot be written."""
        from ...errors import ConfigurationError
        from ...reports.html import write_report
        from ...runs.reader import Run
        from .gates import decisions

        state = run_state(self._config)
        folder = state.paths.used_results
        if folder is None or not simulation_files(folder):
            return "no simulation was run"
        try:
            run = Run(folder)
            # These are added to the manifest only after this.
            if run.info:
                run.info["excluded"] = {**run.info.get("excluded", {}), **state.counts.excluded}
            known, decided = capabilities_of(self._config), decisions(self._config, details=False)
            write_report(self._file, [run], _Domains(self._config), known, decided)
        except (ConfigurationError, OSError) as error:
            return str(error)
        return None


class _Domains:
    """The domains of the run, with its data and those of plugins."""

    def __init__(self, config: pytest.Config) -> None:
        self._context = get_context(config)

    def names(self) -> list[str]:
        """Return the names of the domains."""
        from ...domains import domain_names

        return self._context.domain_names() if self._context else domain_names()

    def load(self, name: str, run: Mapping[str, Any] | None = None) -> Domain:
        """Return a domain as the run has it."""
        from ...domains import load_domain

        return self._context.domain(name) if self._context else load_domain(name)
