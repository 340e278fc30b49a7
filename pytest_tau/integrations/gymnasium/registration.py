"""The ids of the environments, and those of τ²-bench for programs that were written for it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import gymnasium

from .env import TauAgentEnv, TauEnv, TauUserEnv
from .vector import TauAgentVectorEnv, TauUserVectorEnv

if TYPE_CHECKING:
    from collections.abc import Callable

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
        _add("tau-bench-v0", functools.partial(_tau2_env, TauAgentEnv), None)
        _add("tau-bench-user-v0", functools.partial(_tau2_env, TauUserEnv), None)


def _add(name: str, entry_point: Callable[..., Any], vector: Callable[..., Any] | None) -> None:
    if name not in gymnasium.registry:
        gymnasium.register(name, entry_point=entry_point, vector_entry_point=vector, nondeterministic=True)


def _tau2_env(
    kind: type[TauEnv],
    domain: str,
    task_id: str,
    max_steps: int = 100,
    solo_mode: bool = False,
    all_messages_as_observation: bool = False,
    **arguments: Any,
) -> TauEnv:
    """Make an environment by the reference's arguments: with its model for the other side, if nothing else is named."""
    other = "user" if kind.side == "agent" else "agent"
    settings = {name: value for name, value in arguments.items() if value is not None}
    if not solo_mode and (other not in settings or f"{other}_llm" in settings):
        settings = {f"{other}_llm": _MODEL, f"{other}_llm_args": _MODEL_ARGS, **settings}
    observation = "all" if all_messages_as_observation else "new"
    return kind(
        **{"observation": observation, **settings}, domain=domain, task=task_id, max_steps=max_steps, solo=solo_mode
    )
