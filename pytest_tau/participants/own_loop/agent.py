"""The participant around an agent that runs its own loop."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from typing import TYPE_CHECKING, Any

from ...errors import ParticipantError
from ...models import MultiToolMessage, ToolMessage
from ..base import Adapter
from ..replies import as_message, read_stream, short_repr
from .form import is_factory
from .trial import AgentTrial

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from ..context import Incoming, ParticipantContext, Reply
    from ..threads import BlockingCaller

#: Seconds that a cancelled ``run`` has to finish.
_GRACE = 1.0


class OwnLoopAgent(Adapter):
    """The fourth form: ``run(text)`` answers a message of the user, and calls tools in between.

    Each of its tool calls, or the calls of one answer of its model, is a reply of this participant. The next message
    has their results, with which ``run`` goes on.
    """

    def __init__(self, target: Any, context: ParticipantContext, caller: BlockingCaller, trial: AgentTrial) -> None:
        super().__init__(target, context, caller)
        run = getattr(target, "run", target)
        if not callable(run):
            problem = f"its factory returned {short_repr(target)}; expected a function run(text), or an object with run"
            raise ParticipantError(problem, side="agent")
        self._run, self._trial, self._bridge = run, trial, trial.bridge
        self._task: asyncio.Future[Any] | None = None

    @classmethod
    async def make(cls, target: Any, context: ParticipantContext, caller: BlockingCaller) -> OwnLoopAgent:
        """Call the factory with the trial.

        Raises:
            ParticipantError: It returned neither a function nor an object with ``run``.
            Exception: Anything that it raises.
        """
        trial = context.agent_trial or AgentTrial(context)
        trial.bridge.open()
        try:
            if is_factory(target):
                target = await caller.call(target, trial)
            return cls(target, context, caller, trial)
        except BaseException as error:
            trial.end()
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
            self._start((message.content if message else None) or "")
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
        await super().close()

    def _start(self, text: str) -> None:
        self._bridge.start()
        self._task = asyncio.ensure_future(self._answer(text))
        self._task.add_done_callback(self._ended)

    async def _answer(self, text: str) -> Any:
        """Return what ``run`` returns; a stream to its end, since tools may be called meanwhile."""
        result = await self._caller.call(self._noted(self._run), text)
        return await read_stream(result, "agent", self._caller.call)

    def _ended(self, task: asyncio.Future[Any]) -> None:
        self._bridge.changed.set()
        if not task.cancelled():
            task.exception()  # asyncio logs an exception that was not retrieved

    def _noted(self, run: Any) -> Any:
        """Return ``run`` such that the bridge knows its thread or its task."""
        bridge = self._bridge

        async def in_task(result: Awaitable[Any]) -> Any:
            bridge.set_main()
            return await result

        def start(text: str) -> Any:
            bridge.set_main()
            result = run(text)
            return in_task(result) if inspect.isawaitable(result) else result

        async def start_async(text: str) -> Any:
            bridge.set_main()
            return await run(text)

        return start_async if inspect.iscoroutinefunction(run) else start

    async def _next(self) -> Reply:
        assert self._task is not None, "a message was given to run"
        bridge = self._bridge
        while True:
            bridge.changed.clear()
            bridge.check()
            done = self._task.done()
            if calls := bridge.next_calls(final=done):
                return calls
            if done:
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
        if result is None or result == "":
            raise ParticipantError(f"run() returned {result!r}; expected the text of the answer", side="agent")
        try:
            reply = as_message(result, "agent")
        except ParticipantError as error:
            raise ParticipantError(str(error).replace("respond()", "run()", 1), side="agent") from None
        if reply.tool_calls:
            raise ParticipantError(f"run() returned {short_repr(result)}; expected a text", side="agent")
        return reply


@contextlib.contextmanager
def _alarm(event: asyncio.Event, seconds: float | None) -> Any:
    """Set an event after some seconds, unless the block has ended before."""
    handle = None if seconds is None else asyncio.get_running_loop().call_later(seconds, event.set)
    try:
        yield
    finally:
        if handle is not None:
            handle.cancel()
