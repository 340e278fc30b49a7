"""The server and the key of a model with OpenAI's API, and checks of them before anything runs."""

from __future__ import annotations

import os
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from ...chat.call_arguments import refuse_arguments, refuse_name
from ...chat.masking import is_secret
from ...chat.prices import OWN_PRICES, PRICES_OF_LITELLM, Price, refuse_unpriced
from ...errors import ConfigurationError, install_extra

if TYPE_CHECKING:
    from collections.abc import Mapping

_OPENAI = "https://api.openai.com/v1"
PREFIX = "openai/"
#: Models of OpenAI whose requests litellm sends as they are. It translates those of others: it renames arguments, drops
#: a temperature that they do not accept, or calls the Responses API.
PLAIN = re.compile(r"gpt-(3\.5|4)(?!.*(audio|search|realtime))")
_KEY = "OPENAI_API_KEY"


class Route(NamedTuple):
    """The way to a model. Its repr has no key.

    Attributes:
        url: The address for chat completions.
        model: The model's name as the server knows it.
        key: The key, if there is one.
    """

    url: str
    model: str
    key: str | None

    def __repr__(self) -> str:
        return f"Route({self.model!r})"


def address_of(args: Mapping[str, Any]) -> Any:
    """Return the address that the user gives; None for that of the provider."""
    given = args.get("api_base") or args.get("base_url")
    return given or os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")


def route(name: str, args: Mapping[str, Any]) -> Route:
    """Return the way to a model.

    Args:
        name: ``openai/MODEL``; with an address in the arguments or in ``OPENAI_BASE_URL``, any name.
        args: The arguments of its calls.

    Raises:
        ConfigurationError: Its server is not known without litellm.
    """
    refuse_name(name)
    if not (args.get("api_base") or args.get("base_url")) and not name.startswith(PREFIX) and not PLAIN.match(name):
        problem = (
            f"model {name!r} needs litellm: {install_extra('llm')}; without it, only servers "
            "with OpenAI's API can be called: openai/MODEL, or any name with 'base_url' among its arguments"
        )
        raise ConfigurationError(problem)
    key = args.get("api_key") or os.environ.get(_KEY) or None
    return Route(f"{str(address_of(args) or _OPENAI).rstrip('/')}/chat/completions", name.removeprefix(PREFIX), key)


#: The error of a model call without the packages of any client.
WITHOUT_CLIENT = (
    f"model calls need litellm (any provider): {install_extra('llm')}, or aiohttp and tenacity (servers with OpenAI's "
    f"API): {install_extra('endpoint')}"
)


def check(
    name: str, args: Mapping[str, Any], *, priced: bool = False, prices: Mapping[str, Price] = MappingProxyType({})
) -> None:
    """Check a model's name, arguments and key before it is called.

    Raises:
        ConfigurationError: A server that is not known, an argument that cannot be one, a missing key, or an unknown
            price.
    """
    refuse_arguments(name, args)
    found = route(name, args)
    if lacks_key(found, args):
        raise ConfigurationError(f"model {name!r} needs a key: set {_KEY}, or add 'api_key' to its arguments")
    if priced and not (set(args) >= set(OWN_PRICES) or name in prices):
        refuse_unpriced(name, PRICES_OF_LITELLM)


def lacks_key(found: Route, args: Mapping[str, Any]) -> bool:
    """Return whether a call would go to OpenAI without a key."""
    if found.key or urlsplit(found.url).hostname != urlsplit(_OPENAI).hostname:
        return False
    return not any(is_secret(argument) for argument in args if argument not in OWN_PRICES)


def describe_key(args: Mapping[str, Any]) -> str:
    """Return a description of the key that a call was made with."""
    if args.get("api_key"):
        return "the key in the model's arguments"
    return f"the key in {_KEY}" if os.environ.get(_KEY) else f"a call without a key ({_KEY} not set)"
