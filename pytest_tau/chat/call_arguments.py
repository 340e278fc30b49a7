"""Checks of the arguments of model calls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Arguments that the run itself fills in.
_RESERVED = ("model", "messages", "tools", "stream_options")


def refuse_arguments(name: str, args: Mapping[str, Any]) -> None:
    """Refuse arguments that would change the shape of an answer, or belong to the conversation.

    Raises:
        ConfigurationError: There is such an argument.
    """
    for argument in _RESERVED:
        if argument in args:
            raise ConfigurationError(f"model {name!r}: {argument!r} cannot be set; pytest-tau sets it")
    if args.get("stream"):
        raise ConfigurationError(f"model {name!r}: streaming is not supported; remove 'stream'")
    if args.get("n", 1) != 1:
        raise ConfigurationError(f"model {name!r}: only one answer is requested per call; remove 'n'")
    timeout = args.get("timeout", 1)
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout < math.inf:
        raise ConfigurationError(f"model {name!r}: 'timeout': expected a number of seconds above 0, got {timeout!r}")
    for argument in ("api_base", "base_url"):
        if argument in args and not str(args[argument]).startswith(("http://", "https://")):
            raise ConfigurationError(
                f"model {name!r}: {argument!r}: expected a URL that begins with http:// or https://"
            )
    for argument in ("num_retries", "max_retries"):
        retries = args.get(argument, 0)
        if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
            raise ConfigurationError(
                f"model {name!r}: {argument!r}: expected an integer of at least 0, got {retries!r}"
            )
