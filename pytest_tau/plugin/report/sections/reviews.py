"""The section of the summary about reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...seams import SummaryBlock, SummaryLine
from ..records import records_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest


def register(config: pytest.Config) -> None:
    """Register the section."""
    config.pluginmanager.register(ReviewSection(config), "tau-reviews")


class ReviewSection:
    """Shows what the reviews of trials have found."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_tau_summary_lines(self) -> SummaryBlock:
        """Return the lines; none if no trial was reviewed."""
        return SummaryBlock("reviews", self._lines())

    def _lines(self) -> Iterator[SummaryLine]:
        records = [record for record in records_of(self._config) if record.review is not None]
        if not records:
            return
        from ....analysis.measures.reviews import review_lines

        for line in review_lines(records):
            missing = line.startswith("reviewer ")
            yield SummaryLine(f"tau: {line}", {"yellow": True} if missing else {})
