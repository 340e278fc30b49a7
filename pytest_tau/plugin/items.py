"""Trials among pytest's items: the task of an item, the state of its trial, and how node ids name trials."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pytest

from ..text import visible
from .wire import TrialReport

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..environment import Domain
    from ..models import Simulation, Task
    from ..runner import RunConfig, Trial
    from ..runs.groups import Group
    from ..runs.record import TrialRecord

#: The most tests of a domain, a file or a marked test: items are all in memory.
MOST_ITEMS = 250_000
#: The part of a node id that names a trial: ``task[trial-0]``, or ``test[task-trial-0]``.
TRIAL_ID = re.compile(r"[\[-]trial-(\d+)[-\]]")
#: The arguments of the marker that select tasks of its domain.
_OF_DOMAIN = ("tasks", "split", "num_tasks")
#: The fixtures that run a trial.
_RUN_TRIALS = {"tau_simulation", "tau_run"}


class TaskSpec(NamedTuple):
    """A task that is run, with its domain and its settings; of a marked test, those of the marker.

    Attributes:
        task: The task.
        domain: Its domain.
        config: The settings.
        ambiguous: Whether the item id of a task of the same file or domain differs only by case: the names of the
            files of one of them get digits.
        skipped: Returns why the trials of a variant are skipped, or None; None for one whose trials are not.
    """

    task: Task
    domain: Domain
    config: RunConfig
    ambiguous: bool = False
    skipped: Callable[[], str | None] | None = None

    @property
    def parameters(self) -> list[str]:
        """Return the parameter of the variant in the ids of its items; none for the task itself."""
        variant = self.config.simulation.variant
        return [variant] if variant else []

    def variant(
        self, parameter: str, capability: str, value: Any, *, skipped: Callable[[], str | None] | None = None
    ) -> TaskSpec:
        """Return a variant of the task: see ``pytest_tau.capability.runs.RunTask``."""
        settings = self.config.simulation
        active = tuple(
            each.replaced(variant=value) if each.capability.name == capability else each
            for each in settings.capabilities
        )
        settings = replace(settings, capabilities=active, variant="-".join([*self.parameters, parameter]))
        return self._replace(config=replace(self.config, simulation=settings), skipped=skipped or self.skipped)

    def why_skipped(self) -> str | None:
        """Return why the trials are skipped; None if they are not."""
        return None if self.skipped is None else self.skipped()


class StartedTrial(Protocol):
    """A trial of an item that was started, as ``TrialFuture`` has it: what reports show of it.

    Attributes:
        trial: The trial.
        restored: Its simulation, if it was taken from the previous run.
        elapsed: Seconds that it took, once it has ended.
        fault: The exception of a participant that has ended the conversation; None if none has.
        is_taken: Whether the item has it: if the item is run again, it gets another one.
    """

    trial: Trial
    restored: Simulation | None
    elapsed: float
    fault: BaseException | None
    is_taken: bool


@dataclass
class ItemState:
    """What an item has of its trial in the process that runs it; made when the item is collected.

    What it has of a simulation is dropped once that is reported: thousands of them would fill the memory.

    Attributes:
        report: What is reported of the trial so far, but for its record.
        trial: The trial, once it is started: before the item is run, or by it.
        simulation: The finished simulation; that of the test, which may change it.
        record: The record of the simulation, made before the test and the hooks were given it.
        graded: The value of the fixture ``tau_task``, and the same task as it is run and graded.
    """

    report: TrialReport = field(default_factory=TrialReport)
    trial: StartedTrial | None = None
    simulation: Simulation | None = None
    record: TrialRecord | None = None
    graded: tuple[Task, TaskSpec] | None = None

    @property
    def prefetched(self) -> Any:
        """Return the ``TrialFuture`` that was started before the item ran, and that the item has not taken yet."""
        return self.trial if self.trial is not None and not self.trial.is_taken else None

    @property
    def is_restored(self) -> bool:
        """Return whether the simulation comes from a previous run."""
        return self.trial is not None and self.trial.restored is not None

    def drop(self) -> None:
        """Drop what is reported."""
        self.trial = self.simulation = self.record = None


_STATE = pytest.StashKey[ItemState]()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Make the state of an item that runs a trial."""
    if spec_of(item) is not None:
        item.stash[_STATE] = ItemState()


