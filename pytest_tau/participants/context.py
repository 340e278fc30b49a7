"""Protocols of agents, users and participants, and the context that a participant is built from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from ..models import AssistantMessage, MultiToolMessage, Task, ToolMessage, UserMessage
from ..protocol import TAU, Protocol as ModelProtocol

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ..chat import TrialModel, TrialModels
    from ..environment import Tool
    from ..environment.environment import Outcome
    from ..environment.functions.patching import Patches
    from ..models import Message, Spoken
    from .behaviours import Behaviour
    from .task_views import AgentTask, UserTask

Side: TypeAlias = Literal["agent", "user"]
#: Messages that a participant answers: the other side's text, or the results of its own last tool calls.
Incoming: TypeAlias = AssistantMessage | UserMessage | ToolMessage | MultiToolMessage
Reply: TypeAlias = AssistantMessage | UserMessage


class Agent(Protocol):
    """The first form of an agent: a class, built once for each simulation.

    Its constructor may ask, by name, for ``tools``, ``policy``, ``task``, ``seed``, ``model``, ``llm``,
    ``llm_args`` and ``history``. It may define ``is_stop(message)`` to end the conversation, ``greeting``, and
    ``close()``. ``task`` is an ``AgentTask``, or the whole task if the class has ``needs_reference = True``; reports
    then say that the agent was given the reference actions. All that it receives are copies.
    """

    def respond(self, message: Any) -> Any:
        """Return the next message: an ``AssistantMessage``, a string, or a dict in OpenAI chat format; sync or async.

        Args:
            message: The user's message, or the results of the agent's last tool calls: a ``ToolMessage`` for one
                call, a ``MultiToolMessage`` for several.
        """
        ...


class User(Protocol):
    """The first form of a user; like ``Agent``, with ``instructions`` instead of ``policy`` and a ``UserTask``."""

    def respond(self, message: Any) -> Any:
        """Return the next message: a ``UserMessage``, a string, or a dict in OpenAI chat format; sync or async."""
        ...


class Participant(Protocol):
    """One side of a conversation, as the orchestrator drives it."""

    async def respond(self, message: Incoming) -> Reply:
        """Return the side's next message."""
        ...

    def is_stop(self, message: Reply) -> bool:
        """Return whether this message of the side's own, which is that of the trajectory, ends the conversation."""
        ...

    async def close(self) -> None:
        """Release the participant's resources."""
        ...


def trailing_results(history: list[Message]) -> list[ToolMessage]:
    """Return the tool results that a history ends with, in order."""
    results: list[ToolMessage] = []
    for message in reversed(history):
        if not isinstance(message, ToolMessage):
            break
        results.insert(0, message)
    return results


@dataclass(frozen=True)
class Prompting:
    """The prompt, the context budget and the tool protocol of a model that plays one side.

    But for the texts, its fields are those of ``PromptingSettings``, without the side.

    Attributes:
        name: The prompt's name in reports: ``built in``, or the file's name.
        prompt: Template of the system message; None for the built-in one.
        tools_prompt: Another template for a side that has tools; None for ``prompt``.
        context: Budget of each request; the oldest messages beyond it are not sent. None for no limit.
        tool_calls: How the model calls tools: ``native``, or ``text``, by a protocol of this package.
        one_call: Only the first call of a message is made.
        text_protocol: How the text of ``act`` and ``react`` is read: ``tolerant``, or ``tau1`` for τ-bench's rules.
        examples: The file or the run with the examples of ``few-shot``; None if there is none.
        num_examples: The number of examples in a prompt.
        attempts: The most attempts of a user that checks its replies; None for the default of the strategy.
    """

    name: str = "built in"
    prompt: str | None = None
    tools_prompt: str | None = None
    context: int | None = None
    tool_calls: str = "native"
    one_call: bool = False
    text_protocol: str = "tolerant"
    examples: Path | None = None
    num_examples: int = 5
    attempts: int | None = None


