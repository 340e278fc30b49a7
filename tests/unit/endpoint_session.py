"""A trial for the endpoint's tests: its model and tools follow a script, on an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import NamedTuple

from pytest_tau.chat import ChatReply, Usage
from pytest_tau.endpoint import close_session, open_session

USAGE = Usage(prompt_tokens=12, completion_tokens=5, cached_tokens=4, reasoning_tokens=1)


def text_reply(text, **fields):
    fields = {"usage": USAGE, "finish_reason": "stop", **fields}
    return ChatReply(message={"role": "assistant", "content": text}, **fields)


def call_reply(*calls, text=None, **extra):
    """A reply with tool calls: pairs of a name and the text of the arguments."""
    made = [
        {"id": f"call_{name}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for name, arguments in calls
    ]
    message = {"role": "assistant", "content": text, "tool_calls": made, **extra}
    return ChatReply(message=message, usage=USAGE, finish_reason="tool_calls")


class Outcome(NamedTuple):
    text: str
    is_error: bool


class ScriptedSession:
    """Answers with the next reply of a list, or raises it if it is an exception; with ``gate``, once that is set."""

    def __init__(self, *replies, gate=None):
        self.loop = asyncio.new_event_loop()
        self.requests, self.cancelled = [], 0
        self._replies, self._gate = list(replies), gate
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    async def complete(self, request):
        assert asyncio.get_running_loop() is self.loop
        self.requests.append(request)
        try:
            while self._gate is not None and not self._gate.is_set():  # noqa: ASYNC110 - opened by another thread
                await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if isinstance(reply, BaseException):
            raise reply
        return reply

    def tools(self):
        return []

    async def call_tool(self, name, arguments):
        return Outcome(f"{name} {arguments}", is_error=False)

    def stop(self):
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()
            self.loop.close()


@contextmanager
def serving(*replies, gate=None):
    """Serve a scripted session; yields it and its address."""
    session = ScriptedSession(*replies, gate=gate)
    address = open_session(session)
    try:
        yield session, address
    finally:
        close_session(address)
        session.stop()
