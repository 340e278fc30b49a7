"""What a step of an episode returns: its result, the conversation as its side sees it, the change of the state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError
from ..evaluation.partial import current_state
from ..models import AssistantMessage, ToolMessage, UserMessage, clone, heard
from ..participants import chat_messages
from ..participants.prompts import has_ticket, llm_system_message

if TYPE_CHECKING:
    from ..environment import Domain, Environment
    from ..models import Message, Task
    from ..participants import Incoming, ParticipantContext, Side


@dataclass(frozen=True)
class StepResult:
    """What has happened since one's own last message.

    Attributes:
        messages: The new messages in OpenAI chat format, as one's own side sees them: the other side's text, or the
            results of one's own calls. Empty if the episode ended without any.
        read_as: How the action was read: ``text``, or a dict with ``name`` and ``arguments`` for each call. A call that
            could not be executed has ``problem`` instead of ``arguments``. None for the result of ``start``.
        reward: 0 until the end, then the reward of the verdict.
        terminated: One of the sides has ended the conversation.
        truncated: A limit has ended the conversation.
        state_change: The change of ``state`` of partial credit by one's own calls in this step; 0 if the episode does
            not measure it.
    """

    messages: list[dict[str, Any]] = field(default_factory=list)
    read_as: str | list[dict[str, Any]] | None = None
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    state_change: float = 0.0

    @property
    def done(self) -> bool:
        """Return whether the episode is over."""
        return self.terminated or self.truncated


class SideView:
    """The messages of a conversation in OpenAI chat format, as one side sees them.

    Attributes:
        trajectory: The whole conversation so far, with the other side's calls, oldest first.
    """

    def __init__(self, side: Side, context: ParticipantContext) -> None:
        self.trajectory: list[Message] = list(context.history) if context.continues else []
        self._side, self._context = side, context
        self._system: dict[str, Any] = {"role": "system", "content": llm_system_message(context)}
        self._chat: list[dict[str, Any]] = []
        self._seen = self._prompt_length = 0

    @property
    def prompt(self) -> list[dict[str, Any]]:
        """The messages before the side's first one; empty before ``end_prompt``."""
        return clone(self._chat[: self._prompt_length])

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The prompt, and all that followed."""
        return clone(self._chat)

    def end_prompt(self) -> None:
        """Make what the side has seen so far the prompt."""
        self._prompt_length = len(self._chat)

    def update(self, given: Incoming | None, *, own_first: bool) -> list[dict[str, Any]]:
        """Add the messages since the last update, and return those that the side did not send itself.

        Args:
            given: What the side is to answer; it opens the conversation if nothing is recorded yet.
            own_first: The first of the new messages is the side's own.
        """
        new: list[Incoming | Message] = [*heard(self.trajectory[self._seen :])]
        if not self._chat:
            self._chat.append(self._system)
            if not new and given is not None and not has_ticket(self._context):
                new = [given]  # the ticket of an agent that works alone, which is not recorded
        chats = [chat for message in new for chat in chat_messages(message, self._side)]
        self._seen = len(self.trajectory)
        self._chat += chats
        return chats[1:] if own_first else chats


class StateMeter:
    """Sums up how one side's calls change ``state`` of partial credit; changes by the other side do not count.

    Raises:
        ConfigurationError: The task has no reference, or the domain's state cannot be compared.
    """

    def __init__(self, task: Task, domain: Domain, side: Side) -> None:
        self._task, self._domain = task, domain
        self._requestor = "assistant" if side == "agent" else "user"
        self._message_type = AssistantMessage if side == "agent" else UserMessage
        self._before = self._change = 0.0
        initial = domain.environment(task)
        initial.close()
        if current_state(task, domain, initial) is None:
            raise ConfigurationError(
                f"task {task.id!r} of domain {domain.name!r} has no reference to compare the state with, or its state "
                "cannot be compared: there is no change of the state to measure"
            )

    def note(self, message: Message, environment: Environment) -> None:
        """Measure the state at a message of the conversation: before one's own calls, and after each result."""
        if isinstance(message, self._message_type):
            if message.tool_calls:
                self._before = self._state(environment)
        elif isinstance(message, ToolMessage) and message.requestor == self._requestor:
            after = self._state(environment)
            self._change += after - self._before
            self._before = after

    def take(self) -> float:
        """Return the change since the last time."""
        change, self._change = self._change, 0.0
        return change

    def _state(self, environment: Environment) -> float:
        return current_state(self._task, self._domain, environment) or 0.0
