"""The loop of a conversation: who is next after each step, and when it ends."""

from __future__ import annotations

import asyncio
import contextvars
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ..background import in_thread
from ..errors import CapabilityError, ConfigurationError, ToolServerError, UnusableReplyError, is_interrupt
from ..models import BEGIN_SESSION, GREETING, STOPS, AssistantMessage, MultiToolMessage, UserMessage, clone
from ..models.copying import assign
from ..participants import DONE, trailing_results
from ..participants.base import BuiltIn
from ..participants.containment import describe, described_stall
from ..text import plural
from .clock import Clock
from .endings import FAULT_OF, Ending, ending_by
from .time_limit import TimeLimit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..capability.stages import StageCalls
    from ..environment import Environment
    from ..models import Message, Task, ToolCall, ToolMessage
    from ..participants import Incoming, Participant, Reply, Side
    from ..run_settings import Limits
    from ..stalls import Stall

    #: Who is next, None for the environment, and the message for it.
    Turn: TypeAlias = tuple[Side | None, Incoming | None]

_T = TypeVar("_T")

#: Seconds for a participant to handle its cancellation.
_GRACE = 1.0


@dataclass(frozen=True)
class ConversationSetup:
    """What a conversation is run with, but for its participants.

    Attributes:
        limits: When it is cut off.
        clock: Dates the messages.
        on_message: Called with a copy of each message that is added to the trajectory.
        retry_seconds: Returns the time that a side's model calls have spent on retries; None if it calls no model.
        excused_seconds: Returns the time of a side that the timeout does not count; None if it counts all.
        enforces_protocol: A message with both text and tool calls ends it, as an error of its sender.
        one_call: Only the first call of a message of the agent is made.
        stages: The stages of the trial's capabilities; None for none.
        recreate: Makes another participant of a side, given its task and its history; None if none can be made.
    """

    limits: Limits
    clock: Clock = field(default_factory=Clock)
    on_message: Callable[[Message], None] | None = None
    retry_seconds: Callable[[Side], float] | None = None
    excused_seconds: Callable[[Side], float] | None = None
    enforces_protocol: bool = False
    one_call: bool = False
    stages: StageCalls | None = None
    recreate: Callable[[Side, Task, list[Message]], Awaitable[Participant | Ending]] | None = None


class _Ended(Exception):  # noqa: N818 - no error: the conversation is over
    def __init__(self, ending: Ending) -> None:
        self.ending = ending


