"""Trials among pytest's items: the task of an item, the state of its trial, and how node ids name trials."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from ..environment import Domain
    from ..models import Simulation, Task
    from ..runner import RunConfig

#: How the id of a trial looks: ``task[trial-0]``, or ``test[task-trial-0]``.
TRIAL_ID = re.compile(r"[\[-]trial-\d+[-\]]")


class TaskSpec(NamedTuple):
    """A task that is run: its domain, and the settings for it."""

    task: Task
    domain: Domain
    config: RunConfig


class StartedTrial(Protocol):
    """A trial that was started before its item's turn."""

    @property
    def inputs(self) -> Any:
        """Return what the trial runs with."""

    @property
    def elapsed(self) -> float:
        """Return the seconds that the trial took, once it has ended."""

    def wait(self) -> Simulation:
        """Wait for the trial and return its result."""


@dataclass
class ItemState:
    """The state of one item's trial.

    Attributes:
        prefetched: The trial, if it was started before the item's turn and its result is not used yet.
        simulation: The finished simulation, until it is reported.
        elapsed: Seconds that a prefetched trial took.
        restored: The simulation comes from an earlier run.
        cassette: The cassette that this trial has recorded.
        usage: The model calls of the test, by role, once they are known.
        serial_because: The fixture because of which the trial could not be prefetched.
        quarantine_entry: The number of the entry of the quarantine that names the task.
        not_run: Why the trial is skipped: ``budget`` or ``settled``.
        results_problem: Why the simulation could not be written to the run's folder.
    """

    prefetched: StartedTrial | None = None
    simulation: Simulation | None = None
    elapsed: float | None = None
    restored: bool = False
    cassette: Path | None = None
    usage: dict[str, Any] | None = None
    serial_because: str | None = None
    quarantine_entry: int | None = None
    not_run: str | None = None
    results_problem: str | None = None


#: The state of an item's trial.
TRIAL = pytest.StashKey[ItemState]()


def item_state(item: pytest.Item) -> ItemState:
    """Return the state of the item's trial; a blank one at the first call."""
    return item.stash.setdefault(TRIAL, ItemState())


def spec_of(item: pytest.Item) -> TaskSpec | None:
    """Return the task that an item runs; None for an item that runs none."""
    spec = getattr(item, "task_spec", None)
    call = getattr(item, "callspec", None)
    found: TaskSpec | None = spec if spec is not None or call is None else call.params.get("_tau_spec")
    return found


def is_task_item(item: pytest.Item) -> bool:
    """Return whether the item comes from a task file or a domain, as opposed to a test function."""
    return hasattr(item, "task_spec")


def trial_of(item: pytest.Item) -> int:
    """Return the number of the trial, from 0."""
    call = getattr(item, "callspec", None)
    number: int = item.trial if hasattr(item, "trial") else call.params.get("tau_trial", 0) if call else 0
    return number
