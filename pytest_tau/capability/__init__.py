"""Capabilities: ideas that are a folder, and what the core asks of each.

The core is what a run needs that has no further idea. It loops over capabilities and names none. A bundled capability
is a folder of :mod:`pytest_tau.capabilities`; others come from the hook ``pytest_tau_capabilities`` and from the entry
point group ``pytest_tau.capabilities``. Every run of pytest imports this module, which imports nothing heavy.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from math import inf
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

from ..settings import changed_values, options_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from ..environment import Domain, Environment
    from ..models import Message, Requestor, Simulation, Task, ToolCall, ToolMessage
    from ..settings import Option

#: Distributions announce a capability under this entry point group: ``name = "module:capability"``.
ENTRY_POINT_GROUP = "pytest_tau.capabilities"
#: The key of facts that could not be found: why.
PROBLEM = "problem"


class Ruling(NamedTuple):
    """What a capability wants to be done with an attempt of a trial that has a verdict.

    Attributes:
        reason: The reason, for the report.
        again: Whether the attempt is discarded and the trial run again, while it may have another attempt; else it is
            excluded from rates.
    """

    reason: str
    again: bool = False


class Detail(str):
    """A line that is shown if an option asks for its capability; one of a summary also with ``-v``.

    Lines that begin with a space, which belong to the one before, are shown in the terminal only.
    """

    __slots__ = ()


class TrialView(NamedTuple):
    """What a capability is given of a trial.

    Attributes:
        task: The task.
        domain: Its domain.
        environment: The databases and tools of this trial.
        seed: The seed of this trial; None for none.
        settings: The settings of the capability; None if it has none.
        agent: The name of its agent.
        retriever: The retrieval variant of its knowledge base, a ``pytest_tau.environment.retrieval.Retriever``; None
            without one.
        behaviour: What makes its simulated user difficult, a ``pytest_tau.participants.behaviours.Behaviour``; None for
            a user that cooperates.
        models: The models of the trial, a ``pytest_tau.chat.TrialModels``.
        variant: What the capability has made of the task; None for the task itself.
    """

    task: Task
    domain: Domain
    environment: Environment
    seed: int | None
    settings: Any
    agent: str = ""
    retriever: Any = None
    behaviour: Any = None
    models: Any = None
    variant: Any = None


class RunView(NamedTuple):
    """What a capability is given of a run.

    Attributes:
        tools: The tools, each by the side that has it and its name.
        agent: The agent, a specification or an object.
        user: The simulated user, likewise.
        solo: Whether the agent works alone.
    """

    tools: Sequence[tuple[Requestor, str]]
    agent: Any
    user: Any
    solo: bool


class LintView(NamedTuple):
    """What a capability is given of a domain, and of one of its tasks.

    Attributes:
        domain: The domain.
        task: The task; None for the domain itself.
        gold: A conversation in which the reference actions of the task were carried out.
        evaluation: How tasks are graded, a ``pytest_tau.evaluation.Evaluation``.
    """

    domain: Domain
    task: Task | None
    gold: Simulation | None
    evaluation: Any


class TrialStages:
    """What a capability does in one trial: each method is a stage, and those that are not overridden cost nothing.

    An object is made for each trial. The capabilities are called in the order of their registration.
    """

    def beginning(self) -> Any:
        """Return the beginning of the stored conversation that the trial continues; None for one of its own.

        It is a ``pytest_tau.runner.continuing.Beginning``.
        """

    def begin(self, messages: Sequence[Message]) -> None:
        """Begin the conversation; called once, before the first message.

        Args:
            messages: What has been said so far if a stored conversation is continued, else nothing.
        """

    async def converse(self, conversation: Any) -> Any:
        """Lead the conversation instead of the core's loop of turns; the first capability with this stage does.

        Args:
            conversation: A ``pytest_tau.orchestrator.Conversation``: asks the sides, records messages, makes calls, and
                has the limits; an exception of a participant ends it as the fault of that side.

        Returns:
            How it ended, a ``pytest_tau.orchestrator.Ending``.
        """
        raise NotImplementedError

    async def call(self, call: ToolCall) -> ToolMessage | None:
        """Return the result of a call instead of making it; None to make it."""

    async def result(self, call: ToolCall, result: ToolMessage) -> ToolMessage:
        """Return what the caller sees of the result of a call that was made: the result, or another one."""
        del call
        return result

    def message(self, message: Message) -> None:
        """Observe a message that was added to the trajectory."""

    def graded(self, simulation: Simulation) -> Any:
        """Return the facts of a trial whose verdict is known: an object of ``Capability.facts``; None for none.

        The verdict cannot be changed. Also called for a trial that ended in an error.
        """

    def ended(self, simulation: Simulation) -> Ruling | None:
        """Return what is to be done with an attempt that has a verdict, after ``graded``; None to let it count."""


class FactColumn(NamedTuple):
    """A column of the CSV file, the page, JUnit and the gates: a field of a capability's facts.

    Attributes:
        name: The name, in CSV, in JUnit (``tau_NAME``) and as a metric of gates. ``NAME.*`` is
            only a metric, ``NAME.KEY`` for each key of the field, a mapping.
        field: The field of the facts; the same as the name if it is empty.
        label: The head of the column in the page; without one, it is neither there nor in JUnit.
        kind: How the page shows a value: ``number``, ``seconds``, ``money``, ``score`` or ``text``.
        metric: Whether the mean over trials is a metric of gates.
        most: The largest value that a trial can have.
        every: Whether the metric has trials that are excluded from rates, too.
        lacking: Why the metric has no value if no trial has one.
    """

    name: str
    field: str = ""
    label: str = ""
    kind: str = "number"
    metric: bool = False
    most: float = inf
    every: bool = False
    lacking: str = ""


class Command(NamedTuple):
    """A subcommand of ``tau``.

    Attributes:
        name: The name.
        group: The title under which ``tau --help`` lists it.
        add_parser: Declares it on the subparsers of ``argparse``; the default of its argument ``run`` carries it out.
        runs_pytest: Whether arguments after ``--`` are for pytest; they are its argument ``pytest``.
    """

    name: str
    group: str
    add_parser: Callable[[Any], None]
    runs_pytest: bool = False


class ExportFormat(NamedTuple):
    """A format of ``tau export``.

    Attributes:
        name: The name, for ``--format``.
        help: What it is, for the help: ``otlp for traces``.
        write: Writes the simulations of a ``pytest_tau.runs.reader.Run`` to a text file and returns how many; the third
            argument is the only domain whose simulations are meant, or None.
    """

    name: str
    help: str
    write: Callable[[Any, IO[str], str | None], int]


class Trajectory(NamedTuple):
    """A stored conversation in which both sides can speak at once, in messages.

    Attributes:
        messages: What is graded and shown.
        judged: What a judge of statements reads.
        facts: The facts of the capability.
    """

    messages: list[Message]
    judged: list[Message]
    facts: Any


class SubmittedRuns(NamedTuple):
    """Runs of which a submission to τ²-bench's leaderboard is made in another way than of conversations in turns.

    The trajectories of each domain are a folder, with the sound of its simulations.

    Attributes:
        runs: Those of the given runs that count, each a ``pytest_tau.runs.reader.Run``.
        fields: The fields of ``submission.json`` that follow from them.
        stock: The names in headers of τ²-bench's own agent and user, by ``agent_info`` and ``user_info``.
    """

    runs: list[Any]
    fields: dict[str, Any]
    stock: Mapping[str, str]


class PageItem(NamedTuple):
    """An entry of a list in the HTML report.

    Attributes:
        text: The text.
        head: What is before it, in bold.
        note: What is below it, such as the reason.
        message_idx: The number of the message that it is about, which it links to; None for none.
        met: Whether it is good or bad; None for neither.
    """

    text: str
    head: str = ""
    note: str = ""
    message_idx: int | None = None
    met: bool | None = None


class PageBlock(NamedTuple):
    """What the HTML report shows of a trial, drawn as a part of its own.

    Attributes:
        title: The title.
        note: What is next to the title, in a few words.
        text: A paragraph.
        rows: Names and values.
        items: The entries of a list.
        place: ``panel`` is next to the conversation, ``box`` above it. ``checks`` adds the items to the checks, of
            which the title is the kind: each is also shown at its message.
        data: JSON that the function ``BLOCKS[name]`` of the capability's script draws instead, given the data, the
            conversation and the second argument of ``messageLink``.
    """

    title: str
    note: str = ""
    text: str = ""
    rows: Sequence[tuple[str, str]] = ()
    items: Sequence[PageItem] = ()
    place: Literal["panel", "box", "checks"] = "panel"
    data: Any = None


class Measured(NamedTuple):
    """A trial and what a capability knows of it.

    Attributes:
        record: The record of the trial, a ``pytest_tau.runs.record.TrialRecord``.
        facts: The facts of the capability.
    """

    record: Any
    facts: Any


class FinishedRun:
    """A run whose trials are all reported; what is added to it is shown at the end.

    Attributes:
        settings: The settings of the capability; None if it has none.
        trials: All trials, each with the facts of the capability; None for a trial without facts.
        lines: The lines that were added, and whether each fails the run.
    """

    def __init__(self, settings: Any, trials: Sequence[Measured]) -> None:
        self.settings, self.trials = settings, trials
        self.lines: list[tuple[str, bool]] = []

    def add(self, line: str) -> None:
        """Add a line to the summary."""
        self.lines.append((line, False))

    def fail(self, reason: str) -> None:
        """Fail the run, with a line that states the reason."""
        self.lines.append((reason, True))


class Compared(NamedTuple):
    """What two runs have of a capability.

    Attributes:
        before: The trials of the earlier run.
        after: The trials of the later one.
        tasks: The trials of each task that both have, of both runs; empty if there are variants of the tests.
    """

    before: Sequence[Measured]
    after: Sequence[Measured]
    tasks: Sequence[tuple[Sequence[Measured], Sequence[Measured]]]


@dataclass(frozen=True, repr=False, eq=False)
class Capability:
    """An idea that a run can have, and everything that other parts need of it.

    Attributes:
        name: The name: the key of its facts, and of ``-p no:tau_NAME``.
        settings: A frozen dataclass whose fields are made by ``pytest_tau.option``; None for no settings.
        on: Returns whether the settings switch it on; by default if one of them differs from its default. A capability
            without settings is always on.
        title: What reports call it; by default its name.
        attempts: Returns the most attempts of a trial, given the settings; by default one.
        check: Raises a ``ValueError`` for settings that do not fit a run. Called once, after collection.
        trial: Makes the stages of a trial.
        hooks: Makes an object with hooks of pytest, given pytest's configuration and the settings; it is registered as
            ``tau_NAME``; None for none. Raises a ``pytest.UsageError`` for settings that cannot be used.
        fixtures: Makes an object with fixtures, and with hooks for every run, whatever the settings are; it is
            registered as ``tau_NAME_fixtures`` at the start of pytest. Every run imports its module.
        facts: Makes the facts of their stored form, a mapping; None to leave them as they are.
        columns: The columns of the facts.
        summary: Returns the lines of the summary of a domain, given its trials that have facts.
        comparison: Returns the lines of a comparison of two runs; by default the means of the metrics.
        finished: Called at the end of a run that has trials; adds lines to the summary, and may fail the run.
        failure: Returns the lines of the report of a failed trial, given its facts and its simulation.
        head: Returns the lines above the conversation of a stored trial, given its facts and its simulation.
        commands: Its subcommands of ``tau``; those of a bundled capability and of an installed distribution are found.
        exports: Formats of ``tau export``.
        trajectory: Makes the trajectory of a conversation in which both sides can speak at once, given
            ``Simulation.duplex`` and the header of its file. Raises a ``pydantic.ValidationError`` if it cannot.
        submission: Returns what ``tau submit`` makes of runs; None if it is nothing special. Raises a
            ``ConfigurationError`` if they cannot be submitted.
        lint: Checks a domain or a task of it for ``tau lint``; returns the ``pytest_tau.lint.findings.Finding``s.
        page: Returns the blocks of the HTML report for a trial, given its facts and its simulation.
        script: The file with the functions that draw its blocks with data; None if there are none.
    """

    name: str
    settings: type | None = None
    on: Callable[[Any], bool] | None = None
    title: str = ""
    attempts: Callable[[Any], int] | None = None
    check: Callable[[Any, RunView], None] | None = None
    trial: Callable[[TrialView], TrialStages] | None = None
    hooks: Callable[[Any, Any], object | None] | None = None
    fixtures: Callable[[], object] | None = None
    facts: Callable[..., Any] | None = None
    columns: tuple[FactColumn, ...] = ()
    summary: Callable[[Sequence[Measured]], Iterable[str]] | None = None
    comparison: Callable[[Compared], Iterable[str]] | None = None
    finished: Callable[[FinishedRun], None] | None = None
    failure: Callable[[Any, Simulation], Iterable[str]] | None = None
    head: Callable[[Any, Simulation], Iterable[str]] | None = None
    commands: tuple[Command, ...] = ()
    exports: tuple[ExportFormat, ...] = ()
    trajectory: Callable[[Mapping[str, Any], Mapping[str, Any]], Trajectory] | None = None
    submission: Callable[[Sequence[Any]], SubmittedRuns | None] | None = None
    lint: Callable[[LintView], Awaitable[Iterable[Any]]] | None = None
    page: Callable[[Any, Simulation], Iterable[PageBlock]] | None = None
    script: Path | None = None

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

    def read(self, facts: Mapping[str, Any] | None) -> Any:
        """Return its facts of a stored trial; None if there are none, or they cannot be read."""
        if not isinstance(facts, dict) or not isinstance(found := facts.get(self.name), dict) or PROBLEM in found:
            return None
        try:
            return found if self.facts is None else self.facts(**found)
        except (TypeError, ValueError):  # the file of another version
            return None


class ActiveCapability(NamedTuple):
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
    """Return a function that imports ``module:attribute`` when it is called, and calls that.

    It keeps the object of a bundled capability light, which every run of pytest imports.
    """

    def call(*args: Any, **keywords: Any) -> Any:
        module, _, name = place.partition(":")
        return getattr(import_module(module), name)(*args, **keywords)

    return call


def bundled() -> tuple[Capability, ...]:
    """Return the capabilities of this package."""
    home = "pytest_tau.capabilities"
    return tuple(import_module(f"{home}.{name}").capability for name in import_module(home).BUNDLED)


def bundled_options() -> dict[str, Option]:
    """Return the options of the capabilities of this package, by key."""
    found = (option for each in bundled() if each.settings for option in options_of(each.settings))
    return {option.key: option for option in found}


def bundled_by_default() -> list[ActiveCapability]:
    """Return the capabilities of this package that their defaults switch on."""
    made = (ActiveCapability(each, each.settings() if each.settings else None) for each in bundled())
    return [each for each in made if each.capability.is_on(each.settings)]


@functools.cache
def installed() -> tuple[Capability, ...]:
    """Return the bundled capabilities and those of installed distributions.

    Raises:
        ConfigurationError: An entry point cannot be loaded, or names something else.
    """
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


def trajectory_of(duplex: Mapping[str, Any], header: Mapping[str, Any]) -> Trajectory | None:
    """Return the trajectory of a conversation in which both sides can speak at once; None if no capability has it.

    Args:
        duplex: ``Simulation.duplex``.
        header: The header of its file.

    Returns:
        Its facts are in their stored form, by the name of the capability.

    Raises:
        pydantic.ValidationError: It does not follow the format.
    """
    for each in installed():
        if each.trajectory is not None:
            found = each.trajectory(duplex, header)
            return found._replace(facts={each.name: stored_facts(found.facts)})
    return None


def judged_messages(simulation: Simulation) -> Sequence[Message]:
    """Return what a judge of statements reads of a simulation."""
    found = None if simulation.duplex is None else trajectory_of(simulation.duplex, {})
    return simulation.messages if found is None else found.judged


def submitted_runs(runs: Sequence[Any]) -> SubmittedRuns | None:
    """Return what a capability makes of runs that are submitted; None if they are conversations in turns.

    Raises:
        ConfigurationError: They cannot be submitted.
    """
    found = (each.submission(runs) for each in installed() if each.submission is not None)
    return next((each for each in found if each is not None), None)


def stored_facts(facts: Any) -> dict[str, Any]:
    """Return facts in their stored form."""
    dump = getattr(facts, "model_dump", None)
    return dict(facts) if dump is None else dump(mode="json", round_trip=False)
