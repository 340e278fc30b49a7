"""The participants that fixtures, hooks and markers have chosen: in xdist workers, and where an option is not used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ..context.run_state import get_context
from ..makers import SIDES
from ..options import OptionValues
from ..report.header import chosen_participants, is_undecided, participant_lines
from ..report.records import records_of
from ..seams import SummaryBlock, SummaryLine
from ..wire import give_output, is_worker, output_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..wire import TrialReport

#: How the text of a participant begins that a fixture or a parameter makes, and no name; a hook may return None.
_MADE = ("fixture ", "parameter ")


def register(config: pytest.Config) -> None:
    """Register the note."""
    config.pluginmanager.register(ChosenParticipants(config), "tau-participants")


class ChosenParticipants:
    """Passes the participants on from the workers, and shows them and unused options in the summary."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._chosen: dict[tuple[str, ...], int] = {}
        self._made: dict[tuple[str, ...], int] = {}
        self._called: set[str] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note the participants of the trials; every worker gives the controller the same."""
        found = chosen_participants(session.items)
        if is_worker(self._config):
            give_output(self._config, participants=[[*names, number] for names, number in found.items()])
        self._made = dict(found)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker has given."""
        given = output_of(node).get("participants", [])
        self._chosen = {(agent, user): number for agent, user, number in given} or self._chosen
        self._made = self._chosen

    def pytest_tau_phase_reported(self, trial: TrialReport) -> None:
        """Note the roles whose models were called, by the conversation or by the test."""
        conditions = trial.record.conditions if trial.record is not None else None
        self._called |= {*(trial.usage or {}).get("roles", ()), *(conditions or {}).get("models", ())}

    def pytest_tau_summary_lines(self) -> SummaryBlock:
        """Return a line for each pair of agent and user that the header could not know."""
        return SummaryBlock("participants", self._lines())

    def _lines(self) -> Iterator[SummaryLine]:
        context = get_context(self._config)
        if context is not None:
            header = not is_undecided(self._config, context)
            yield from map(SummaryLine, participant_lines(context, self._chosen, header=header))
        values = OptionValues(self._config)
        for position, side in enumerate(SIDES):
            found = {names[position] for names in self._made}
            if found and values.given(side) is not None and all(name.startswith(_MADE) for name in found):
                made = ", ".join(sorted(found))
                yield SummaryLine(f"tau: {values.label(side)} is not used: {made} makes the {side}", {"yellow": True})
        yield from self._unused_models(values)

    def _unused_models(self, values: OptionValues) -> Iterator[SummaryLine]:
        """Yield a line for each model that the command line names and no trial has called."""
        for role in ("agent", "user", "judge") if records_of(self._config) else ():
            key = f"{role}_llm"
            name = values.get(key)
            if name is not None and not values.from_ini(key) and role not in self._called:
                yield SummaryLine(f"tau: {values.label(key)} is not used: no trial called {name}", {"yellow": True})
