"""The tasks in doubt in the HTML report, counted as by ``tau doubts`` over the runs that it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...capability import PageBlock, PageItem, TaskBlock, TaskPages
from ...errors import ConfigurationError
from .evidence import in_words
from .runs import StoredEvidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...regrade import DomainSource
    from ...runs import Run, StoredTrial
    from .evidence import Doubt


class DoubtedTasks(TaskPages):
    """Counts how the simulations of the report end, and shows the tasks in doubt."""

    def __init__(self, domains: DomainSource) -> None:
        self._stored = StoredEvidence(domains, None, frozenset(domains.names()))
        self._no_evidence: set[tuple[str, str]] = set()

    def add(self, run: Run, trial: StoredTrial, domain: str) -> None:
        """Add a simulation, unless its domain is not known or its run was made on other data."""
        if (run.shown, domain) not in self._no_evidence:
            try:
                self._stored.add(run, trial, domain)
            except ConfigurationError:
                self._no_evidence.add((run.shown, domain))

    def blocks(self) -> Iterator[TaskBlock]:
        """Yield a block for each task in doubt, by falling score."""
        for doubt in self._stored.evidence.doubts():
            yield TaskBlock(_block(doubt, self._stored.findings(doubt)), doubt.examples)


def _block(doubt: Doubt, findings: list[str]) -> PageBlock:
    return PageBlock(
        "Task in doubt",
        in_words(doubt),
        rows=[("Score", f"{doubt.score:.2f}, the share of the agents' trials that end so, minus the share that pass")],
        items=[
            *(PageItem(difference, met=False) for difference in doubt.differs),
            *(PageItem(finding, head="tau lint") for finding in findings),
        ],
    )
