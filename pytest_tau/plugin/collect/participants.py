"""The participants that fixtures, hooks and markers have chosen in xdist workers, which show no header."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ..context.run_state import get_context
from ..report.header import chosen_participants, participant_lines
from ..seams import SummaryBlock, SummaryLine
from ..wire import give_output, is_worker, output_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def register(config: pytest.Config) -> None:
    """Register the note."""
    config.pluginmanager.register(WorkerParticipants(config), "tau-participants")


class WorkerParticipants:
    """Passes the participants on from the workers, and shows them in the summary.

    Args:
        config: pytest's configuration.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._chosen: dict[tuple[str, ...], int] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Give the controller the participants of this worker's trials; every worker has the same."""
        if is_worker(self._config):
            found = chosen_participants(session.items)
            give_output(self._config, participants=[[*names, number] for names, number in found.items()])

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker has given."""
        given = output_of(node).get("participants", [])
        self._chosen = {(agent, user): number for agent, user, number in given} or self._chosen

    def pytest_tau_summary_lines(self) -> SummaryBlock:
        """Return a line for each pair of agent and user that the header could not know."""
        return SummaryBlock("participants", self._lines())

    def _lines(self) -> Iterator[SummaryLine]:
        context = get_context(self._config)
        for line in participant_lines(context, self._chosen) if context is not None else ():
            yield SummaryLine(line)
