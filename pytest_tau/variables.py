"""The variables of the environment, read while other threads change them, and the names of some."""

from __future__ import annotations

import os

#: The variable with the key of an agent that is a server.
AGENT_KEY = "TAU_AGENT_API_KEY"
#: The variable with other hosts that are sent this key, if the agent's card names them.
AGENT_KEY_HOSTS = "TAU_AGENT_API_KEY_HOSTS"


def environment_variables() -> dict[str, str]:
    """Return a copy of the environment variables.

    pytest sets and removes one for each test, in its own thread. ``os.environ`` raises a ``KeyError`` for a variable
    that goes while it is copied.
    """
    return {name: value for name in list(os.environ) if (value := os.environ.get(name)) is not None}
