"""``--tau-html``: the report of the run, written by the process that reports, at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ..context.state import if_active
from ..options import Settings
from ..wire import results_folder
from .run_counts import denominators_of

if TYPE_CHECKING:
    from pathlib import Path

    from ...environment import Domain


def configure(config: pytest.Config) -> None:
    """Write a report in the end.

    Raises:
        pytest.UsageError: It cannot be written there, or the run keeps nothing that it could show.
    """
    if hasattr(config, "workerinput"):
        return
    settings = Settings(config)
    file: Path = settings.folder("html") / settings.get("html")
    if file.is_dir():
        raise pytest.UsageError(f"{settings.label('html')}: expected a file, got the folder {file}")
    if settings.get("results") == "none":
        told = f"shows what the run keeps, and {settings.label('results')} none keeps nothing"
        raise pytest.UsageError(f"{settings.label('html')}: {told}")
    config.pluginmanager.register(HtmlReport(config, file), "tau-html")


class HtmlReport:
    """Writes the report.

    Args:
        config: That of the process that reports.
        file: Where to.
    """

    def __init__(self, config: pytest.Config, file: Path) -> None:
        self._config, self._file = config, file
        self._told: str | None = None

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write it once the run's simulations are in one place, and tell where it is."""
        problem = self._write()
        start = self._config.invocation_params.dir
        shown = self._file.relative_to(start) if self._file.is_relative_to(start) else self._file
        if problem is None:
            terminalreporter.write_line(f"tau: report in {shown}")
        elif not self._config.option.collectonly:
            terminalreporter.write_line(f"tau: no report in {shown}: {problem}", red=True)

    def pytest_unconfigure(self) -> None:
        """Write it also where nothing is told at a terminal."""
        if not self._config.pluginmanager.has_plugin("terminalreporter"):
            self._write()

    def _write(self) -> str | None:
        """Write it; returns why there is none, if there is none."""
        from ...errors import ConfigurationError
        from ...reports.html import write_report
        from ...runs.reader import Run

        folder = results_folder(self._config)
        if folder is None or not any(folder.glob("simulations*.jsonl")):
            return "no simulation was run"
        try:
            run = Run(folder)
            # The run tells these itself only once its last line is told.
            if run.info:
                run.info["excluded"] = {**run.info.get("excluded", {}), **denominators_of(self._config).excluded}
            write_report(self._file, [run], _Domains(self._config))
        except (ConfigurationError, OSError) as error:
            return str(error)
        return None


class _Domains:
    """The run's domains, with its data; those of plugins among them."""

    def __init__(self, config: pytest.Config) -> None:
        self._active = if_active(config)

    def names(self) -> list[str]:
        from ...domains import domain_names

        return self._active.domain_names() if self._active else domain_names()

    def load(self, name: str) -> Domain:
        from ...domains import load_domain

        return self._active.domain(name) if self._active else load_domain(name)
