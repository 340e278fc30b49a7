"""The trial of a test item, as capabilities see it."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ..context.run_state import require_context, will_be_restored
from ..items import get_item_state, group_of, home_of, is_of_domain, is_task_item, item_state, trial_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...chat import LLM, Role, Tape
    from ...environment import Environment
    from ...models import Simulation
    from ...runs.groups import Group
    from ..items import TaskSpec


class ItemTrial:
    """The trial of an item.

    Args:
        item: The test item.
        spec: The task of the item.
    """

    def __init__(self, item: pytest.Item, spec: TaskSpec) -> None:
        self._item, self._spec = item, spec

    @property
    def task(self) -> TaskSpec:
        """The task that is run."""
        task = (getattr(self._item, "funcargs", None) or {}).get("tau_task")  # None once pytest has torn it down
        return self._spec if task is None else self._spec._replace(task=task)

    @property
    def number(self) -> int:
        """The number of the trial."""
        return trial_of(self._item)

    @property
    def group(self) -> Group | None:
        """The trials that it is pooled with."""
        return group_of(self._item)

    @property
    def is_of_task(self) -> bool:
        """Whether the item comes from a task file or a domain."""
        return is_task_item(self._item)

    @property
    def is_of_domain(self) -> bool:
        """Whether the item comes from a domain."""
        return is_of_domain(self._item)

    @property
    def home(self) -> Path:
        """The file of the item, or the folder of a domain's."""
        return home_of(self._item)

    @property
    def simulation(self) -> Simulation | None:
        """The finished simulation."""
        state = get_item_state(self._item)
        return state.simulation if state else None

    @property
    def is_started(self) -> bool:
        """Whether the trial has started before its item runs."""
        state = get_item_state(self._item)
        return state is not None and state.prefetched is not None

    @property
    def is_restored(self) -> bool:
        """Whether the simulation is that of an earlier run."""
        state = get_item_state(self._item)
        return (state is not None and state.is_restored) or will_be_restored(self._item)

    def environment(self) -> Environment:
        """Return a new environment."""
        from ..run.setup import make_environment

        return make_environment(self._item, self.task)

    def skip(self, reason: str) -> None:
        """Skip the trial, which counts as not run."""
        self._item.add_marker(pytest.mark.skip(reason=reason))
        item_state(self._item).report.not_run = "settled"

    def command(self, *, recorded: bool = False) -> str:
        """Return the command that runs the trial again."""
        from ..rerun_command import rerun_command

        return rerun_command(self._item, recorded=recorded)

    def model(self, role: Role) -> LLM | None:
        """Return the model of a role."""
        return require_context(self._item.config).llm(role, self._item, self._spec.config)

    def tape(self, name: str) -> Callable[[], Tape | None]:
        """Return what opens a cassette next to that of the trial."""
        from ...chat import Identity
        from ..run.models import cassette_path, open_tape

        spec, number = self.task, self.number
        of_trial = Path(os.path.relpath(cassette_path(self._item, spec, number)))
        path = of_trial.with_name(f"{of_trial.name.removesuffix('.cassette')}.{name}.cassette")
        seed = require_context(self._item.config).seed(number)
        identity = Identity(spec.domain.name, spec.task.id, number, seed, {})
        return partial(open_tape, self._item, spec.config.models.tape, path, identity)
