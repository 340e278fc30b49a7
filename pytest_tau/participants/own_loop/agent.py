"""The participant around an agent that runs its own loop."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from ...actors import declared_actors
from ...errors import ParticipantError
from ...models import AssistantMessage, MultiToolMessage, ToolMessage
from ..base import Adapter
from ..chat_format import chat_messages
from ..replies import as_message, read_stream, short_repr
from .form import is_factory, is_own_loop, takes_messages, takes_trial
from .trial import AgentTrial

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ...environment.functions.patching import Bound
    from ..context import Incoming, Participant, ParticipantContext, Reply
    from ..threads import BlockingCaller

#: Seconds that a cancelled ``run`` has to finish.
_GRACE = 1.0


class OwnLoopAgent(Adapter):
    """The fourth form: ``run(text)`` answers a message of the user, and calls tools in between.

    Each of its tool calls, or the calls of one answer of its model, is a reply of this participant. The next message
    has their results, with which ``run`` goes on.

    Args:
        target: The function ``run``, or the object that has it.
        context: The facts that it was built from.
        caller: Calls its code.
        trial: The trial.
        bound: The trial, if its own functions are replaced.
        inner: A participant of another form that answers, and whose own functions are replaced.
    """

    def __init__(
        self,
        target: Any,
        context: ParticipantContext,
        caller: BlockingCaller,
        trial: AgentTrial,
        bound: Bound | None,
        inner: Participant | None = None,
    ) -> None:
        super().__init__(target, context, caller)
        run = getattr(target, "run", target)
        if not callable(run) and inner is None:
            problem = f"its factory returned {short_repr(target)}; expected a function run(text), or an object with run"
            raise ParticipantError(problem, side="agent")
        self._run, self._trial, self._bridge = run, trial, trial.bridge
        self._bound, self._inner = bound, inner
        self._bridge.actors.declared = self._bridge.actors.declared or self._actors.declared
        self._actors = self._bridge.actors
        self._messages: list[Any] | None = None
        if inner is None and takes_messages(run):
            past = context.past if context.continues else []
            self._messages = [chat for message in past for chat in chat_messages(message, context.side)]
        self._task: asyncio.Future[Any] | None = None

    @classmethod
    async def make(cls, target: Any, context: ParticipantContext, caller: BlockingCaller) -> OwnLoopAgent:
        """Call the factory with the trial.

        Raises:
            ParticipantError: It returned neither a function nor an object with ``run``.
            Exception: Anything that it raises.
        """

        async def made(trial: AgentTrial, bound: Bound | None) -> OwnLoopAgent:
            agent = target
            trial.bridge.actors.declared = declared_actors(target)
            if is_own_loop(target) and is_factory(target):
                agent = await caller.call(target, *([trial] if takes_trial(target) else []))
            return cls(agent, context, caller, trial, bound)

        return await cls._begun(made, context, caller)

    @classmethod
    async def around(
        cls, make: Callable[[], Awaitable[Participant]], context: ParticipantContext, caller: BlockingCaller
    ) -> OwnLoopAgent:
        """Return an agent around a participant of another form, whose own functions are replaced.

        Raises:
            Exception: Anything that ``make`` raises.
        """

        async def made(trial: AgentTrial, bound: Bound | None) -> OwnLoopAgent:
            inner = await make()
            return cls(getattr(inner, "target", inner), context, caller, trial, bound, inner)

        return await cls._begun(made, context, caller)

    @staticmethod
    async def _begun(
        make: Callable[[AgentTrial, Bound | None], Awaitable[OwnLoopAgent]],
        context: ParticipantContext,
        caller: BlockingCaller,
    ) -> OwnLoopAgent:
        trial = context.agent_trial or AgentTrial(context)
        if context.keep_outcomes is not None:
            trial.bridge.outcomes = context.keep_outcomes()
        caller.on_call = trial.bridge.set_main
        patches = context.patches
        bound = patches.begin(trial.bridge) if patches else None
        if patches and patches.may_block:
            caller.loop = patches.loop
        trial.bridge.open()
        try:
            with bound.here() if bound else contextlib.nullcontext():
                return await make(trial, bound)
        except BaseException as error:
            trial.end()
            if bound:
                bound.end()
            if isinstance(error, Exception):
                trial.bridge.check()  # the exception may be about a model call
            raise

    def conclude(self) -> BaseException | None:
        """Return the error that ends the trial whatever the agent's framework has made of it, at the end."""
        return self._bridge.conclude()

    @property
    def late_calls(self) -> list[str]:
        """The tools of calls that came after the conversation, and were refused; more may come."""
        return self._bridge.late_calls

    async def respond(self, message: Incoming) -> Reply:
        """Return the next tool calls of ``run``, or the text that it has returned.

        Raises:
            ParticipantError: It returned no text, or a tool was called after it had returned.
            ModelError: A model call of the agent failed for good.
            ReplayError: A model call of the agent differs from the recorded one.
            ConversationEnded: The agent has made too many model calls.
            Exception: Anything that ``run`` raises.
        """
        results = isinstance(message, ToolMessage | MultiToolMessage)
        if not (results and self._bridge.deliver(message)):
            self._bridge.check()
            self._start(message)
        return await self._next()

    def is_stop(self, message: Reply) -> bool:
        """Return whether a message ends the conversation: without a user, the text that ``run`` has returned."""
        return super().is_stop(message) or (self._context.solo and not message.tool_calls)

    async def close(self) -> None:
        """Cancel ``run`` and the calls that it waits for."""
        task, self._task = self._task, None
        self._trial.end()
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=_GRACE)
        with self._here():
            await super().close()
        if self._bound:
            self._bound.end()

    def _here(self) -> contextlib.AbstractContextManager[None]:
        return self._bound.here() if self._bound else contextlib.nullcontext()

    def _start(self, message: Incoming) -> None:
        self._bridge.start((message.content if message else None) or "")
        self._task = asyncio.ensure_future(self._answer(message))
        self._task.add_done_callback(self._ended)

    async def _answer(self, message: Incoming) -> Any:
        """Return what ``run`` returns; a stream to its end, since tools may be called meanwhile."""
        with self._here():
            if self._inner is not None:
                return await self._inner.respond(message)
            run_input: Any = (message.content if message else None) or ""
            if self._messages is not None:
                self._messages.append({"role": "user", "content": run_input})
                run_input = self._messages
            result = await self._caller.call(self._run, run_input)
            return await read_stream(result, "agent", self._caller.call)

    def _ended(self, task: asyncio.Future[Any]) -> None:
        self._bridge.changed.set()
        if not task.cancelled():
            task.exception()  # asyncio logs an exception that was not retrieved

    async def _next(self) -> Reply:
        assert self._task is not None, "a message was given to run"
        bridge = self._bridge
        while True:
            bridge.changed.clear()
            bridge.check()
            is_done = self._task.done()
            if calls := bridge.next_calls(final=is_done):
                return self._spoken(calls)
            if is_done:
                return self._finish(self._task)
            with _alarm(bridge.changed, bridge.waiting_time):
                await bridge.changed.wait()

    def _finish(self, task: asyncio.Future[Any]) -> Reply:
        self._task = None
        self._bridge.stop()
        try:
            result = task.result()
        except Exception:
            if self._trial.session.overflow is not None:  # which is what the exception is about
                raise self._trial.session.overflow from None
            raise
        if self._inner is not None:
            reply: Reply = result
            return reply
        if result is None or result == "":
            raise ParticipantError(f"run() returned {result!r}; expected the text of the answer", side="agent")
        try:
            reply = as_message(result, "agent")
        except ParticipantError as error:
            raise ParticipantError(str(error).replace("respond()", "run()", 1), side="agent") from None
        if reply.tool_calls:
            raise ParticipantError(f"run() returned {short_repr(result)}; expected a text", side="agent")
        if self._messages is not None and not _is_answer(self._messages[-1]):
            self._messages.append({"role": "assistant", "content": reply.text})
        if isinstance(reply, AssistantMessage) and reply.actor is None:
            reply.actor = self._bridge.author(reply.text)
        return self._spoken(reply)


def _is_answer(message: Any) -> bool:
    """Return whether the function has added its answer to the conversation, as a dict or as an object of a client."""
    fields = message if isinstance(message, dict) else getattr(message, "__dict__", {})
    return fields.get("role") == "assistant" and not fields.get("tool_calls")


@contextlib.contextmanager
def _alarm(event: asyncio.Event, seconds: float | None) -> Any:
    """Set an event after some seconds, unless the block has ended before."""
    handle = None if seconds is None else asyncio.get_running_loop().call_later(seconds, event.set)
    try:
        yield
    finally:
        if handle is not None:
            handle.cancel()
