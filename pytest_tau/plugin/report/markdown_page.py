"""``--tau-markdown``: the summary as a page in Markdown, and annotations of failing tasks for GitHub."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ...text import relative_path
from ..options import OptionValues
from ..seams import SummaryBlock, SummaryLine

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from ..seams import FinishedRun

#: Variables that GitHub sets: the file that it shows as the summary of a job, its mark, and the folder of the checkout.
_STEP_SUMMARY, _ON_GITHUB, _CHECKOUT = "GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS", "GITHUB_WORKSPACE"


def register(config: pytest.Config) -> None:
    """Register the page that ``--tau-markdown`` asks for."""
    values = OptionValues(config)
    file: str | None = values.given("markdown")
    if not file:
        return  # an empty text asks for none
    shown = os.environ.get(_STEP_SUMMARY)
    path = values.folder("markdown") / file if file != "-" else Path(shown) if shown else None
    config.pluginmanager.register(MarkdownPage(config, path), "tau-markdown")


class MarkdownPage:
    """The page of one run.

    Args:
        config: pytest's configuration.
        file: The file of the page; None to print it.
    """

    def __init__(self, config: pytest.Config, file: Path | None) -> None:
        self._config, self._file = config, file
        self._run: FinishedRun | None = None
        self._problem: str | None = None

    def pytest_tau_finished(self, run: FinishedRun) -> None:
        """Write the page to its file, if there is one."""
        self._run, self._problem = run, self._write(run)

    def pytest_tau_summary_lines(self) -> SummaryBlock:
        """Return the page if it is printed, and the annotations if the run is a job on GitHub."""
        return SummaryBlock("page", self._lines(self._run) if self._run is not None else ())

    def _lines(self, run: FinishedRun) -> Iterator[SummaryLine]:
        from ...reports.markdown import annotation_lines, failing_tasks

        if self._problem is not None:
            yield SummaryLine(f"tau: {self._problem}", {"red": True})
        if self._file is None:
            yield SummaryLine(self._text(run))
        if os.environ.get(_ON_GITHUB) == "true":
            # A failure that gates, an expected failure or the test itself allow is not an error of the run.
            counted = [record for record in run.records if record.passed or record.test in run.failed]
            checkout = Path(os.environ.get(_CHECKOUT) or self._config.rootpath)
            for line in annotation_lines(failing_tasks(counted), self._config.rootpath, checkout):
                yield SummaryLine(line, command=True)

    def _write(self, run: FinishedRun) -> str | None:
        """Write the page to its file, if there is one; return why that failed, if it did."""
        if self._file is None:
            return None
        # GitHub's file may contain pages of other steps.
        append = str(self._file) == os.environ.get(_STEP_SUMMARY)
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a" if append else "w", encoding="utf-8") as page:
                page.write(self._text(run))
        except OSError as error:
            shown = relative_path(self._file, self._config.invocation_params.dir)
            return f"the summary cannot be written to {shown}: {error.strerror}"
        return None

    def _text(self, run: FinishedRun) -> str:
        from ...reports.markdown import failing_tasks, markdown
        from ..capabilities import capabilities_of
        from .verdicts.decisions import decisions

        failing = failing_tasks(run.records)
        return markdown(run.summaries(), failing, decisions(self._config), capabilities_of(self._config))
