"""The variables of the environment, read while other threads change them."""

from __future__ import annotations

import os


def environment_variables() -> dict[str, str]:
    """Return a copy of the environment variables.

    pytest sets and removes one for each test, in its own thread. ``os.environ`` raises a ``KeyError`` for a variable
    that goes while it is copied.
    """
    return {name: value for name in list(os.environ) if (value := os.environ.get(name)) is not None}