class Conversation:
    """One conversation between an agent and a user over an environment.

    Attributes:
        messages: The trajectory so far, oldest first; complete for every kind of end.
        sides: The participants.
        unusable: It ended by a reply that cannot be used, after which the protocol may run it again.
        fault: The exception that has ended it; None if it was ended otherwise.
        Ended: What its methods raise when it is over, for a capability that leads it to let through.
    """

    Ended = _Ended

    def __init__(
        self, task: Task, environment: Environment, agent: Participant, user: Participant, setup: ConversationSetup
    ) -> None:
        self.messages: list[Message] = []
        self.unusable = False
        self.fault: BaseException | None = None
        self._task, self._environment, self._setup, self._limits = task, environment, setup, setup.limits
        self._history: list[Message] = task.message_history or []
        self.sides: dict[Side, Participant] = {"agent": agent, "user": user}
        self._steps = self._errors = self._calls = 0
        self._time = TimeLimit(setup.limits.timeout, setup.retry_seconds, setup.excused_seconds)
        self._cancelled = False
        self._context = contextvars.copy_context()

    async def run(self) -> Ending:
        """Run the conversation to its end; only faults of the harness itself raise."""
        self._time.start()
        task = asyncio.ensure_future(self._run())
        try:
            while not task.done() and not self._time.is_over():
                await asyncio.wait({task}, timeout=self._time.left())
        except asyncio.CancelledError:
            self._cancelled = True
            task.cancel()
            if self._time.tool is not None:
                self._environment.abandon()
            await asyncio.wait({task}, timeout=_GRACE)  # so that nothing of it stays on the loop
            raise
        finally:
            self._cancelled = not task.done()
            task.cancel()
        if not self._cancelled:
            return task.result()
        await asyncio.wait({task}, timeout=_GRACE)
        return self._hanging_tool() or self._time.ending()

    def _hanging_tool(self) -> Ending | None:
        """Return the ending by a call that had most of the time and did not return, and give it up; else None."""
        tool = self._time.tool
        if tool is None:
            return None
        self._environment.abandon()
        seconds = self._time.most_by_call()
        if seconds is None:
            return None
        problem = f"tool {tool!r} of domain {self._environment.domain_name!r} did not return in {seconds:.1f} s"
        self._environment.fault = f"{problem}, and the time limit is {self._limits.timeout:g} s"
        self.fault = ToolServerError(self._environment.fault)
        return Ending("infrastructure_error", error=self._environment.fault, kind="ToolTimeoutError")

    def blocked(self, stall: Stall) -> Ending:
        """Return the ending by code of this conversation that blocks its event loop, called while it does."""
        tool = self._time.tool
        if tool is not None:
            self._environment.abandon()
            problem = f"tool {tool!r} of domain {self._environment.domain_name!r} {described_stall(stall)}"
            self._environment.fault = problem
            return Ending("infrastructure_error", error=problem, kind="ToolTimeoutError")
        return self._time.stalled(stall)

    def continue_from(self, messages: list[Message], steps: int, errors: int, calls: int) -> None:
        """Continue a conversation instead of beginning one; the environment has the state after it.

        Args:
            messages: The conversation so far, the message history of the task included.
            steps: How many steps it has taken.
            errors: How many of its tool calls have failed.
            calls: How many tool calls it has.
        """
        self._history = messages
        self._steps, self._errors, self._calls = steps, errors, calls

    async def _run(self) -> Ending:
        try:
            if self._setup.stages is not None and self._setup.stages.converse is not None:
                return await self._led_by(self._setup.stages.converse)
            following: Turn | None = await self._start()
            while following is not None:
                ending = await self._until_end(*following)
                following = await self._following(ending)
        except _Ended as end:
            self.fault = end.__cause__
            return end.ending
        return ending

    async def _until_end(self, to: Side | None, message: Incoming | None) -> Ending:
        while True:
            to, message = await self._step(to, message)
            limit = self.limit() if to is not None else None
            # A limit wins over a stop on the same step; the clock does not.
            if ending := limit or self.stop(message) or (self.cut_off() if to is not None else None):
                return ending
            # A participant that blocks the event loop cannot be interrupted, but gets no further turn.
            if to is not None and self._time.is_over():
                return self._time.ending()

    async def _following(self, ending: Ending) -> Turn | None:
        """Return the turn with which the conversation goes on after a stop; None if it is over."""
        stops = self._setup.stages.stopped if self._setup.stages and ending.reason in STOPS else ()
        for stopped in stops:
            following: Turn | None = await stopped(self)
            if following is not None:
                return following
        return None

    async def happen(self, call: ToolCall) -> None:
        """Record a call that no participant makes, such as what begins a session, and carry it out."""
        self._calls += 1
        call = call.model_copy(update={"id": f"tau_call_{self._calls}"})
        self.record(UserMessage(tool_calls=[call]))
        result = await self._execute(call)
        self.record(result)
        if result.error:
            raise _Ended(Ending("unexpected_error", error=f"{call.name}: {result.content}"))

    async def replace(self, side: Side, task: Task, history: list[Message]) -> None:
        """Replace a participant by a new one of the same kind.

        Args:
            side: Its side.
            task: The task that it is given its view of.
            history: The conversation so far, as it knows it.
        """
        assert self._setup.recreate is not None, "the trial can make participants"
        made = await self._setup.recreate(side, task, history)
        if isinstance(made, Ending):
            raise _Ended(made)
        self.sides[side] = made

    async def _led_by(self, converse: Callable[[Conversation], Awaitable[Ending]]) -> Ending:
        """Let a capability lead the conversation from its beginning.

        Raises:
            ConfigurationError: The conversation has begun already, or has one side only.
        """
        if self._history or self._environment.solo:
            problem = "has one side only" if self._environment.solo else "has begun: it has messages"
            raise ConfigurationError(
                f"task {self._task.id!r}: the mode of the run cannot be used for a conversation that {problem}"
            )
        self._begin()
        ending = await converse(self)
        if not isinstance(ending, Ending):
            raise CapabilityError(f"converse of a capability returned no Ending: {type(ending).__name__}")
        return ending

    def _begin(self) -> None:
        for begin in self._setup.stages.begin if self._setup.stages else ():
            begin(clone(self._history[len(self._task.message_history or ()) :]))

    async def _start(self) -> Turn:
        history = self._history
        self._begin()
        if history:
            self.messages += clone(history)
            return self._after_history(history)
        if self._environment.solo:
            ticket = UserMessage(content=self._task.ticket)
            reply = await self._ask("agent", ticket)
            self.record(reply)
            if stop := self.stop(reply):
                raise _Ended(stop)
            return self._receiver(reply), reply
        greeting = AssistantMessage(content=self.greeting)
        self.record(greeting)
        return "user", greeting

    @property
    def greeting(self) -> str:
        """Return what the agent says first."""
        return getattr(self.sides["agent"], "greeting", None) or GREETING

    def _after_history(self, history: list[Message]) -> Turn:
        last = history[-1]
        if isinstance(last, AssistantMessage | UserMessage):
            return self._receiver(last), last
        results = trailing_results(history)
        if results:
            receiver: Side = "agent" if results[0].requestor == "assistant" else "user"
            return receiver, results[0] if len(results) == 1 else MultiToolMessage(tool_messages=results)
        return "agent", None

    async def _step(self, to: Side | None, message: Incoming | None) -> tuple[Side | None, Incoming]:
        """Deliver the message and return the next receiver, None for the environment, and its message."""
        if to is None:
            return await self.run_tools(message)  # type: ignore[arg-type]
        reply = await self.ask(to, message)
        self.record(reply)
        receiver = self._receiver(reply)
        if reply.role == "user" and reply.misunderstanding:  # a fact for reports, not for the agent
            reply = reply.model_copy(update={"misunderstanding": None})
        return receiver, reply

    async def run_tools(self, message: Reply) -> tuple[Side, Incoming]:
        """Make the calls of a message, record the results, and return the caller and what it is to be given."""
        self._steps += 1
        results = [await self._run_tool(call) for call in message.tool_calls or []]
        for result in results:
            self.record(result)
        if self._environment.fault is not None:
            fault = self._environment.fault
            raise _Ended(Ending("infrastructure_error", error=fault)) from ToolServerError(fault)
        # A fault that was put in is not the caller's error.
        self._errors += sum(result.error and result.fault is None for result in results)
        results = [result.model_copy(update={"fault": None}) if result.fault else result for result in results]
        if any(result.error for result in results):  # each other call was followed by a sync
            self._environment.sync()
        caller: Side = "agent" if message.role == "assistant" else "user"
        return caller, results[0] if len(results) == 1 else MultiToolMessage(tool_messages=results)

    async def _run_tool(self, call: ToolCall) -> ToolMessage:
        if self._setup.stages is None:
            return await self._execute(call)
        for replace in self._setup.stages.call:
            self._time.begin_stage()
            result_of_stage = await replace(call)
            self._time.end_stage(answered=result_of_stage is not None)
            if result_of_stage is not None:
                return result_of_stage
        result = await self._execute(call)
        for alter in self._setup.stages.result:
            result = await alter(call, result)
        return result

    async def _execute(self, call: ToolCall) -> ToolMessage:
        self._time.begin_call(call.name)
        if self._environment.may_block(call):
            result = await in_thread(lambda: self._environment.answer(call), self._context)
        else:
            result = self._environment.answer(call)
        self._time.end_call()
        return result

    async def ask(self, side: Side, message: Incoming | None) -> Reply:
        """Give a side a message, and return its reply, which is not yet a part of the trajectory."""
        self._steps += 1
        return await self._ask(side, message)

    async def of_side(self, side: Side, work: Awaitable[_T]) -> _T:
        """Return what code of a side results in; an exception of it ends the conversation, as its own fault."""
        self._time.begin_wait(side)
        try:
            return await work
        except BaseException as error:
            cancelled = isinstance(error, asyncio.CancelledError) and self._cancelled
            if cancelled or is_interrupt(error):
                raise
            self.unusable = isinstance(error, UnusableReplyError)
            raise _Ended(ending_by(error, side)) from error
        finally:
            self._time.end_wait()

    async def _ask(self, side: Side, message: Incoming | None) -> Reply:
        reply = await self.of_side(side, self._reply(self.sides[side], message))  # type: ignore[arg-type]
        if self._environment.solo:
            reply = self._check_solo(reply)
        return self.accept(side, reply)

    def accept(self, side: Side, reply: Reply) -> Reply:
        """Return a reply as it counts: its calls have ids, and one that the protocol does not allow is an ending."""
        if self._setup.one_call and side == "agent" and reply.tool_calls:
            reply = reply.model_copy(update={"tool_calls": reply.tool_calls[:1]})
        for call in reply.tool_calls or []:
            self._calls += 1
            if not call.id:
                call.id = f"tau_call_{self._calls}"
            if call.name == BEGIN_SESSION:  # what happens in the world is not for a participant to say
                call.malformed, call.problem = call.malformed or "{}", f"Tool '{call.name}' not found."
        if self._setup.enforces_protocol and reply.tool_calls and reply.has_text_content():
            self.record(reply)
            problem = "a message with both text and tool calls, which --tau-enforce-protocol does not allow"
            raise _Ended(Ending(FAULT_OF[side], error=problem))
        return reply

    async def _reply(self, participant: Participant, message: Incoming) -> Reply:
        """Return a side's reply. Neither side has a reference to a message of the trajectory: all is copied."""
        if isinstance(participant, BuiltIn) and not participant.keeps_messages:
            return await participant.respond(message)
        return clone(await participant.respond(clone(message)))

    def _check_solo(self, reply: Reply) -> Reply:
        """Check a reply of an agent without a user: tool calls, ``done``, or a stop."""
        if any(call.name == DONE for call in reply.tool_calls or []):
            # The copy keeps the cost of the model call.
            return reply.model_copy(update={"content": "###STOP###", "tool_calls": None})
        if not reply.tool_calls and "###STOP###" not in reply.text and not self._is_stop("agent", reply):
            problem = f"in solo mode, the agent must call a tool, or {DONE!r} when finished; it said: {reply.text!r}"
            raise _Ended(Ending("agent_error", error=problem))
        return reply

    def _receiver(self, message: Reply) -> Side | None:
        if message.tool_calls:
            return None
        return "user" if message.role == "assistant" else "agent"

    def stop(self, message: Incoming | None) -> Ending | None:
        """Return the ending by a message of a side that stops; None if it does not."""
        if message is None or message.role == "tool":
            return None
        if message.role == "user":
            stops = not message.tool_calls and self._is_stop("user", message)
            return Ending("user_stop", stop_token=message.stop_token) if stops else None
        alone = self._environment.solo and not message.tool_calls
        return Ending("agent_stop") if alone or self._is_stop("agent", message) else None

    def _is_stop(self, side: Side, message: Reply) -> bool:
        try:
            return self.sides[side].is_stop(message)
        except BaseException as error:
            if is_interrupt(error):
                raise
            # As in respond: any exception of a participant is its own fault.
            raise _Ended(Ending(FAULT_OF[side], error=describe(error, place=True))) from error

    def limit(self) -> Ending | None:
        """Return the ending by a limit, if one is reached; too many errors override too many steps.

        Source: τ²-bench v1.0.1, where limits are not checked before a step to the environment.
        """
        limits = self._limits
        if self._errors >= limits.max_errors:
            return Ending(
                "too_many_errors",
                error=f"{plural(self._errors, 'failed tool call')}, the limit is {limits.max_errors}",
            )
        if self._steps >= limits.max_steps:
            beyond = " (not checked before the result of a tool call)" if self._steps > limits.max_steps else ""
            return Ending("max_steps", error=f"{self._steps} steps, the limit is {limits.max_steps}{beyond}")
        return None

    def cut_off(self) -> Ending | None:
        """Return the ending by a limit of a capability, of the first one that is reached; None if none is."""
        endings = (limit(Ending) for limit in (self._setup.stages.limit if self._setup.stages else ()))
        return next((ending for ending in endings if ending is not None), None)

    def record(self, message: Message) -> None:
        """Add a message to the trajectory."""
        assign(message, turn_idx=len(self.messages), timestamp=self._setup.clock.now())
        self.messages.append(message)
        if self._setup.on_message:
            self._setup.on_message(clone(message))
        for observe in self._setup.stages.message if self._setup.stages else ():
            observe(clone(message))
