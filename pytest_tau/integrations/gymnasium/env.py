"""The environments of one conversation at a time."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium

from ...errors import ConfigurationError, EpisodeError
from .rollout import Rollout, run, start
from .settings import settings_of
from .spaces import ActionSpace, ChatSpace, TextSpace

if TYPE_CHECKING:
    from pathlib import Path

    from ...models import Simulation
    from ...participants import Side


class TauEnv(gymnasium.Env[Any, Any]):
    """Base of the environments: an episode is a conversation, an action a message or calls of one side.

    Limits end an episode with ``truncated``, stops with ``terminated``. The reward is 0 until the end, unless it is
    ``shaped``.

    Args:
        render_mode: ``ansi``: ``render`` returns the conversation so far as text; None.
        arguments: The fields of ``EnvSettings``.

    Raises:
        ConfigurationError: An argument cannot be used.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "render_fps": 1}  # type: ignore[misc]
    side: ClassVar[Side]

    def __init__(self, *, render_mode: str | None = None, **arguments: Any) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ConfigurationError(f"render_mode: expected 'ansi' or None, got {render_mode!r}")
        self.render_mode = render_mode
        self._rollout = Rollout(settings_of(self.side, arguments))
        chat = self._rollout.settings.observation == "chat"
        self.observation_space = ChatSpace() if chat else TextSpace()
        self.action_space = ActionSpace()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin the next conversation; one that is under way is cancelled.

        Args:
            seed: The seed by which tasks are drawn, and from which the other side's seeds follow.
            options: ``task``: the id of the task, instead of one that is drawn.

        Returns:
            The observation and the info: ``task_id``, ``domain``, ``trial``, ``seed``, ``tools`` as OpenAI schemas, the
            prompt as ``messages`` in OpenAI chat format. The agent's also has ``policy``, and in solo mode ``ticket``;
            the user's has ``scenario``.

        Raises:
            ConfigurationError: An option is unknown, or there is no such task.
            TauError: The other side, a provider or the harness failed; of the class of the cause.
        """
        super().reset(seed=seed)
        return run(self._rollout.reset(self.np_random, options))

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Say or call something, and return when it is one's own turn again, or when the conversation is over.

        Args:
            action: A text, which may be a call, or a message in OpenAI chat format: see ``Episode.step``.

        Returns:
            The observation, the reward, whether a side has ended the conversation, whether a limit has, and the info:
            the new ``messages``, how the action was read (``read_as``), and at the end ``termination_reason``, and
            ``reward_info`` and ``simulation`` as JSON texts.

        Raises:
            EpisodeError: There is no episode or it is over, or the action is not one.
            TauError: The other side, a provider or the harness failed; of the class of the cause.
        """
        return tuple(run(self._rollout.step(action)))

    def render(self) -> str | None:
        """Return the conversation so far as text; None without a render mode."""
        return None if self.render_mode is None else self._rollout.text()

    def close(self) -> None:
        """Cancel the conversation under way; the environment can be reset again."""
        if self._rollout.episode is not None:
            run(self._rollout.close())

    @property
    def simulation(self) -> Simulation | None:
        """The simulation of the current episode once it is over."""
        return self._rollout.episode.simulation if self._rollout.episode else None

    def save(self, path: Path | str) -> Path:
        """Append the simulation of the episode that is over to a file, as ``Episode.save``.

        Raises:
            EpisodeError: The episode is not over.
            OSError: The file cannot be written.
        """
        if self._rollout.episode is None:
            raise EpisodeError("the environment was not reset: there is no simulation to save")
        return self._rollout.episode.save(path)

    def __del__(self) -> None:
        rollout = getattr(self, "_rollout", None)
        if rollout is None or rollout.episode is None or rollout.episode.done or sys.is_finalizing():
            return
        start(rollout.close())


class TauAgentEnv(TauEnv):
    """One plays the agent."""

    side = "agent"


class TauUserEnv(TauEnv):
    """One plays the user."""

    side = "user"
