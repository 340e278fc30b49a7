"""Participants that fixtures, hooks and markers have chosen, in workers too, and the user that goes with an agent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ...errors import ConfigurationError
from ...text import listed, plural
from ..context.run_state import get_context
from ..makers import SIDES, maker
from ..options import OptionValues
from ..report.header import chosen_participants, is_undecided, participant_lines
from ..report.trial_reports import records_of
from ..seams import SummaryLine
from ..wire import give_output, is_worker, output_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ...models import Task
    from ..items import TaskSpec
    from ..wire import TrialReport


_NAMED = 5


def settle_user(
    specs: Sequence[TaskSpec], hooks: Any, fixtures: Mapping[str, Any], parameters: Collection[str] = ()
) -> list[TaskSpec]:
    """Return tasks with the knowledge of whether a hook or a fixture makes their agent.

    Args:
        specs: Tasks that have the same hooks and fixtures.
        hooks: The hooks of their collector.
        fixtures: Definitions of their fixtures, by name.
        parameters: Names of fixtures whose values the test gives itself.

    Raises:
        ConfigurationError: The scripted user would play by default, and a task has nothing to play from; or an option
            of simulated users does not apply to the user.
    """
    if not fixtures.keys() & {"tau_simulation", "tau_run"} or not specs:
        return list(specs)
    if maker("agent", hooks, fixtures, parameters) or "tau_run" in fixtures:  # which takes an agent as an argument
        specs = [spec._replace(config=replace(spec.config, own_agent=True)) for spec in specs]
    if not maker("user", hooks, fixtures, parameters):
        from ..context.model_checks import check_user_options

        for spec in specs:
            check_user_options(spec.config)
        _check_playable([spec.task for spec in specs if spec.config.user is None and _by_script(spec)])
    return list(specs)


def _by_script(spec: TaskSpec) -> bool:
    # An agent that says nothing but goodbye needs no user.
    user, agent = spec.config.user_spec, spec.config.agent_spec
    return bool(user == "scripted" and agent != "noop")


def _check_playable(tasks: Sequence[Task]) -> None:
    from ...participants.scripted import is_playable

    silent = [task.id for task in tasks if not is_playable(task)]
    if silent:
        raise ConfigurationError(
            f"the scripted user cannot play {plural(len(silent), 'task')} without a script and without a request in "
            f"the instructions: {listed([*map(repr, silent)], _NAMED)}: add --tau-user-llm MODEL, "
            "or give the task a script (user_scenario.script); --tau-user scripted runs such a task all the same, "
            "with a user that asks for nothing"
        )


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
        chosen = chosen_participants(session.items)
        if is_worker(self._config):
            give_output(self._config, participants=[[*names, number] for names, number in chosen.items()])
        self._made = dict(chosen)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker has given."""
        of_worker = output_of(node).get("participants", [])
        self._chosen = {(agent, user): number for agent, user, number in of_worker} or self._chosen
        self._made = self._chosen

    def pytest_tau_phase_reported(self, trial: TrialReport) -> None:
        """Note the roles whose models were called, by the conversation or by the test."""
        conditions = trial.record.conditions if trial.record is not None else None
        self._called |= {*(trial.usage.roles if trial.usage else ()), *(conditions or {}).get("models", ())}

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return a line for each pair of agent and user that the header could not know."""
        context = get_context(self._config)
        if context is not None:
            header = not is_undecided(self._config, context)
            yield from map(SummaryLine, participant_lines(context, self._chosen, header=header))
        values = OptionValues(self._config)
        for position, side in enumerate(SIDES):
            names_of_side = {names[position] for names in self._made}
            if (
                names_of_side
                and values.given(side) is not None
                and all(name.startswith(_MADE) for name in names_of_side)
            ):
                makers = ", ".join(sorted(names_of_side))
                yield SummaryLine(f"tau: {values.label(side)} is not used: {makers} makes the {side}", {"yellow": True})
        yield from self._unused_models(values)

    def _unused_models(self, values: OptionValues) -> Iterator[SummaryLine]:
        """Yield a line for each model that the command line names and no trial has called."""
        for role in ("agent", "user", "judge") if records_of(self._config) else ():
            key = f"{role}_llm"
            name = values.get(key)
            if name is not None and not values.from_ini(key) and role not in self._called:
                yield SummaryLine(f"tau: {values.label(key)} is not used: no trial called {name}", {"yellow": True})
