"""The successive episodes of one environment, on the event loop that all environments of a process share."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ...background import BackgroundLoop
from ...errors import ConfigurationError, EpisodeError
from .observations import after_own_last, as_text, end_info, reset_info

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from numpy.random import Generator

    from ...episodes import Episode, StepResult
    from .settings import EnvSettings

T = TypeVar("T")
#: The options of ``reset``.
_OPTIONS = ("task",)
_LOOP = BackgroundLoop("tau-episodes")


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
