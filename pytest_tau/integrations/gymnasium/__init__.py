"""Gymnasium environments: step the agent's side or the user's side of a conversation (extra ``gym``).

Importing this package registers ``tau-agent-v0`` and ``tau-user-v0``::

    env = gymnasium.make("pytest_tau.integrations.gymnasium:tau-agent-v0", domain="telecom", split="train")
"""

from ...errors import ConfigurationError, install_extra

try:
    import gymnasium
except ImportError as _error:
    raise ConfigurationError(f"gymnasium is not installed: {install_extra('gym')} ({_error})") from _error
del gymnasium

# After the error that names the extra.
from .env import TauAgentEnv, TauEnv, TauUserEnv  # noqa: E402
from .registration import register  # noqa: E402
from .spaces import ActionSpace, ChatSpace, TextSpace  # noqa: E402
from .vector import TauAgentVectorEnv, TauUserVectorEnv, TauVectorEnv  # noqa: E402

register()

__all__ = [
    "ActionSpace",
    "ChatSpace",
    "TauAgentEnv",
    "TauAgentVectorEnv",
    "TauEnv",
    "TauUserEnv",
    "TauUserVectorEnv",
    "TauVectorEnv",
    "TextSpace",
    "register",
]
