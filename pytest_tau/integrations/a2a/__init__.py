"""Agents behind an A2A address, by the client of a2a-sdk (extra ``a2a``): JSON-RPC of A2A 1.x and 0.3.

The SDK builds, sends and reads the messages of both versions. Here is what it leaves to its callers: who is sent a key,
which redirects and proxies are followed (none), how large an answer may be, and whose fault an error is.
"""

from ...errors import ConfigurationError, install_extra

try:
    import a2a.client  # noqa: F401
    import httpx  # noqa: F401
except ImportError as error:
    problem = f"an agent behind an A2A address needs a2a-sdk: {install_extra('a2a')} ({error})"
    raise ConfigurationError(problem) from error

from .agent import A2AAgent, check_server
from .card import card_url

__all__ = ["A2AAgent", "card_url", "check_server"]
