"""The environment of one simulation: both sides' toolkits, their calls, and the sync after each call."""

from __future__ import annotations

import copy
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from ..errors import DomainError, PlainErrors, TaskFormatError, ToolError, ToolServerError, UnwritableResultError
from ..masking import mask_secrets
from ..models import BEGIN_SESSION, AssistantMessage, ToolCall, ToolMessage, UserMessage, clone, json_copy, writable
from ..plain import json
from ..text import exception_text
from .jsonable import Returned, jsonable
from .results import object_text, result_text, same_result, stored_calls
from .schemas import with_members

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import timedelta

    from ..models import Message, Requestor, Task
    from .database import Database
    from .retrieval import RetrievalToolkit
    from .toolkit import Tool, ToolInfo, Toolkit, ToolTexts
    from .values import Values

T = TypeVar("T")


class Environment:
    """Databases, tools and policy of one simulation.

    Attributes:
        domain_name: The domain's name.
        policy: The text that the agent must follow.
        solo: Whether the agent works alone, with both sides' tools.
        fault: The error of a tool server that did not start, ended or did not answer; None if there was none.
        executed: How often each tool was executed, by whomever.
        abandoned: Whether a call has not returned, so that the state is not known.
        tool_texts: Texts of tools that are shown instead of the toolkits' own, by side and name; None for none.
        retrieval: The tools that search the domain's knowledge base; None if there are none.
        waits: Whether tools do their work outside of the calling thread.
    """

    def __init__(  # noqa: PLR0913 - the parts of an environment, which only a domain puts together
        self,
        *,
        domain_name: str,
        policy: str,
        agent: Toolkit[Any],
        user: Toolkit[Any] | None = None,
        retrieval: RetrievalToolkit | None = None,
        sync: Callable[[Any, Any], None] | None = None,
        solo: bool = False,
        merge_aliases: bool = False,
        between: Callable[[Environment], Toolkit[Any]] | None = None,
    ) -> None:
        self.domain_name, self.policy, self.solo = domain_name, policy, solo
        self._agent, self._user, self._sync = agent, user, sync
        self._merge_aliases, self.retrieval, self._between = merge_aliases, retrieval, between
        self.tool_texts: ToolTexts | None = None
        self.fault: str | None = None
        self.executed: Counter[str] = Counter()
        self.abandoned = False
        self._outcomes: dict[str, Outcome] | None = None
        self.waits = any(type(each.db).waits for each in self.toolkits)

    @property
    def agent_db(self) -> Database:
        """The agent-side state."""
        db: Database = self._agent.db
        return db

    @property
    def values(self) -> Values:
        """The values of the domain."""
        return self._agent.tau_values

    @property
    def elapsed(self) -> timedelta:
        """The time that has passed since the beginning of the task: between the sessions of one that has several."""
        return self._agent.tau_elapsed

    @property
    def toolkits(self) -> list[Toolkit[Any]]:
        """The toolkits of both sides, for reading only."""
        return [each for each in (self._agent, self._user) if each is not None]

    @property
    def user_db(self) -> Database | None:
        """The user-side state; None if the domain has none."""
        return self._user.db if self._user else None

    @property
    def shared_db(self) -> bool:
        """Both sides are on one database."""
        return self._user is not None and self._user.db is self._agent.db

    def databases_with(self, other: Environment) -> Iterator[tuple[Literal["agent", "user"], Database, Database]]:
        """Yield each side with its database here and in another environment of the domain; a shared one once."""
        yield "agent", self.agent_db, other.agent_db
        mine, theirs = self.user_db, other.user_db
        shared = mine is self.agent_db and theirs is other.agent_db
        if mine is not None and theirs is not None and not shared:
            yield "user", mine, theirs

    def begin_task(self, task: Task) -> None:
        """Prepare both sides' tools for a task."""
        self._agent.begin_task(task)
        if self._user:
            self._user.begin_task(task)

    def fork(self) -> Environment:
        """Return an independent environment in the same state."""
        agent, user = copy.copy(self._agent), copy.copy(self._user)
        agent.db = self._agent.db.fork()
        if user is not None:
            # Merged data of one side may have put both sides on one database.
            user.db = agent.db if user.db is self._agent.db else user.db.fork()
        twin = Environment.__new__(type(self))
        own = {"_agent": agent, "_user": user, "executed": self.executed.copy(), "_outcomes": None}
        vars(twin).update({**vars(self), **own})
        return twin

    def equals(self, other: Environment) -> bool:
        """Return whether both sides' states, and the toolkits' own attributes, are those of another environment."""
        mine, theirs = self.toolkits, other.toolkits
        return [_own_attributes(each) for each in mine] == [_own_attributes(each) for each in theirs] and all(
            db.equals(other_db) for _, db, other_db in self.databases_with(other)
        )

    def restore(self, state: Environment) -> None:
        """Take over the state of another environment of this kind, such as an earlier fork; that one is used up."""
        vars(self).update(vars(state))

    @property
    def tool_infos(self) -> dict[str, ToolInfo]:
        """The declarations of both sides' tools."""
        sides = [self._user, self._agent, self.retrieval]
        return {name: info for toolkit in sides if toolkit for name, info in toolkit.tool_infos.items()}

    def tools(self, requestor: Requestor = "assistant") -> list[Tool]:
        """Return the tools that a side can call, in order of definition; their schemas are copies."""
        return [tool.copy() for tool in self.shared_tools(requestor)]

    def hidden_tools(self) -> list[list[Tool]]:
        """Return the tools of the agent and of the user that can be called but are not offered, for reading only."""
        return [list(side.hidden_tools().values()) for side in (self._agent, self._user) if side]

    def shared_tools(self, requestor: Requestor = "assistant") -> list[Tool]:
        """Return the same tools, with schemas that all environments share, for reading only."""
        if self.solo:
            return [*self._shown("assistant"), *self._shown("user")] if requestor == "assistant" else []
        return self._shown(requestor)

    def _shown(self, side: Requestor) -> list[Tool]:
        """Return the tools of a side's toolkit, with the texts that are shown instead of its own."""
        toolkit = self._agent if side == "assistant" else self._user
        tools = list(toolkit.tools().values()) if toolkit else []
        if side == "assistant" and self.retrieval:
            tools = [*self.retrieval.tools().values(), *tools]
        if self.tool_texts is None:
            return tools
        texts = self.tool_texts.get(side, {})
        shown = ((tool, *texts.get(tool.name, (tool.description, tool.parameters))) for tool in tools)
        return [tool._replace(description=text, parameters=schema) for tool, text, schema in shown]

    def waits_for(self, name: str) -> bool:
        """Return whether a tool calls a model or runs a program: a trial calls it once, in a thread of its own."""
        return self.retrieval is not None and name in self.retrieval.waits

    def may_block(self, call: ToolCall) -> bool:
        """Return whether a call waits for something outside of this thread; make it in another one."""
        return self.waits or self.waits_for(call.name)

    def open(self) -> None:
        """Occupy what both states need, such as the process of a tool server, before a conversation is paid for.

        Raises:
            ToolServerError: A server does not start.
            DomainError: The tools do not begin with the state that they began with first.
        """
        self._agent.db.open()
        if self._user:
            self._user.db.open()

    def apart(self) -> Environment:
        """Take nothing from the environments of trials, and give them nothing; return this environment."""
        self._agent.db.apart()
        if self._user:
            self._user.db.apart()
        return self

    def abandon(self) -> None:
        """Release what both states occupy although a call has not returned; the states are those before it."""
        self.abandoned = True
        self._agent.db.abandon()
        if self._user:
            self._user.db.abandon()

    def answer(self, call: ToolCall) -> ToolMessage:
        """Return the result of a participant's call; a malformed one gets an error and is not executed."""
        if call.malformed is not None:
            problem = f"arguments of '{call.name}' must be a JSON object, got {call.malformed[:80]}"
            content = writable(f"Error: {call.problem or problem}")
            return ToolMessage(id=call.id, content=content, requestor=call.requestor, error=True)
        return self.call(call.name, call.arguments, call.requestor, call.id)

    def call(self, name: str, arguments: Any, requestor: Requestor = "assistant", call_id: str = "") -> ToolMessage:
        """Run a tool and sync both sides.

        Args:
            name: The tool.
            arguments: Its keyword arguments, a JSON object.
            requestor: The side that calls.
            call_id: The id of the call that the result answers.

        Returns:
            The result's text; ``Error: …`` with the error flag if the tool, the sync or the call itself fails.
            Changes that a failing tool has made stay.

        Source: τ²-bench v1.0.1, environment responses.
        """
        content, value, error = "", None, None
        try:
            value = self.perform(name, arguments, requestor)
            self.sync()
            content = writable(result_text(value))
        except UnwritableResultError as unwritable:
            raise DomainError(f"tool {name!r} {unwritable}") from None
        except DomainError:
            raise  # no result: the domain cannot be used
        except Exception as raised:  # noqa: BLE001 - the tool boundary: a tool's exceptions are results
            if isinstance(raised, ToolServerError) and not self.abandoned:
                self.fault = self.fault or str(raised)
            content, value, error = writable(f"Error: {mask_secrets(exception_text(raised))}"), None, raised
        if self._outcomes is not None:
            self._outcomes[call_id] = Outcome(content, _plain_value(value), error)
        return ToolMessage(id=call_id, content=content, requestor=requestor, error=error is not None)

    def keep_outcomes(self) -> dict[str, Outcome]:
        """Keep what calls return and raise from now on, by the ids of the calls."""
        self._outcomes = {}
        return self._outcomes

    def execute(self, name: str, arguments: Any, requestor: Requestor = "assistant") -> Any:
        """Run a tool without syncing and return a copy of what it returns.

        Raises:
            ToolError: No such tool for this side, or the arguments are not an object.
            TypeError, ValueError: The arguments are not JSON, or cannot be stored.
            Exception: Anything that the tool raises.
        """
        # Tools return records of the state, and of the data that all environments share.
        return clone(self.perform(name, arguments, requestor))

    def perform(self, name: str, arguments: Any, requestor: Requestor = "assistant") -> Any:
        """Run a tool as ``execute`` does; what is returned may be a record of the state, for reading only."""
        toolkit = self._toolkit_of(name, requestor)
        if not isinstance(arguments, dict):
            raise ToolError(f"arguments of '{name}' must be a JSON object, got {json.dumps(arguments)[:80]}")
        self.executed[name] += 1
        return _run(toolkit, name, arguments)

    def sync(self) -> None:
        """Apply the consequences of one side's state to the other's."""
        if self._sync and self._user:
            with PlainErrors():
                self._sync(self._agent.db, self._user.db)

    def run_function(self, env_type: Requestor, name: str, arguments: dict[str, Any]) -> Any:
        """Run a toolkit function by name, tool or not, as initial states and assertions do, then sync.

        Returns:
            A copy of what the function returns.

        Raises:
            ToolError: No such function.
            Exception: Anything that the function raises.
        """
        toolkit = self._agent if env_type == "assistant" else self._user
        if toolkit is None or toolkit.function(name) is None:
            raise ToolError(f"no function '{name}' on the {env_type}'s side of {self.domain_name}")
        result = clone(_run(toolkit, name, arguments))
        self.sync()
        return result

    def merge(self, agent_data: dict[str, Any] | None, user_data: dict[str, Any] | None) -> None:
        """Merge initialization data into the databases.

        Raises:
            ToolError: User data for a domain without a user side.
            TaskFormatError: The data does not fit the records; names the field.
        """
        aliases = self._merge_aliases or self.shared_db
        if agent_data:
            self._agent.db = _merged(self._agent.db, agent_data, "agent_data")
            if aliases and self._user:
                self._user.db = self._agent.db
        if user_data:
            if self._user is None:
                raise ToolError(f"{self.domain_name} has no user side")
            self._user.db = _merged(self._user.db, user_data, "user_data")
            if aliases:
                self._agent.db = self._user.db
        self.sync()

    def has_tool(self, name: str, requestor: Requestor) -> bool:
        """Return whether a side can call a tool."""
        try:
            self._toolkit_of(name, requestor)
        except ToolError:
            return False
        return True

    def mutates(self, name: str, requestor: Requestor) -> bool:
        """Return whether a tool exists for this side and changes a database; calls of such tools are replayed."""
        info = self.info_of(name, requestor)
        return info is not None and info.mutates

    def info_of(self, name: str, requestor: Requestor) -> ToolInfo | None:
        """Return the declaration of a tool; None if this side has no such tool."""
        try:
            return self._toolkit_of(name, requestor).tool_infos[name]
        except ToolError:
            return None

    def replay(self, messages: Sequence[Message]) -> list[str]:
        """Execute the mutating calls of a recorded conversation.

        Args:
            messages: The trajectory, oldest first.

        Returns:
            A line for each result that differs from the recorded one.

        Calls that a fault kept from their tool are skipped. A result that a fault has changed is not compared.

        Source: τ²-bench v1.0.1: unknown tools and tools that do not mutate are skipped.
        """
        differences: list[str] = []
        if messages and isinstance(messages[-1], AssistantMessage | UserMessage) and messages[-1].tool_calls:
            messages = messages[:-1]  # these calls were not made yet
        for each in stored_calls(messages):
            call, recorded = each.call, each.result
            if recorded is not None and not recorded.executed:
                continue
            content = self._replayed(call)
            if content is None or recorded is None or recorded.fault is not None:
                continue
            if not same_result(recorded.content, content):
                differences.append(f"{call.name}: recorded {recorded.content!r}, replayed {content!r}")
        self.sync()
        return differences

    def _replayed(self, call: ToolCall) -> str | None:
        if call.malformed is not None or not self.mutates(call.name, call.requestor):
            return None
        return self.call(call.name, call.arguments, call.requestor).content

    def dump(self) -> dict[str, Any]:
        """Return both sides' states as JSON values: ``{"agent": {…}, "user": {…} or None}``."""
        return {"agent": self._agent.db.dump(), "user": self._user.db.dump() if self._user else None}

    def close(self) -> None:
        """Release what both states occupy, such as the process of a tool server; they stay usable."""
        self._agent.db.close()
        if self.retrieval:
            self.retrieval.close()
        if self._user:
            self._user.db.close()

    def _toolkit_of(self, name: str, requestor: Requestor) -> Toolkit[Any]:
        first = self._agent if requestor == "assistant" else self._user
        if not self.solo and first is not None and name in first.tool_infos:
            return first
        if self.solo and requestor == "user":
            raise ToolError("User tool calls are not allowed in solo mode")
        if name == BEGIN_SESSION and requestor == "user" and self._between is not None:
            return self._between(self)
        sides = [self._user, self._agent] if self.solo else [first]
        if sides == [None]:
            raise ToolError("User tools not available")
        if requestor == "assistant":
            sides.append(self.retrieval)
        for toolkit in sides:
            if toolkit is not None and name in toolkit.tool_infos:
                return toolkit
        raise ToolError(f"Tool '{name}' not found.")


