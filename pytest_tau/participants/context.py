"""What a participant is built from, and what the orchestrator expects of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from ..models import AssistantMessage, MultiToolMessage, ToolMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..chat import TrialModel, TrialModels
    from ..environment import Tool
    from ..models import Message, Task

Side: TypeAlias = Literal["agent", "user"]
#: What a participant answers: the other side's text, or the results of its own last tool calls.
Incoming: TypeAlias = AssistantMessage | UserMessage | ToolMessage | MultiToolMessage
Reply: TypeAlias = AssistantMessage | UserMessage


class Agent(Protocol):
    """The first form of an agent: a class, built once for each simulation.

    Its constructor may ask, by name, for ``tools``, ``policy``, ``task``, ``seed``, ``model``, ``llm``,
    ``llm_args`` and ``history``. It may define ``is_stop(message)`` to end the conversation, ``greeting``, and
    ``close()``.
    """

    def respond(self, message: Any) -> Any:
        """The next message: an ``AssistantMessage``, a string, or a dict in OpenAI chat format; sync or async.

        Args:
            message: The user's message, or the results of the agent's last tool calls: a ``ToolMessage`` for one
                call, a ``MultiToolMessage`` for several.
        """
        ...


class User(Protocol):
    """The first form of a user; like ``Agent``, with ``instructions`` in place of ``policy``."""

    def respond(self, message: Any) -> Any:
        """The next message: a ``UserMessage``, a string, or a dict in OpenAI chat format; sync or async."""
        ...


class Participant(Protocol):
    """One side of a conversation, as the orchestrator drives it."""

    async def respond(self, message: Incoming) -> Reply:
        """The side's next message."""
        ...

    def is_stop(self, message: Reply) -> bool:
        """Whether this message of the side's own ends the conversation."""
        ...

    async def close(self) -> None:
        """Give up what the participant holds."""
        ...


def trailing_results(history: list[Message]) -> list[ToolMessage]:
    """The tool results that a history ends with, in order."""
    results: list[ToolMessage] = []
    for message in reversed(history):
        if not isinstance(message, ToolMessage):
            break
        results.insert(0, message)
    return results


@dataclass(frozen=True)
class Prompting:
    """How a model is made to play one side.

    Attributes:
        name: How reports call the prompt: ``built in``, or the file's name.
        prompt: Template of the system message, in place of ours.
        tools_prompt: The same, where the side has tools and another template is meant for that.
        context_tokens: Budget of each request; the oldest messages beyond it are left out. None for no limit.
        text_tools: The model calls tools in text, by a protocol of ours, for want of function calling.
    """

    name: str = "built in"
    prompt: str | None = None
    tools_prompt: str | None = None
    context_tokens: int | None = None
    text_tools: bool = False


@dataclass(frozen=True)
class ParticipantContext:
    """What a participant may know.

    Attributes:
        side: Which side it plays.
        tools: What it can call.
        instructions: The policy for an agent, the scenario for a user.
        task: The task; an honest agent reads its ticket at the most.
        seed: The trial's seed.
        history: The conversation so far, oldest first: the greeting, or the task's message history.
        solo: The agent works alone, from the ticket.
        trial: Which repetition of the task this is.
        models: The models of the trial; None where there are none.
        prompting: How a model is made to play this side.
        domain_agents: The agents that the domain brings along, by name.
    """

    side: Side
    tools: list[Tool]
    instructions: str
    task: Task
    seed: int | None = None
    history: list[Message] = field(default_factory=list)
    solo: bool = False
    trial: int = 0
    models: TrialModels | None = None
    prompting: Prompting = field(default_factory=Prompting)
    domain_agents: Mapping[str, type | str] = field(default_factory=dict)

    @property
    def model(self) -> TrialModel | None:
        """The chat model of this side; None where it has none."""
        return self.models.of(self.side) if self.models else None

    @property
    def llm(self) -> str | None:
        """Name of the model to use, if any."""
        return self.model.name if self.model else None

    @property
    def llm_args(self) -> dict[str, Any] | None:
        """Arguments for each model call."""
        return self.model.args if self.model else None

    @property
    def past(self) -> list[Message]:
        """The history without what this side is given to answer first."""
        waits_for_results = self.history and getattr(self.history[-1], "tool_calls", None)
        if not self.starts or not self.history or waits_for_results:
            return self.history
        return self.history[: -(len(trailing_results(self.history)) or 1)]

    @property
    def starts(self) -> bool:
        """Whether this side speaks first, given the history."""
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
