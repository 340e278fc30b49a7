"""Checks of the arguments of model calls."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Arguments of each call, unless others are given. Source: τ²-bench v1.0.1.
DEFAULTS: Mapping[str, Any] = MappingProxyType({"temperature": 0.0})
#: Efforts with which litellm does not switch thinking on.
_NO_EFFORT = (None, "none", "disable")
#: Arguments that the run itself fills in.
_RESERVED = ("model", "messages", "tools", "stream_options")


def with_defaults(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a model's calls, over the defaults.

    A default that is given as None is removed. A model of Anthropic's that thinks has no temperature but a given one.
    """
    defaults = {} if thinks(name, given) else DEFAULTS
    merged = {**defaults, **given}
    return {argument: value for argument, value in merged.items() if value is not None or argument not in DEFAULTS}


def is_anthropic(model: str) -> bool:
    """Return whether a model is Anthropic's, whichever provider runs it."""
    return model.startswith("anthropic/") or "claude" in model.lower()


def thinks(model: str, args: Mapping[str, Any]) -> bool:
    """Return whether the arguments of a call switch on the thinking of a model of Anthropic's."""
    thinking = args.get("thinking")
    by_thinking = isinstance(thinking, dict) and thinking.get("type") != "disabled"
    return is_anthropic(model) and (by_thinking or args.get("reasoning_effort") not in _NO_EFFORT)


def refuse_name(name: str) -> None:
    """Refuse a text that is not the name of a model.

    Raises:
        ConfigurationError: It is empty, has blanks, or lacks what stands before or behind a slash.
    """
    if not name.strip() or name != "".join(name.split()) or name.startswith("/") or name.endswith("/"):
        raise ConfigurationError(f"{name!r} is not a model name: expected provider and model, such as openai/gpt-4.1")


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
