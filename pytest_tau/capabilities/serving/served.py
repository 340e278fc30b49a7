"""One environment that is served: its state, its trajectory, and the calls that are made in it."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from ...environment import jsonable
from ...evaluation import check_db
from ...models import AssistantMessage, ToolCall, UserMessage, clone
from .wire import RequestError

if TYPE_CHECKING:
    from ...environment import Domain, Tool
    from ...models import Message, Requestor, Task, ToolMessage

#: The most messages of a trajectory, so that one client cannot fill the memory.
MOST_MESSAGES = 10_000


class CallResult(NamedTuple):
    """The result of a call.

    Attributes:
        content: The text that a participant of a trial reads.
        error: The call failed.
        result: The value as JSON data; None if the call failed.
    """

    content: str
    error: bool
    result: Any


class ServedEnvironment:
    """An environment with the trajectory of the calls that were made in it.

    The methods may block: tools are code of the domain. One of them runs at a time.

    Args:
        number: The id.
        domain: The domain.
        task: The task whose initial state is applied; None for the untouched databases.
        recorded: Whether calls are added to the trajectory.

    Raises:
        TauError: The environment cannot be made.

    Attributes:
        id: The id.
        task: The task.
        messages: The trajectory, oldest first; begins with the message history of the task.
        lock: Taken while a method runs.
        open_requests: Requests that use the environment.
        used: When it was used last, by the monotonic clock.
        lease: Seconds after which it is forgotten if it is not used; None for those of the settings.
        client: Whose it is; None for the default one.
    """

    def __init__(self, number: str, domain: Domain, task: Task | None, *, recorded: bool = True) -> None:
        self.id, self.task, self._domain, self._recorded = number, task, domain, recorded
        self.environment = domain.environment(task)
        self.messages: list[Message] = clone(task.message_history or []) if task else []
        self.started = _now()
        self.lock = asyncio.Lock()
        self.open_requests, self.used = 0, time.monotonic()
        self.lease: float | None = None
        self.client: str | None = None
        self._calls, self._closed = 0, False
        self._begin()
        self._outcomes = self.environment.keep_outcomes()
        self._start = self.environment.fork()

    def _begin(self) -> None:
        """Make the calls that the message history ends with, as every conversation begins with them."""
        last = self.messages[-1] if self.messages else None
        for call in getattr(last, "tool_calls", None) or []:
            self._record(self.environment.answer(call))

    def tools(self, requestor: Requestor) -> list[Tool]:
        """Return the tools of a side; those of the user that the task gives, if it names them."""
        tools = self.environment.shared_tools(requestor)
        if requestor == "user" and self.task is not None and self.task.user_tools is not None:
            tools = [tool for tool in tools if tool.name in self.task.user_tools]
        return tools

    def call(self, name: str, arguments: dict[str, Any], requestor: Requestor) -> CallResult:
        """Make a call, and sync both sides. A call that fails, or of an unknown tool, is answered by an error.

        Raises:
            RequestError: The trajectory is full, or the environment was deleted.
        """
        self._check_open()
        if self._recorded:
            self._check_space()
        self._calls += 1
        call = ToolCall(id=f"call_{self._calls}", name=name, arguments=arguments, requestor=requestor)
        reply = self.environment.answer(call)
        result = None if reply.error else jsonable(self._outcomes.pop(call.id).value, str)
        if self._recorded:
            self._record(_role(requestor)(tool_calls=[call]))
            self._record(reply)
        return CallResult(reply.content or "", reply.error, result)

    def say(self, role: Requestor, content: str) -> None:
        """Add a text of a side to the trajectory.

        Raises:
            RequestError: The trajectory is full or not recorded, or the environment was deleted.
        """
        self._check_open()
        self.check_recorded()
        self._check_space()
        self._record(_role(role)(content=content))

    def state(self) -> dict[str, Any]:
        """Return the databases of both sides."""
        self._check_open()
        return self.environment.dump()

    def diff(self) -> list[dict[str, Any]]:
        """Return the places that differ from the beginning, with the value before and after."""
        self._check_open()
        places = []
        for difference in check_db(self.environment, self._start).differences:
            place = {"side": difference.side, "path": difference.path}
            before = {} if difference.missing == "expected" else {"before": difference.expected}
            after = {} if difference.missing == "got" else {"after": difference.got}
            places.append(place | before | after)
        return places

    def trajectory(self) -> list[dict[str, Any]]:
        """Return the messages as JSON data."""
        self._check_open()
        return [message.model_dump(mode="json", exclude_none=True) for message in self.messages]

    def conversation(self) -> list[Message]:
        """Return a copy of the messages."""
        self._check_open()
        return clone(self.messages)

    def end(self) -> None:
        """Refuse whatever was not begun yet; at once."""
        self._closed = True

    def close(self) -> None:
        """Release what the environment occupies."""
        self._closed = True
        self.environment.close()
        self._start.close()

    def check_recorded(self) -> None:
        """Check that there is a trajectory.

        Raises:
            RequestError: The environment is the default one.
        """
        if not self._recorded:
            raise RequestError(409, "the default environment has no trajectory: make one by POST /environments")

    def _check_open(self) -> None:
        if self._closed:
            raise RequestError(404, f"environment {self.id!r} was deleted")

    def _check_space(self) -> None:
        if len(self.messages) + 2 > MOST_MESSAGES:
            problem = f"the trajectory of environment {self.id!r} has {len(self.messages):,} messages, the limit"
            raise RequestError(409, f"{problem} is {MOST_MESSAGES:,}: make another environment")

    def _record(self, message: Message | ToolMessage) -> None:
        message.turn_idx, message.timestamp = len(self.messages), _now()
        self.messages.append(message)


def _role(requestor: Requestor) -> type[AssistantMessage | UserMessage]:
    return AssistantMessage if requestor == "assistant" else UserMessage


def _now() -> str:
    return datetime.now().isoformat()  # noqa: DTZ005 - local time, as in stored results
