"""The change of the state by one's own calls, for rewards before the end of an episode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ConfigurationError
from ..evaluation.partial import current_state
from ..models import AssistantMessage, ToolMessage, UserMessage

if TYPE_CHECKING:
    from ..environment import Domain, Environment
    from ..models import Message, Task
    from ..participants import Side


class StateMeter:
    """Sums up how one side's calls change ``state`` of partial credit; changes by the other side do not count.

    Args:
        task: The task.
        domain: The domain.
        side: The side.

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