class Outcome(NamedTuple):
    """What a call has returned or raised.

    Attributes:
        text: The text of the result.
        value: The value that was returned: of a toolkit as JSON data, of one's own function as it was.
        error: What was raised; None if the call did not fail.
    """

    text: str
    value: Any
    error: Exception | None


def _plain_value(value: Any) -> Any:
    return value.value if isinstance(value, Returned) else jsonable(value, fallback=object_text)


def _own_attributes(toolkit: Toolkit[Any]) -> dict[str, Any]:
    return {name: value for name, value in vars(toolkit).items() if name != "db"}


def _run(toolkit: Toolkit[Any], name: str, arguments: dict[str, Any]) -> Any:
    """Call a toolkit's function with a copy of the arguments, as it may keep and change them."""
    try:
        with PlainErrors():
            if name in toolkit.tau_named:
                return toolkit.tau_named[name](toolkit, **json_copy(arguments))
            return getattr(toolkit, name)(**with_members(getattr(type(toolkit), name), json_copy(arguments)))
    except UnwritableResultError as error:
        raise DomainError(f"tool {name!r} {error}") from None


def _merged(db: Database, data: dict[str, Any], side: str) -> Database:
    try:
        return db.merged(data)
    except TaskFormatError as error:
        raise TaskFormatError(error.problem, field=f"{side}.{error.field}") from None
