"""``--tau-summary markdown``: the summary as a page in Markdown, and annotations of failing tasks for GitHub."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...text import relative_path
from ..seams import SummaryLine
from .records import records_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from ...analysis.summary import DomainSummary
    from ..options import OptionValues

#: Variables that GitHub sets: the file that it shows as the summary of a job, its mark, and the folder of the checkout.
_STEP_SUMMARY, _ON_GITHUB, _CHECKOUT = "GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS", "GITHUB_WORKSPACE"


class MarkdownPage:
    """The page of one run.

    Args:
        config: pytest's configuration.
        file: The file of the page; None to print it.

    Attributes:
        file: The file of the page; None to print it.
    """

    def __init__(self, config: pytest.Config, file: Path | None) -> None:
        self._config, self.file = config, file

    @classmethod
    def of(cls, config: pytest.Config, values: OptionValues) -> MarkdownPage:
        """Return the page that the value of ``--tau-summary`` asks for.

        Raises:
            pytest.UsageError: The value is neither ``markdown`` nor ``markdown:FILE``.
        """
        file: str = values.get("summary")
        if file:
            return cls(config, values.folder("summary") / file)
        shown = os.environ.get(_STEP_SUMMARY)
        return cls(config, Path(shown) if shown else None)

    def lines(self, summaries: list[DomainSummary], failed: set[str]) -> Iterator[SummaryLine]:
        """Yield the page if it is printed, and the annotations if the run is a job on GitHub.

        Args:
            summaries: The summaries of the domains.
            failed: Node ids of the tests that have failed.
        """
        from ...reports.markdown import annotation_lines, failing_tasks

        if self.file is None:
            yield SummaryLine(self._text(summaries))
        if os.environ.get(_ON_GITHUB) == "true":
            # A failure that gates, an expected failure or the test itself allow is not an error of the run.
            counted = [record for record in records_of(self._config) if record.passed or record.test in failed]
            checkout = Path(os.environ.get(_CHECKOUT) or self._config.rootpath)
            for line in annotation_lines(failing_tasks(counted), self._config.rootpath, checkout):
                yield SummaryLine(line, command=True)

    def write(self, summaries: list[DomainSummary]) -> str | None:
        """Write the page to its file, if there is one; return why that failed, if it did."""
        if self.file is None or not summaries:
            return None
        # GitHub's file may contain pages of other steps.
        append = str(self.file) == os.environ.get(_STEP_SUMMARY)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a" if append else "w", encoding="utf-8") as page:
                page.write(self._text(summaries))
        except OSError as error:
            shown = relative_path(self.file, self._config.invocation_params.dir)
            return f"the summary cannot be written to {shown}: {error.strerror}"
        return None

    def _text(self, summaries: list[DomainSummary]) -> str:
        from ...reports.markdown import failing_tasks, markdown
        from ..capabilities import capabilities_of

        failing, decisions = failing_tasks(records_of(self._config)), self._decisions()
        return markdown(summaries, failing, decisions, capabilities_of(self._config))

    def _decisions(self) -> list[tuple[str, bool | None]]:
        """Return the lines of gates and baseline, and whether each is met; None for a line that decides nothing."""
        plugin = self._config.pluginmanager.get_plugin
        gates: Any = plugin("tau-gates")
        baseline: Any = plugin("tau-baseline")
        of_tests: Any = plugin("tau-test-gates")
        found: list[tuple[str, bool | None]] = [(str(each), each.met) for each in (gates.verdicts() if gates else ())]
        found += [(line, None) for line in (baseline.conclusions() if baseline else ())]
        found += of_tests.verdicts() if of_tests else []
        for line, colours in baseline.lines() if baseline else ():
            found.append((line, colours.get("green") if "green" in colours else None))
        return found
