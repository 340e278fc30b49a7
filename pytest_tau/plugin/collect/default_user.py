"""The user that goes with the agent if none is named: who needs it, and whether it can play the tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...errors import ConfigurationError
from ...text import listed, plural
from ..makers import maker

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ...models import Task
    from ..items import TaskSpec

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
    from ...participants import is_playable

    silent = [task.id for task in tasks if not is_playable(task)]
    if silent:
        raise ConfigurationError(
            f"the scripted user cannot play {plural(len(silent), 'task')} without a script and without a request in "
            f"the instructions: {listed([*map(repr, silent)], _NAMED)}: add --tau-user-llm MODEL, "
            "or give the task a script (user_scenario.script); --tau-user scripted runs such a task all the same, "
            "with a user that asks for nothing"
        )
