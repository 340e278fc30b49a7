"""``--tau-markdown``: the summary as a page in Markdown, and annotations of failing tasks for GitHub."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ...text import relative_path
from ..options import OptionValues
from ..seams import SummaryLine

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    import pytest

    from ...analysis.summary import DomainSummary
    from ...runs.record import TrialRecord

#: Variables that GitHub sets: the file that it shows as the summary of a job, its mark, and the folder of the checkout.
_STEP_SUMMARY, _ON_GITHUB, _CHECKOUT = "GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS", "GITHUB_WORKSPACE"


def register(config: pytest.Config) -> None:
    """Register the page that ``--tau-markdown`` asks for."""
    values = OptionValues(config)
    file: str | None = values.given("markdown")
    if not file:
        return  # an empty text asks for none
    page = os.environ.get(_STEP_SUMMARY)
    path = values.folder("markdown") / file if file != "-" else Path(page) if page else None
    config.pluginmanager.register(MarkdownPage(config, path), "tau-markdown")


class MarkdownPage:
    """The page of one run.

    Args:
        config: pytest's configuration.
        file: The file of the page; None to print it.
    """

    def __init__(self, config: pytest.Config, file: Path | None) -> None:
        self._config, self._file = config, file
        self._text, self._problem = "", ""
        self._annotations: list[str] = []

    def pytest_tau_finished(
        self, records: Sequence[TrialRecord], failed: Container[str], summaries: Sequence[DomainSummary]
    ) -> None:
        """Write the page to its file, if there is one."""
        from ...reports.markdown import annotation_lines, failing_tasks, markdown
        from ..capabilities import capabilities_of
        from .gates import decisions

        failing = failing_tasks(records)
        self._text = markdown(summaries, failing, decisions(self._config), capabilities_of(self._config))
        if self._file is not None:
            self._write(self._file)
        if os.environ.get(_ON_GITHUB) == "true":
            # A failure that gates, an expected failure or the test itself allow is not an error of the run.
            counted = [record for record in records if record.passed or record.test in failed]
            checkout = Path(os.environ.get(_CHECKOUT) or self._config.rootpath)
            self._annotations = [*annotation_lines(failing_tasks(counted), self._config.rootpath, checkout)]

    def _write(self, file: Path) -> None:
        # GitHub's file may contain pages of other steps.
        append = str(file) == os.environ.get(_STEP_SUMMARY)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a" if append else "w", encoding="utf-8") as page:
                page.write(self._text)
        except OSError as error:
            path = relative_path(file, self._config.invocation_params.dir)
            self._problem = f"the summary cannot be written to {path}: {error.strerror}"

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return the page if it is printed, and the annotations if the run is a job on GitHub."""
        if self._problem:
            yield SummaryLine(f"tau: {self._problem}", {"red": True})
        if self._file is None and self._text:
            yield SummaryLine(self._text)
        for line in self._annotations:
            yield SummaryLine(line, command=True)
