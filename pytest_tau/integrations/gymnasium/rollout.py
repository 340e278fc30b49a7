"""The successive episodes of one environment, on the event loop of all of them, with observations and infos as data."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ...background import BackgroundLoop
from ...documents import json_or_none
from ...errors import ConfigurationError, EpisodeError

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from numpy.random import Generator

    from ...episodes import Episode, StepResult
    from ...participants import Side
    from .settings import EnvSettings

T = TypeVar("T")
#: The options of ``reset``.
_OPTIONS = ("task",)
_LOOP = BackgroundLoop("tau-episodes")
#: The names of the sides in observations, by the role in a side's own chat.
_NAMES: dict[Side, dict[str, str]] = {
    "agent": {"assistant": "assistant", "user": "user", "tool": "tool"},
    "user": {"assistant": "user", "user": "assistant", "tool": "tool"},
}


class Transition(NamedTuple):
    """What ``step`` of an environment returns."""

    observation: Any
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


def run(call: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the shared loop, and wait; an interrupt of the waiting cancels it."""
    future = _LOOP.submit(call)
    try:
        return future.result()
    finally:
        future.cancel()


def start(call: Coroutine[Any, Any, Any]) -> None:
    """Start a coroutine on the shared loop without waiting."""
    _LOOP.submit(call)


class Rollout:
    """The episodes of one environment, one after the other.

    Attributes:
        episode: The current episode; None before the first reset.
    """

    def __init__(self, settings: EnvSettings) -> None:
        self.settings = settings
        self.episode: Episode | None = None
        self._trials: Counter[str] = Counter()

    async def reset(self, draws: Generator, options: dict[str, Any] | None) -> tuple[Any, dict[str, Any]]:
        """Cancel the conversation under way, and begin the next one.

        Args:
            draws: Draws the task and the seed of the other side.
            options: ``task``: the id of the task, instead of one that is drawn.

        Raises:
            ConfigurationError: An option is unknown, or there is no such task.
            TauError: The other side, a provider or the harness failed.
        """
        options = options or {}
        for name in options:
            if name not in _OPTIONS:
                raise ConfigurationError(f"unknown option {name!r} of reset (known: {', '.join(_OPTIONS)})")
        tasks = self.settings.chosen
        place, seed = int(draws.integers(len(tasks))), int(draws.integers(2**31))
        task = self.settings.task_named(options["task"]) if "task" in options else tasks[place]
        await self.close()
        episode = self.settings.episode(task, trial=self._trials[task.id], seed=seed)
        self._trials[task.id] += 1
        self.episode = episode
        await episode.start()
        info = reset_info(episode)
        return self._observation(after_own_last(episode.prompt)), info | end_info(episode)

    async def step(self, action: Any) -> Transition:
        """Carry out an action.

        Raises:
            EpisodeError: There is no episode, it is over, or the action cannot be one.
            TauError: The other side, a provider or the harness failed.
        """
        if self.episode is None:
            raise EpisodeError("the environment was not reset: call reset() before the first step")
        result: StepResult = await self.episode.step(action)
        info = {"messages": result.messages, "read_as": result.read_as} | end_info(self.episode)
        observation = self._observation(result.messages)
        return Transition(observation, self._reward(result), result.terminated, result.truncated, info)

    def _reward(self, result: StepResult) -> float:
        if self.settings.reward == "shaped":
            return result.state_change
        return self._progress(result) if self.settings.reward == "partial" else result.reward

    def _progress(self, result: StepResult) -> float:
        """Return the progress at the end of an episode; 0 before it."""
        simulation = self.episode.simulation if self.episode is not None else None
        if not result.done or simulation is None or simulation.reward_info is None:
            return 0.0
        return float((simulation.reward_info.partial or {}).get("progress") or 0.0)

    async def close(self) -> None:
        """Cancel the conversation under way."""
        if self.episode is not None:
            await self.episode.close()

    def text(self) -> str:
        """Return the conversation so far."""
        return "" if self.episode is None else as_text(self.episode.messages, self.settings.side)

    def _observation(self, new: list[dict[str, Any]]) -> Any:
        assert self.episode is not None
        if self.settings.observation == "new":
            return as_text(new, self.settings.side)
        return self.episode.messages if self.settings.observation == "chat" else self.text()


def as_text(chats: list[dict[str, Any]], side: Side) -> str:
    """Return messages in OpenAI chat format as text, ``role: text`` for each; without system messages.

    Source: τ²-bench v1.0.1, observations.
    """
    names = _NAMES[side]
    return "\n".join(f"{names[chat['role']]}: {_content(chat)}" for chat in chats if chat["role"] in names)


def _content(chat: dict[str, Any]) -> str:
    calls = chat.get("tool_calls")
    if not calls:
        return chat.get("content") or ""
    text = chat.get("content") or ""
    written = ", ".join(_call(call["function"]["name"], call["function"]["arguments"]) for call in calls)
    return f"{text}\n{written}" if text else written


def _call(name: str, arguments: str) -> str:
    """Return a call in Python's syntax; an action that was no call as it was written."""
    parsed = json_or_none(arguments)
    if not isinstance(parsed, dict):
        return arguments
    return f"{name}({', '.join(f'{key}={parsed[key]!r}' for key in sorted(parsed))})"


def after_own_last(chats: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages after a side's own last one, without the system message."""
    own_numbers = [number for number, chat in enumerate(chats) if chat["role"] in ("assistant", "system")]
    return chats[own_numbers[-1] + 1 :] if own_numbers else chats


def reset_info(episode: Episode) -> dict[str, Any]:
    """Return what the player may know before the first action."""
    info: dict[str, Any] = {
        "task_id": episode.task.id,
        "domain": episode.domain.name,
        "trial": episode.trial,
        "seed": episode.seed,
        "tools": episode.tools,
        "messages": episode.prompt,
    }
    if episode.side == "agent":
        info["policy"] = episode.environment.policy
        if episode.environment.solo:
            info["ticket"] = episode.task.ticket
    else:
        info["scenario"] = str(episode.task.user_scenario)
    return info


def end_info(episode: Episode) -> dict[str, Any]:
    """Return the end of an episode; the verdict and the simulation as JSON texts.

    Vector environments of gymnasium take dicts apart, and cannot join those with other fields or types.
    """
    simulation = episode.simulation
    if simulation is None:
        return {}
    verdict = simulation.reward_info
    return {
        "termination_reason": simulation.termination_reason,
        "reward_info": None if verdict is None else verdict.model_dump_json(),
        "simulation": simulation.model_dump_json(),
    }
