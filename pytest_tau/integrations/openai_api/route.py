"""The server, the key and the price of a model with OpenAI's API, and checks of them before anything runs."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from ...chat.call_arguments import refuse_arguments, refuse_name
from ...chat.prices import OWN_PRICES, PRICES_OF_LITELLM, Price, refuse_unpriced
from ...documents import DocumentError, read_json
from ...errors import ConfigurationError, install_extra
from ...masking import is_secret

if TYPE_CHECKING:
    from collections.abc import Mapping

_OPENAI = "https://api.openai.com/v1"
PREFIX = "openai/"
#: Models of OpenAI whose requests litellm sends as they are. It translates those of others: it renames arguments, drops
#: a temperature that they do not accept, or calls the Responses API.
PLAIN = re.compile(r"gpt-(3\.5|4)(?!.*(audio|search|realtime))")
_KEY = "OPENAI_API_KEY"
#: The list of prices in litellm's package, which is read without importing litellm.
_FILE = "model_prices_and_context_window_backup.json"
_MILLION = 1_000_000


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
    f"model calls need litellm and tenacity (any provider): {install_extra('llm')}, or aiohttp and tenacity (servers "
    f"with OpenAI's API): {install_extra('endpoint')}"
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
    if priced and not (set(args) >= set(OWN_PRICES) or name in prices or listed_price(name)):
        refuse_unpriced(name, "" if _list() else PRICES_OF_LITELLM)


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


def listed_price(name: str) -> Price | None:
    """Return the price of a model of OpenAI's by litellm's list; None if the list has none.

    Args:
        name: The model's name, with or without its provider.
    """
    listed = _list().get(name.removeprefix("openai/"))
    if not isinstance(listed, dict) or listed.get("litellm_provider") != "openai":
        return None
    sent, received = listed.get("input_cost_per_token"), listed.get("output_cost_per_token")
    if sent is None or received is None:
        return None
    cached = listed.get("cache_read_input_token_cost")
    return Price(sent * _MILLION, received * _MILLION, None if cached is None else cached * _MILLION)


@functools.cache
def _list() -> Mapping[str, Any]:
    found = importlib.util.find_spec("litellm")
    if found is None or found.origin is None:
        return {}
    try:
        listed: Mapping[str, Any] = read_json(Path(found.origin).with_name(_FILE))
    except (OSError, DocumentError):
        return {}  # a version of litellm with another file: such calls have no price
    return listed
