"""What a capability is given, and what it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from ..environment import Domain, Environment
    from ..models import Message, Requestor, Simulation, Task, ToolCall, ToolMessage


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


class Finding(str):
    """A line of a summary that is shown with ``-q``, too."""

    __slots__ = ()


class LateDetail(NamedTuple):
    """A detail of a summary that takes long to find out.

    Attributes:
        make: Returns its text, if it is shown; an empty one is not.
    """

    make: Callable[[], str]


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
        behaviour: What makes its simulated user difficult, a ``pytest_tau.participants.Behaviour``; None for
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
        tasks: All tasks that are checked, if it is about the domain itself.
    """

    domain: Domain
    task: Task | None
    gold: Simulation | None
    evaluation: Any
    tasks: Sequence[Task] = ()


class TrialStages:
    """What a capability does in one trial: each method is a stage, and those that are not overridden cost nothing.

    An object is made for each trial. The capabilities are called in the order of their registration. A
    ``CapabilityError`` of a stage of the conversation ends it without a verdict. After any other exception, the
    capability takes no further part in the trial, and reports name it; without ``beginning``, there is no
    verdict either.
    """

    def beginning(self) -> Any:
        """Return the beginning of the stored conversation that the trial continues; None for one of its own.

        It is a ``pytest_tau.Beginning``.
        """

    def begin(self, messages: Sequence[Message]) -> None:
        """Begin the conversation; called once, before the first message.

        Args:
            messages: What has been said so far if a stored conversation is continued, else nothing.
        """

    async def stopped(self, conversation: Any) -> Any:
        """Return the turn with which the conversation goes on after a side has stopped it; None if it is over.

        The first capability that returns one decides. Not called after any other ending, such as by a limit.

        Args:
            conversation: A ``pytest_tau.orchestrator.Conversation``: records messages, and replaces participants.

        Returns:
            The side that is next, ``agent`` or ``user``, and the message for it.
        """

    async def call(self, call: ToolCall) -> ToolMessage | None:
        """Return the result of a call instead of making it; None to make it.

        It has the time of a conversation for each call. The time of a call that it answers is not that of either side.
        """

    async def result(self, call: ToolCall, result: ToolMessage) -> ToolMessage:
        """Return what the caller sees of the result of a call that was made: the result, or another one."""
        del call
        return result

    def message(self, message: Message) -> None:
        """Observe a message that was added to the trajectory."""

    def limit(self) -> Any:
        """Return how the conversation ends if a limit of the capability is reached; None to let it go on.

        Called after each message of a side that has made no calls, and after the results of calls. A limit of the run
        and a stop take precedence.

        Returns:
            A ``pytest_tau.Ending("capability_limit", error="11 calls, the limit is 10")``. It has no other reason, and
            says what the limit is. The trial then fails, as one that is cut off by ``--tau-max-steps``.
        """

    def graded(self, simulation: Simulation) -> Any:
        """Return the facts of a trial whose verdict is known: an object of ``Capability.facts``; None for none.

        The object is a pydantic model, or is in ``TypedFacts`` with its stored form.

        May be ``async``, such as to ask a model. The verdict cannot be changed. Also called for a trial that ended in
        an error.

        Raises:
            CapabilityError: The trial has no verdict without the facts.
        """

    def ended(self, simulation: Simulation) -> Ruling | None:
        """Return what is to be done with an attempt that has a verdict, after ``graded``; None to let it count."""


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
        runs: Those of the given runs that count, each a ``pytest_tau.runs.Run``.
        fields: The fields of ``submission.json`` that follow from them.
        stock: The names in headers of τ²-bench's own agent and user, by ``agent_info`` and ``user_info``.
    """

    runs: list[Any]
    fields: dict[str, Any]
    stock: Mapping[str, str]


class Duplex:
    """Conversations in which both sides can speak at once: how they are led, read and submitted.

    An object is made once; what belongs to a trial is in its stages.
    """

    async def converse(self, stages: Any, conversation: Any) -> Any:
        """Lead a conversation instead of the core's loop of turns; the first capability that can does.

        Without its end there is no verdict: any exception but that of a participant is an error.

        Args:
            stages: The object of ``Capability.trial``.
            conversation: A ``pytest_tau.Conversation``: asks the sides, records messages, makes calls, and has the
                limits; an exception of a participant ends it as the fault of that side.

        Returns:
            How it ended, a ``pytest_tau.Ending``.
        """
        raise NotImplementedError

    def trajectory(self, duplex: Mapping[str, Any], header: Mapping[str, Any]) -> Trajectory | None:
        """Return the trajectory of a stored conversation; None for a format of others.

        Args:
            duplex: ``Simulation.duplex``.
            header: The header of its file.

        Raises:
            pydantic.ValidationError: It does not follow the format.
        """

    def submission(self, runs: Sequence[Any]) -> SubmittedRuns | None:
        """Return what ``tau submit`` makes of runs; None if it is nothing special.

        Raises:
            ConfigurationError: They cannot be submitted.
        """


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
        data: JSON that the function ``BLOCKS[name]`` of the script draws instead, given the data, the conversation and
            the second argument of ``messageLink``.
        script: The file of JavaScript with that function, by the name of the capability.
        media: A file of sound, which the function gets as its fourth argument: the address from the page, or null
            if it is not there any more.
    """

    title: str
    note: str = ""
    text: str = ""
    rows: Sequence[tuple[str, str]] = ()
    items: Sequence[PageItem] = ()
    place: Literal["panel", "box", "checks"] = "panel"
    data: Any = None
    script: Path | None = None
    media: Path | None = None


class TaskBlock(NamedTuple):
    """What the HTML report shows of a task: in the overview, and above each of its conversations.

    Attributes:
        block: The block; it is a box, whatever its place is.
        simulations: The ids of simulations of the task, which it links to; there is at least one.
    """

    block: PageBlock
    simulations: Sequence[str]


class TaskPages:
    """What a capability shows of the tasks of the HTML report; a new object for each report."""

    def add(self, run: Any, trial: Any, domain: str) -> None:
        """Take note of a simulation, which is not kept.

        Args:
            run: The ``pytest_tau.runs.Run`` that it is in.
            trial: The same, a ``pytest_tau.runs.StoredTrial``.
            domain: The name of its domain; empty if it is not known.
        """

    def blocks(self) -> Iterable[TaskBlock]:
        """Return the blocks, once all simulations were added."""
        return ()


class Measured(NamedTuple):
    """A trial and what a capability knows of it.

    Attributes:
        record: The record of the trial, a ``pytest_tau.runs.TrialRecord``.
        facts: The facts of the capability.
    """

    record: Any
    facts: Any


class FinishedRun:
    """A run whose trials are all reported; what is added to it is shown at the end.

    Attributes:
        settings: The settings of the capability; None if it has none.
        trials: All trials, each with the facts of the capability; None for a trial without facts.
        handle: The run, a ``pytest_tau.RunHandle``.
        lines: The lines that were added, and whether each fails the run.
    """

    def __init__(self, settings: Any, trials: Sequence[Measured], handle: Any = None) -> None:
        self.settings, self.trials, self.handle = settings, trials, handle
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
        tasks: The trials of each task that both have, of both runs; those of each variant of the tests alone.
        variants: Whether there are variants of the tests, which are not to be pooled.
    """

    before: Sequence[Measured]
    after: Sequence[Measured]
    tasks: Sequence[tuple[Sequence[Measured], Sequence[Measured]]]
    variants: bool = False
