"""Environments of many conversations at once: all of them on one event loop, awaited together."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium.vector
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector.utils import batch_space

from ...errors import ConfigurationError, EpisodeError, unknown_name
from .rollout import Rollout, Transition, run, start
from .settings import settings_of
from .spaces import ActionSpace, ChatSpace, TextSpace

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Sequence
    from pathlib import Path

    from ...participants import Side

#: The modes by the values of gymnasium's ``AutoresetMode``, which came with its release 1.1.
_MODES = ("NextStep", "SameStep", "Disabled")


class TauVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Base of the vector environments: one process, one event loop, and a conversation for each place.

    Observations are tuples. The infos are arrays with masks, as those of gymnasium's own vectors.

    Args:
        num_envs: The number of conversations.
        autoreset_mode: ``NextStep`` (the step after the end begins a new conversation), ``SameStep``, or ``Disabled``.
        render_mode: ``ansi`` or None.
        arguments: The fields of ``EnvSettings``.

    Raises:
        ConfigurationError: An argument cannot be used.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"]}  # noqa: RUF012 - as in the base class
    side: ClassVar[Side]

    def __init__(
        self,
        *,
        num_envs: int = 1,
        autoreset_mode: Any = "NextStep",
        render_mode: str | None = None,
        **arguments: Any,
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
            raise ConfigurationError(f"num_envs: expected a whole number from 1, got {num_envs!r}")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ConfigurationError(f"render_mode: expected 'ansi' or None, got {render_mode!r}")
        self._mode = str(getattr(autoreset_mode, "value", autoreset_mode))
        if self._mode not in _MODES:
            raise ConfigurationError(unknown_name("autoreset_mode", self._mode, _MODES))
        modes = getattr(gymnasium.vector, "AutoresetMode", None)
        self.metadata = self.metadata | ({"autoreset_mode": modes(self._mode)} if modes else {})
        self.num_envs, self.render_mode = num_envs, render_mode
        settings = settings_of(self.side, arguments)
        self._rollouts = [Rollout(settings) for _ in range(num_envs)]
        self._random = [seeding.np_random()[0] for _ in range(num_envs)]
        self._over, self._observations = [False] * num_envs, [None] * num_envs
        self.single_observation_space = ChatSpace() if settings.observation == "chat" else TextSpace()
        self.single_action_space = ActionSpace()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Begin new conversations, all at once.

        Args:
            seed: A seed for each place, or the first of successive ones; None to go on drawing.
            options: ``task`` as for one environment; ``reset_mask``: an array of bools, the places that are reset.

        Raises:
            ConfigurationError: There are too few seeds, an option is unknown, or there is no such task.
            TauError: The other side of a conversation, a provider or the harness failed.
        """
        options = dict(options or {})
        places = self._masked(options.pop("reset_mask", None))
        seeds = self._seeds(seed)
        for place in places:
            if seeds[place] is not None:
                self._random[place] = seeding.np_random(seeds[place])[0]
        resets = run(_together((place, self._reset(place, options)) for place in places))
        infos: dict[str, Any] = {}
        for place, (observation, info) in resets.items():
            self._observations[place], self._over[place] = observation, False
            infos = self._add_info(infos, info, place)
        return tuple(self._observations), infos

    def step(self, actions: Sequence[Any]) -> tuple[tuple[Any, ...], Any, Any, Any, dict[str, Any]]:
        """Carry out an action in each conversation, all at once.

        Raises:
            EpisodeError: The number of actions differs, a conversation is over, or an action is not one.
            TauError: The other side of a conversation, a provider or the harness failed. The other conversations have
                gone on.
        """
        if isinstance(actions, str) or len(actions) != self.num_envs:
            raise EpisodeError(f"expected {self.num_envs} actions, one for each conversation, got {actions!r:.80}")
        if self._mode == "Disabled" and any(self._over):
            over = ", ".join(str(place) for place, over in enumerate(self._over) if over)
            raise EpisodeError(f"conversations {over} are over: reset them with options={{'reset_mask': ...}}")
        steps = run(_together((place, self._step(place, action)) for place, action in enumerate(actions)))
        infos: dict[str, Any] = {}
        for place, (transition, first) in steps.items():
            self._over[place] = transition.terminated or transition.truncated
            self._observations[place], info = transition.observation, transition.info
            if first is not None:  # SameStep: the end and the next beginning
                infos = self._add_info(infos, {"final_obs": transition.observation, "final_info": info}, place)
                self._observations[place], info = first
                self._over[place] = False
            infos = self._add_info(infos, info, place)
        rewards = np.array([steps[place][0].reward for place in range(self.num_envs)], dtype=np.float64)
        terminated = np.array([steps[place][0].terminated for place in range(self.num_envs)], dtype=np.bool_)
        truncated = np.array([steps[place][0].truncated for place in range(self.num_envs)], dtype=np.bool_)
        return tuple(self._observations), rewards, terminated, truncated, infos

    def render(self) -> tuple[str, ...] | None:
        """Return the conversations so far as texts; None without a render mode."""
        return None if self.render_mode is None else tuple(rollout.text() for rollout in self._rollouts)

    def save(self, path: Path | str) -> int:
        """Append the simulations of all conversations that are over, and were not begun anew, to a file.

        Returns:
            Their number.

        Raises:
            OSError: The file cannot be written.
        """
        ended = [rollout.episode for rollout in self._rollouts if rollout.episode and rollout.episode.simulation]
        for episode in ended:
            episode.save(path)
        return len(ended)

    def close_extras(self, **_: Any) -> None:
        """Cancel the conversations under way."""
        if any(rollout.episode for rollout in self._rollouts):
            run(_together(enumerate(rollout.close() for rollout in self._rollouts)))

    async def _reset(self, place: int, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return await self._rollouts[place].reset(self._random[place], options)

    async def _step(self, place: int, action: Any) -> tuple[Transition, tuple[Any, dict[str, Any]] | None]:
        """Return what happened at a place, and the beginning of the next conversation if that is to follow at once."""
        if self._over[place]:
            observation, info = await self._reset(place, {})
            return Transition(observation, 0.0, terminated=False, truncated=False, info=info), None
        transition = await self._rollouts[place].step(action)
        over = transition.terminated or transition.truncated
        return transition, await self._reset(place, {}) if over and self._mode == "SameStep" else None

    def _masked(self, mask: Any) -> list[int]:
        if mask is None:
            return list(range(self.num_envs))
        mask = np.asarray(mask)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise ConfigurationError(f"reset_mask: expected {self.num_envs} bools, got {mask!r:.80}")
        return [int(place) for place in np.flatnonzero(mask)]

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        seeds = list(range(seed, seed + self.num_envs)) if isinstance(seed, int) else seed
        if len(seeds) != self.num_envs:
            raise ConfigurationError(f"seed: expected {self.num_envs} seeds, got {len(seeds)}")
        return list(seeds)

    def __del__(self) -> None:
        rollouts = getattr(self, "_rollouts", ())
        if not sys.is_finalizing() and any(rollout.episode and not rollout.episode.done for rollout in rollouts):
            start(_together(enumerate(rollout.close() for rollout in rollouts)))


class TauAgentVectorEnv(TauVectorEnv):
    """One plays the agents."""

    side = "agent"


class TauUserVectorEnv(TauVectorEnv):
    """One plays the users."""

    side = "user"


async def _together(calls: Iterable[tuple[int, Coroutine[Any, Any, Any]]]) -> dict[int, Any]:
    """Await all calls, also if some of them fail, and return their results by place."""
    by_place = dict(calls)
    results = await asyncio.gather(*by_place.values(), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return dict(zip(by_place, results, strict=True))