def item_state(item: pytest.Item) -> ItemState:
    """Return the state of the item's trial; the item must be one that runs a trial."""
    state = item.stash.get(_STATE, None)
    if state is None:  # an item that another plugin has added after collection
        state = item.stash[_STATE] = ItemState()
    return state


def get_item_state(item: pytest.Item) -> ItemState | None:
    """Return the state of the item's trial; None for an item that runs none."""
    return item.stash.get(_STATE, None)


def set_properties(item: pytest.Item, **properties: object) -> None:
    """Set the documented user properties of an item, replacing their previous values; None removes one."""
    from ..masking import mask_secrets

    item.user_properties[:] = [each for each in item.user_properties if each[0] not in properties]
    shown = {
        name: visible(mask_secrets(value)) if isinstance(value, str) else value for name, value in properties.items()
    }
    item.user_properties += [(name, value) for name, value in shown.items() if value is not None]


def spec_of(item: pytest.Item) -> TaskSpec | None:
    """Return the task that an item runs; None for an item that runs none."""
    spec = getattr(item, "task_spec", None)
    call = getattr(item, "callspec", None)
    found: TaskSpec | None = spec if spec is not None or call is None else call.params.get("_tau_spec")
    return found


def tau_markers(test: pytest.Item) -> list[pytest.Mark]:
    """Return the markers ``tau`` of a test, the closest first: of a function, its class and bases, its module."""
    found: list[pytest.Mark] = []
    for node in reversed(test.listchain()):
        markers = [mark for mark in node.own_markers if mark.name == "tau"]
        if len(markers) > 1 and isinstance(node, pytest.Class):  # pytest names those of base classes first
            inherited = [mark for base in node.obj.__mro__[1:] for mark in _own_marks(base)]
            markers.sort(key=lambda mark: next((at for at, each in enumerate(inherited, 1) if each is mark), 0))
        found += markers
    return found


def _own_marks(base: type) -> list[pytest.Mark]:
    marks = vars(base).get("pytestmark", [])
    decorators = marks if isinstance(marks, list | tuple) else [marks]
    return [each if isinstance(each, pytest.Mark) else each.mark for each in decorators]


def marker_arguments(test: pytest.Item) -> dict[str, Any]:
    """Return the arguments of a test's markers ``tau``: for each argument that of the closest marker that has it.

    Tasks that a marker selects are those of its domain: they do not apply if a closer marker names another domain.
    """
    merged: dict[str, Any] = {}
    for marker in reversed(tau_markers(test)):
        given = marker.kwargs
        if "domain" in merged and given.get("domain", merged["domain"]) != merged["domain"]:
            merged = {key: value for key, value in merged.items() if key not in _OF_DOMAIN}
        merged |= given
    return merged


def group_of(item: pytest.Item) -> Group | None:
    """Return the group of an item's trial; None for an item that runs none, such as a test of ``tau_env`` alone."""
    spec = spec_of(item)
    if spec is None or not _RUN_TRIALS & {*getattr(item, "fixturenames", ())}:
        return None
    from ..runs.groups import Group

    return Group.of(item.nodeid, spec.domain.name, spec.task.id)


def is_task_item(item: pytest.Item) -> bool:
    """Return whether the item comes from a task file or a domain, as opposed to a test function."""
    return hasattr(item, "task_spec")


def home_of(item: pytest.Item) -> Path:
    """Return the file of an item; the folder where pytest was started for one of a domain, which has no file."""
    return Path(item.config.invocation_params.dir) if is_of_domain(item) else item.path


def is_of_domain(item: pytest.Item) -> bool:
    """Return whether the item comes from a domain, as opposed to a task file or a test function."""
    return hasattr(item.parent, "selected")


def trial_of(item: pytest.Item) -> int:
    """Return the number of the trial, from 0."""
    call = getattr(item, "callspec", None)
    number: int = item.trial if hasattr(item, "trial") else call.params.get("tau_trial", 0) if call else 0
    return number
