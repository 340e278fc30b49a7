"""The state of a run: one object on pytest's configuration. Asking for it builds nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ..options import OptionValues, repetitions
from ..store.paths import RunPaths
from ..store.run_counts import RunCounts

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...runs.reader import Run
    from ..items import TaskSpec
    from ..store.previous_run import PreviousRun
    from .run_context import RunContext


class SelectedDomain(NamedTuple):
    """A domain that is collected.

    Attributes:
        wanted: The node ids below it that the command line names; none for the whole domain.
        specs: Its selected tasks.
    """

    wanted: tuple[str, ...]
    specs: list[TaskSpec]


@dataclass
class MarkedNode:
    """A class or a module with a marker ``tau``.

    Attributes:
        idle: Its tests that use no fixture of the plugin.
        used: Whether another test of it uses one.
    """

    idle: list[pytest.Item] = field(default_factory=list)
    used: bool = False


@dataclass
class RunState:
    """The state of a run in one of its processes.

    Attributes:
        paths: The folders of the run.
        counts: The numbers of trials that are planned, run, and not run.
        context: The context of the trials, built by ``context.build``; None while nothing has needed tasks.
        selection: The domains that are collected, by name; set once, before collection.
        excluded: The named domains that are not collected, because the command line names paths below the project.
        previous: The run that this one continues.
        header_shown: Whether the settings were shown.
        usage_errors: The first collector with each mistake, by the text of the mistake.
        marked: The classes and modules with a marker ``tau``.
        models_checked: Whether the access to the models was checked.
        repetitions: How often pytest-repeat repeats each test; 1 if it is not active.
        concurrent: Whether this process runs trials of several items at the same time.
        prefetcher: The ``TrialPrefetcher``, made by ``run.loop``; None before the first item.
        is_part: Whether a capability runs a part of the trials, so that a comparison may have too few of them.
        upcoming: Returns an item and those that follow it, as far as this worker knows; None outside of a worker.
    """

    paths: RunPaths
    counts: RunCounts = field(default_factory=RunCounts)
    context: RunContext | None = None
    selection: dict[str, SelectedDomain] = field(default_factory=dict)
    excluded: tuple[str, ...] = ()
    previous: PreviousRun | None = None
    header_shown: bool = False
    usage_errors: dict[str, str] = field(default_factory=dict)
    marked: dict[pytest.Collector, MarkedNode] = field(default_factory=dict)
    models_checked: bool = False
    repetitions: int = 1
    concurrent: bool = False
    prefetcher: Any = None
    is_part: bool = False
    upcoming: Callable[[pytest.Item], list[pytest.Item]] | None = None


RUN = pytest.StashKey[RunState]()


def register(config: pytest.Config) -> None:
    """Make the state of the run, before anything else of the plugin is configured."""
    config.stash[RUN] = RunState(RunPaths(config), repetitions=repetitions(config) or 1)


def run_state(config: pytest.Config) -> RunState:
    """Return the state of the run."""
    return config.stash[RUN]


def open_named_run(config: pytest.Config, option: str) -> Run:
    """Open the stored run that an option names: by a path, or by a name below the folder of runs.

    Raises:
        ConfigurationError: There is no such run.
        OSError: A file cannot be opened.
    """
    from ...runs.reader import open_run

    values = OptionValues(config)
    named = values.get(option)
    paths = [home / named for home in (values.folder(option), run_state(config).paths.home) if home is not None]
    return open_run(next((path for path in paths if path.exists()), named), config.rootpath)


def will_be_restored(item: pytest.Item) -> bool:
    """Return whether an item's simulation will be taken from the previous run."""
    previous = run_state(item.config).previous
    return previous is not None and item in previous


def get_context(config: pytest.Config) -> RunContext | None:
    """Return the context of the run's trials; None while nothing has needed tasks."""
    return run_state(config).context


def require_context(config: pytest.Config) -> RunContext:
    """Return the context of the run's trials, once tasks were collected."""
    context = run_state(config).context
    assert context is not None, "tasks were collected"
    return context
