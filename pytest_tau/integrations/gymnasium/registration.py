"""The ids of the environments, and those of τ²-bench for programs that were written for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium

from .env import TauAgentEnv, TauUserEnv
from .vector import TauAgentVectorEnv, TauUserVectorEnv

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: The model of the other side, if none is named. Source: τ²-bench v1.0.1.
_MODEL, _MODEL_ARGS = "openai/gpt-4.1-2025-04-14", {"temperature": 0.0}


def register(*, compat: bool = False) -> None:
    """Register the ids ``tau-agent-v0`` and ``tau-user-v0``; those that are registered stay.

    Args:
        compat: Also register ``tau-bench-v0`` and ``tau-bench-user-v0``, the ids of τ²-bench, with its arguments
            ``domain``, ``task_id``, ``max_steps``, ``solo_mode``, ``user_llm``, ``user_llm_args``, ``agent_llm``,
            ``agent_llm_args`` and ``all_messages_as_observation``. Observations and infos are those of this package.
            Further arguments are passed on, such as ``user="scripted"``.
    """
    _add("tau-agent-v0", TauAgentEnv, TauAgentVectorEnv)
    _add("tau-user-v0", TauUserEnv, TauUserVectorEnv)
    if compat:
        _add("tau-bench-v0", agent_env, None)
        _add("tau-bench-user-v0", user_env, None)


def _add(name: str, entry_point: Callable[..., Any], vector: Callable[..., Any] | None) -> None:
    if name not in gymnasium.registry:
        gymnasium.register(name, entry_point=entry_point, vector_entry_point=vector, nondeterministic=True)


def agent_env(
    domain: str,
    task_id: str,
    max_steps: int = 100,
    solo_mode: bool = False,
    user_llm: str | None = None,
    user_llm_args: Mapping[str, Any] | None = None,
    all_messages_as_observation: bool = False,
    **arguments: Any,
) -> TauAgentEnv:
    """Make an agent's environment by the reference's arguments."""
    if not solo_mode:
        arguments |= _other_side("user", user_llm, user_llm_args, arguments)
    observation = "all" if all_messages_as_observation else "new"
    return TauAgentEnv(
        **{"observation": observation, **arguments}, domain=domain, task=task_id, max_steps=max_steps, solo=solo_mode
    )


def user_env(
    domain: str,
    task_id: str,
    max_steps: int = 100,
    agent_llm: str | None = None,
    agent_llm_args: Mapping[str, Any] | None = None,
    all_messages_as_observation: bool = False,
    **arguments: Any,
) -> TauUserEnv:
    """Make a user's environment by the reference's arguments."""
    arguments |= _other_side("agent", agent_llm, agent_llm_args, arguments)
    observation = "all" if all_messages_as_observation else "new"
    return TauUserEnv(**{"observation": observation, **arguments}, domain=domain, task=task_id, max_steps=max_steps)


def _other_side(
    side: str, llm: str | None, args: Mapping[str, Any] | None, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of the other side: the model that was named, and the reference's if nothing was."""
    if llm is None and arguments.get(side) is not None:
        return {}
    return {f"{side}_llm": llm or _MODEL, f"{side}_llm_args": _MODEL_ARGS if args is None else args}