@dataclass(frozen=True)
class ParticipantContext:
    """The facts that a participant may know.

    Attributes:
        side: The side that it plays.
        tools: The tools that it can call.
        instructions: The policy for an agent, the scenario for a user.
        task: What the side may know of the task; the whole task if the participant declares ``needs_reference``.
        seed: The trial's seed.
        history: The conversation so far, oldest first: the greeting, or the task's message history.
        continues: The history is the task's message history.
        solo: The agent works alone, from the ticket.
        trial: The number of the trial.
        models: The models of the trial; None if there are none.
        prompting: The prompting of a model that plays this side.
        persona: How a simulated user behaves, by key; empty for no persona.
        behaviour: What makes a simulated user difficult; None for a user that cooperates.
        protocol: The texts that a model reads, and the form in which they are sent.
        domain_agents: The agents that the domain has, by name.
        spoken: The words by which people ask for the user's tools, by tool; for users without a model.
        make_tools: Asks the plugins of the run for tools as objects of a framework, by its name.
        other_loop: Returns an event loop for model calls outside of the conversation.
        agent_trial: The trial for an agent that runs its own loop, if it was made before the conversation.
        patches: Where the agent finds the functions that are its tools; None if it is given its tools.
        keep_outcomes: Lets the environment keep what calls return, by their ids.
        program_env: The names of environment variables that an agent which is a program is given in addition.
    """

    side: Side
    tools: list[Tool]
    instructions: str
    task: Task | AgentTask | UserTask
    seed: int | None = None
    history: list[Message] = field(default_factory=list)
    solo: bool = False
    trial: int = 0
    models: TrialModels | None = None
    prompting: Prompting = field(default_factory=Prompting)
    domain_agents: Mapping[str, type | str] = field(default_factory=dict)
    spoken: Mapping[str, Spoken] = field(default_factory=dict)
    persona: Mapping[str, str] = field(default_factory=dict)
    behaviour: Behaviour | None = None
    program_env: Sequence[str] = ()
    protocol: ModelProtocol = TAU
    continues: bool = False
    make_tools: Callable[[str, Sequence[Any]], Any] | None = None
    other_loop: Callable[[], AbstractEventLoop] | None = None
    agent_trial: Any = None
    patches: Patches | None = None
    keep_outcomes: Callable[[], Mapping[str, Outcome]] | None = None

    @property
    def whole_task(self) -> Task:
        """The task with its reference actions.

        Raises:
            TypeError: The participant does not declare that it needs them.
        """
        if not isinstance(self.task, Task):
            raise TypeError(f"this {self.side} does not declare needs_reference = True")
        return self.task

    @property
    def model(self) -> TrialModel | None:
        """The chat model of this side; None if it has none."""
        return self.models.get(self.side) if self.models else None

    @property
    def llm(self) -> str | None:
        """The name of the model to use, if any."""
        return self.model.name if self.model else None

    @property
    def llm_args(self) -> dict[str, Any] | None:
        """The arguments of each model call."""
        return self.model.args if self.model else None

    @property
    def past(self) -> list[Message]:
        """The history without the messages that this side is given to answer first."""
        waits_for_results = self.history and getattr(self.history[-1], "tool_calls", None)
        if not self.starts or not self.history or waits_for_results:
            return self.history
        return self.history[: -(len(trailing_results(self.history)) or 1)]

    @property
    def starts(self) -> bool:
        """Return whether this side speaks first, given the history."""
        last = self.history[-1] if self.history else None
        if isinstance(last, UserMessage):
            next_side = "user" if last.tool_calls else "agent"
        elif isinstance(last, AssistantMessage):
            next_side = "agent" if last.tool_calls else "user"
        elif isinstance(last, ToolMessage):
            next_side = "agent" if last.requestor == "assistant" else "user"
        else:
            next_side = "agent"
        return next_side == self.side
