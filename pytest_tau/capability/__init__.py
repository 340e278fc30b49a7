"""Capabilities: ideas that are a folder, and what the core asks of each.

The core is what a run needs that has no further idea. It loops over capabilities and names none. A bundled capability
is a folder of :mod:`pytest_tau.capabilities`; others come from the hook ``pytest_tau_capabilities`` and from the entry
point group ``pytest_tau.capabilities``. Every run of pytest imports this module, which imports nothing heavy: the other
public names are imported when they are asked for.
"""

from __future__ import annotations

import functools
from importlib import import_module
from math import inf
from typing import IO, TYPE_CHECKING, Any

from ..rows import Row
from ..settings import (
    changed_values,
    declared,
    flag,
    integer,
    model_arguments,
    model_name,
    names,
    option,
    options_of,
    quoted,
    real,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from ..carried import carry
    from ..environment import DomainSpec
    from ..models import Simulation
    from ..settings import Option
    from ..stalls import within
    from .calls import columns_of, measured_by, recorded_in
    from .runs import ExplainedFailure, RunHandle, RunStore, RunTask, RunTrial, has_run, run_of
    from .views import (
        Compared,
        Detail,
        Duplex,
        Finding,
        FinishedRun,
        LateDetail,
        LintView,
        Measured,
        PageBlock,
        PageItem,
        Ruling,
        RunView,
        SubmittedRuns,
        TaskBlock,
        TaskPages,
        Trajectory,
        TrialStages,
        TrialView,
    )

#: Where the public names are that this module does not import itself.
_HOMES = {
    "carry": ".carried",
    "within": ".stalls",
    **dict.fromkeys(("columns_of", "measured_by", "recorded_in"), "calls"),
    **dict.fromkeys(("ExplainedFailure", "RunHandle", "RunStore", "RunTask", "RunTrial", "has_run", "run_of"), "runs"),
    **dict.fromkeys(("Compared", "Detail", "Duplex", "Finding", "FinishedRun", "LateDetail", "LintView"), "views"),
    **dict.fromkeys(("Measured", "PageBlock", "PageItem", "Ruling", "RunView", "SubmittedRuns", "TaskBlock"), "views"),
    **dict.fromkeys(("TaskPages", "Trajectory", "TrialStages", "TrialView"), "views"),
}

__all__ = [
    "Capability",
    "Command",
    "Compared",
    "Detail",
    "Duplex",
    "ExplainedFailure",
    "ExportFormat",
    "FactColumn",
    "Finding",
    "FinishedRun",
    "LateDetail",
    "LintView",
    "Measured",
    "PageBlock",
    "PageItem",
    "Ruling",
    "RunHandle",
    "RunStore",
    "RunTask",
    "RunTrial",
    "RunView",
    "SubmittedRuns",
    "TaskBlock",
    "TaskPages",
    "Trajectory",
    "TrialStages",
    "TrialView",
    "TypedFacts",
    "carry",
    "columns_of",
    "declared",
    "deferred",
    "flag",
    "has_run",
    "installed",
    "integer",
    "measured_by",
    "model_arguments",
    "model_name",
    "names",
    "option",
    "options_of",
    "quoted",
    "real",
    "recorded_in",
    "run_of",
    "text",
    "within",
]

#: The package of the bundled capabilities.
_HOME = "pytest_tau.capabilities"
#: Distributions announce a capability under this entry point group: ``name = "module:capability"``.
ENTRY_POINT_GROUP = "pytest_tau.capabilities"
#: The key of facts that could not be found: why.
PROBLEM = "problem"


class TypedFacts(dict[str, Any]):
    """The facts of a capability in their stored form, with the object that was stored or that was made of them.

    They are not changed in place, since the object would not be.

    Args:
        stored: The stored form.
        typed: The object, for everything that a capability is asked about its facts.
    """

    __slots__ = ("typed",)

    def __init__(self, stored: Mapping[str, Any], typed: Any) -> None:
        super().__init__(stored)
        self.typed = typed


class FactColumn(Row):
    """A column of the CSV file, the page, JUnit and the gates: a field of a capability's facts.

    Attributes:
        name: The name, in CSV, in JUnit (``tau_NAME``) and as a metric of gates. ``NAME.*`` is
            only a metric, ``NAME.KEY`` for each key of the field, a mapping.
        field: The field of the facts; the same as the name if it is empty.
        label: The head of the column in the page; without one, it is neither there nor in JUnit.
        kind: How the page shows a value: ``number``, ``seconds``, ``money``, ``score``, ``kept`` (a score of 1 or 0,
            as a word) or ``text``.
        metric: Whether the mean over trials is a metric of gates.
        most: The largest value that a trial can have.
        every: Whether the metric has trials that are excluded from rates, too.
        lacking: Why the metric has no value if no trial has one.
        apart: The beginning of the parameter of variants of tasks (``TrialView.variant``): the metric is over their
            trials, which count for no other metric but errors. Only columns of installed capabilities have it.
        events: The field with the events of a trial over which its value is a mean: their number, or the list of their
            values; ``FIELD.KEY`` for a part of a field. The metric is then over the events of all trials.
        percent: The percentile of these values that the metric is, from 1 to 100; 0 for their mean.
    """

    name: str
    field: str = ""
    label: str = ""
    kind: str = "number"
    metric: bool = False
    most: float = inf
    every: bool = False
    lacking: str = ""
    apart: str = ""
    events: str = ""
    percent: int = 0


class Command(Row):
    """A subcommand of ``tau``.

    Attributes:
        name: The name.
        group: The title under which ``tau --help`` lists it.
        help: What it does, for that list.
        add_parser: Declares it on the subparsers of ``argparse``; the default of its argument ``run`` carries it out,
            and returns the exit status. It raises a ``TauError`` or an ``OSError`` if it cannot.
        runs_pytest: Whether arguments after ``--`` are for pytest; they are its argument ``pytest``.
    """

    name: str
    group: str
    help: str
    add_parser: Callable[[Any], None]
    runs_pytest: bool = False


class ExportFormat(Row):
    """A format of ``tau export``.

    Attributes:
        name: The name, for ``--format``.
        help: What it is, for the help: ``otlp for traces``.
        write: Writes the simulations of a ``pytest_tau.runs.Run`` to a text file and returns how many; the third
            argument is the only domain whose simulations are meant, or None.
    """

    name: str
    help: str
    write: Callable[[Any, IO[str], str | None], int]


class Capability(Row):
    """An idea that a run can have, and everything that other parts need of it.

    Attributes:
        name: The name: the key of its facts, and of ``-p no:tau_NAME``.
        settings: A frozen dataclass whose fields are made by ``pytest_tau.option``; None for no settings.
        on: Returns whether the settings switch it on; by default if one of them differs from its default. A capability
            without settings is always on.
        title: What reports call it; by default its name.
        attempts: Returns the most attempts of a trial, given the settings; by default one.
        check: Raises a ``ValueError`` for settings that do not fit a run. Called once, after collection.
        domain: Returns the declaration that a run has instead of that of a domain, given the settings, the declaration,
            and the folder of ``--tau-data`` or None. Commands that read the run use the same.
        trial: Makes the stages of a trial.
        hooks: Makes an object with hooks of pytest, given pytest's configuration and the settings; it is registered as
            ``tau_NAME``; None for none. Raises a ``pytest.UsageError`` for settings that cannot be used.
        fixtures: Makes an object with fixtures, and with hooks, whatever the settings are; it is
            registered as ``tau_NAME_fixtures`` when the capability is added to the run, which imports its module.
        facts: Makes the facts of their stored form, a mapping; None to leave them as they are.
        columns: The columns of the facts.
        summary: Returns the lines of the summary of a domain, given its trials that have facts.
        comparison: Returns the lines of a comparison of two runs; by default the means of the metrics.
        finished: Called at the end of a run that has trials; adds lines to the summary, and may fail the run.
        failure: Returns the lines of the report of a failed trial, given its facts and its simulation; ``-rA`` and
            ``tau show`` have them for a passed one, too.
        commands: Its subcommands of ``tau``; those of a bundled capability and of an installed distribution are found.
        exports: Formats of ``tau export``.
        components: Returns its reward components, each a ``pytest_tau.evaluation.CustomComponent``, which grades where
            the reward basis of a task names it. Those of a bundled capability and of an installed distribution are
            found.
        duplex: Makes the object for conversations in which both sides can speak at once.
        lint: Checks a domain or a task of it for ``tau lint``; returns the ``pytest_tau.lint.Finding``s. A
            text is a line about the domain as a whole, with a figure.
        page: Returns the blocks of the HTML report for a trial, given its facts and its simulation.
        tasks: Makes the object that is given the simulations of the HTML report, and returns the blocks of its tasks.
            It is given the source of domains, a ``pytest_tau.regrade.DomainSource``.
    """

    name: str
    settings: type | None = None
    on: Callable[[Any], bool] | None = None
    title: str = ""
    attempts: Callable[[Any], int] | None = None
    check: Callable[[Any, RunView], None] | None = None
    domain: Callable[[Any, DomainSpec, Path | None], DomainSpec] | None = None
    trial: Callable[[TrialView], TrialStages] | None = None
    hooks: Callable[[Any, Any], object | None] | None = None
    fixtures: Callable[[], object] | None = None
    facts: Callable[..., Any] | None = None
    columns: tuple[FactColumn, ...] = ()
    summary: Callable[[Sequence[Measured]], Iterable[str | LateDetail]] | None = None
    comparison: Callable[[Compared], Iterable[str]] | None = None
    finished: Callable[[FinishedRun], None] | None = None
    failure: Callable[[Any, Simulation], Iterable[str]] | None = None
    commands: tuple[Command, ...] = ()
    exports: tuple[ExportFormat, ...] = ()
    components: Callable[[], Sequence[Any]] | None = None
    duplex: Callable[[], Duplex] | None = None
    lint: Callable[[LintView], Awaitable[Iterable[Any]]] | None = None
    page: Callable[[Any, Simulation], Iterable[PageBlock]] | None = None
    tasks: Callable[[Any], TaskPages] | None = None

    # A capability is the one object of its folder.
    __eq__, __hash__, __repr__ = object.__eq__, object.__hash__, object.__repr__

    @property
    def label(self) -> str:
        """Return what reports call it: ``first answer`` for ``first_answer``."""
        return self.title or self.name.replace("_", " ")

    def is_on(self, settings: Any) -> bool:
        """Return whether settings switch it on."""
        if self.on is not None:
            return self.on(settings)
        return self.settings is None or any(changed_values(settings))

    def with_settings(self, **settings: Any) -> ActiveCapability:
        """Return the capability switched on with settings, for ``SimulationSettings.capabilities``."""
        return ActiveCapability(self, None if self.settings is None else self.settings(**settings))

    def read(self, facts: dict[str, Any] | None) -> Any:
        """Return its facts of a trial; None if there are none, or they cannot be read.

        What is made of their stored form is kept there, for the next reader.

        Args:
            facts: The facts of all capabilities, by name.
        """
        if not isinstance(facts, dict) or not isinstance(stored := facts.get(self.name), dict) or PROBLEM in stored:
            return None
        if self.facts is None:
            return stored
        if not isinstance(stored, TypedFacts):
            try:
                stored = facts[self.name] = TypedFacts(stored, self.facts(**stored))
            except Exception:  # noqa: BLE001 - the file of another version, or code of others
                return None
        return stored.typed


class ActiveCapability(Row):
    """A capability that a run has, with its settings.

    Attributes:
        capability: The capability.
        settings: Its settings; None if it has none.
        variant: What it has made of the task of a trial; None for the task itself.
    """

    capability: Capability
    settings: Any
    variant: Any = None

    @property
    def is_asked_for(self) -> bool:
        """Return whether an option asks for it."""
        return self.settings is not None and any(changed_values(self.settings))


def deferred(place: str) -> Callable[..., Any]:
    """Return a function that imports ``module:attribute`` when it is first called, and calls that.

    It keeps the object of a bundled capability light, which is imported for its options.
    """
    function: Callable[..., Any] | None = None

    def call(*args: Any, **keywords: Any) -> Any:
        nonlocal function
        if function is None:
            module, _, name = place.partition(":")
            function = getattr(import_module(module), name)
        return function(*args, **keywords)

    return call


@functools.cache
def bundled() -> tuple[Capability, ...]:
    """Return the capabilities of this package."""
    return tuple(map(_bundled, import_module(_HOME).BUNDLED))


def bundled_at_start() -> tuple[Capability, ...]:
    """Return the capabilities of this package that every run of pytest has, also one without trials."""
    return tuple(map(_bundled, import_module(_HOME).AT_START))


def _bundled(name: str) -> Capability:
    capability: Capability = import_module(f"{_HOME}.{name}").capability
    return capability


def bundled_options() -> dict[str, Option]:
    """Return the options of the capabilities of this package, by key."""
    found = (option for each in bundled() if each.settings for option in options_of(each.settings))
    return {option.key: option for option in found}


def bundled_by_default() -> list[ActiveCapability]:
    """Return the capabilities of this package that their defaults switch on."""
    made = (ActiveCapability(each, each.settings() if each.settings else None) for each in bundled())
    return [each for each in made if each.capability.is_on(each.settings)]


@functools.cache
def counted_apart() -> tuple[str, ...]:
    """Return the beginnings of the parameters of variants that are counted apart (``FactColumn.apart``)."""
    return tuple({column.apart: None for each in installed() for column in each.columns if column.apart})


@functools.cache
def installed() -> tuple[Capability, ...]:
    """Return the bundled capabilities and those of installed distributions.

    Raises:
        ConfigurationError: An entry point cannot be loaded, or names something else.
    """
    from importlib.metadata import entry_points

    return (*bundled(), *(_load(entry) for entry in entry_points(group=ENTRY_POINT_GROUP)))


def _load(entry: Any) -> Capability:
    from ..errors import ConfigurationError

    try:
        found = entry.load()
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
        raise ConfigurationError(f"capability {entry.name!r} ({entry.value}): {problem}") from error
    if not isinstance(found, Capability):
        raise ConfigurationError(f"capability {entry.name!r} ({entry.value}): expected a Capability, got {found!r}")
    return found


@functools.cache
def reward_components() -> tuple[Any, ...]:
    """Return the reward components of installed capabilities."""
    return tuple(part for each in installed() if each.components is not None for part in each.components())


def stored_facts(facts: Any) -> dict[str, Any]:
    """Return facts in their stored form; that of a model keeps the model."""
    if isinstance(facts, TypedFacts):
        return facts
    dump = getattr(facts, "model_dump", None)
    return dict(facts) if dump is None else TypedFacts(dump(mode="json", round_trip=False), facts)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
