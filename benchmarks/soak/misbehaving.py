"""Participants that misbehave in the way that their task's id names, as agent and as user.

Runs are given a copy of this file, which imports nothing else of the benchmarks.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.errors import ConfigurationError, ModelError
from pytest_tau.testing import call

if TYPE_CHECKING:
    from collections.abc import Callable


class _Foreign(BaseException):
    """A cancellation of another library."""


RAISED: dict[str, Callable[[], BaseException]] = {
    "system_exit": lambda: SystemExit(0),
    "keyboard_interrupt": lambda: KeyboardInterrupt("not today"),
    "base_exception": lambda: BaseException("not today"),
    "generator_exit": lambda: GeneratorExit("not today"),
    "stop_iteration": lambda: StopIteration("not today"),
    "stop_async_iteration": lambda: StopAsyncIteration("not today"),
    "cancelled": lambda: asyncio.CancelledError("not today"),
    "foreign": lambda: _Foreign("not today"),
    "configuration": lambda: ConfigurationError("not today"),
    "model_error": lambda: ModelError("not today"),
    "value_error": lambda: ValueError("not today"),
    "memory": lambda: MemoryError("not today"),
    "recursion": lambda: RecursionError("not today"),
    "surrogate": lambda: ValueError("\ud800"),
}
OUTCOMES: dict[str, Callable[[], Any]] = {
    "skip": lambda: pytest.skip("not today"),
    "fail": lambda: pytest.fail("not today"),
    "xfail": lambda: pytest.xfail("not today"),
    "exit": lambda: pytest.exit("not today", returncode=0),
}
#: What is raised can be raised at each of these places.
PLACES = ("constructor", "respond", "async", "stop", "close", "greeting")
NONSENSE: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "number": lambda: 5,
    "object": object,
    "list": list,
    "object_without_fields": dict,
    "bytes": lambda: b"Done.",
    "class": lambda: str,
    "nan": lambda: float("nan"),
    "huge_number": lambda: 10**5000,
    "generator": lambda: (part for part in ("Done.",)),
    "coroutine_of_a_coroutine": lambda: _later(_later("Done.")),
    "calls_of_a_wrong_type": lambda: {"tool_calls": 3},
    "call_without_a_name": lambda: {"tool_calls": [{"arguments": {}}]},
    "name_of_a_wrong_type": lambda: {"tool_calls": [{"name": 5, "arguments": {}}]},
    "text_of_a_wrong_type": lambda: {"content": 7},
    "huge_text": lambda: "word 1, " * 2_000_000,
    "huge_arguments": lambda: {"tool_calls": [{"name": "get_users", "arguments": "[" * 20_000_000}]},
    "many_calls": lambda: {"tool_calls": [{"name": "get_users", "arguments": {}}] * 100_000},
    "laughs": lambda: {"tool_calls": [{"name": "get_users", "arguments": _laughs()}]},
}
#: Disturbances of the event loop that end the participant's own trial.
DISTURBANCES = ("cancel_all", "cancel_own_task")
#: Disturbances that change no verdict.
HARMLESS = ("mutate", "forge_calls", "clear_tools")
#: Ways to take longer than ``--tau-timeout``.
HANGS = ("async", "thread")


def _later(value: Any) -> Any:
    async def later() -> Any:
        return value

    return later()


def _laughs() -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(90):
        value = {"a": value, "b": value}
    return value


def _raise(way: str) -> None:
    if way in OUTCOMES:
        OUTCOMES[way]()
    error = RAISED[way]()
    raise error


def _mutate(message: Any, way: str, tools: list[Any]) -> None:
    """Change what was handed over, as far as it can be changed."""
    parts = [message, *getattr(message, "tool_messages", ())]
    for part in parts:
        if way == "mutate":
            part.__dict__.update(content="FORGED", role="system", turn_idx=-1)
        elif way == "forge_calls":
            part.__dict__["tool_calls"] = [{"name": "delete_everything"}]
    if way == "clear_tools":
        for tool in tools:
            tool.parameters.clear()
        tools.clear()


class _Participant:
    side = ""

    def __init__(self, task: Any, tools: list[Any]) -> None:
        self.place, _, self.way = task.id.partition("-")
        self.tools, self.turn = tools, 0
        self.at("constructor")

    def at(self, place: str) -> None:
        if self.place == place:
            _raise(self.way)

    @property
    def greeting(self) -> Any:
        self.at("greeting")
        return None

    def is_stop(self, message: Any) -> bool:
        self.at("stop")
        return self.side == "user" and message.stop_token is not None

    def close(self) -> None:
        self.at("close")

    def respond(self, message: Any) -> Any:
        self.at("respond")
        if self.place == "harmless":
            _mutate(message, self.way, self.tools)
        if self.place == "hang" and self.way == "thread":
            time.sleep(3600)
        if self.place == "nonsense":
            return NONSENSE[self.way]()
        return self.respond_async()

    async def respond_async(self) -> Any:
        await asyncio.sleep(0.005)
        self.at("async")
        if self.place == "hang":
            await asyncio.sleep(3600)
        if self.place in ("disturb", "harmless"):
            self.disturb()
            await asyncio.sleep(0.02)
        self.turn += 1
        return self.next()

    def disturb(self) -> None:
        task = asyncio.current_task()
        if self.way == "cancel_all":
            for each in asyncio.all_tasks():
                each.cancel()
        elif self.way == "cancel_own_task" and task is not None:
            task.cancel()

    def next(self) -> Any:
        raise NotImplementedError


class Agent(_Participant):
    """Does what the task wants, apart from its misbehaviour."""

    side = "agent"

    def next(self) -> Any:
        """Return the call that is wanted, then a text."""
        return call("create_task", user_id="user_1", title="Buy milk") if self.turn == 1 else "Done."


class User(_Participant):
    """Asks, and stops, apart from its misbehaviour."""

    side = "user"

    def next(self) -> Any:
        """Return the request, then the stop token."""
        return "Buy milk, please." if self.turn == 1 else "###STOP###"
