"""The chat model of runs whose plugins provide none: over litellm, or without it over aiohttp."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from ..chat.call_arguments import refuse_arguments
from ..chat.prices import OWN_PRICES
from ..errors import ConfigurationError, install_extra
from .openai_api.route import PLAIN, PREFIX, WITHOUT_CLIENT, address_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..chat import ChatModel, ChatReply, ChatRequest
    from ..chat.prices import Price

#: Names of OpenAI's models that litellm also translates if a server of the user's own has them.
_TRANSLATED = re.compile(
    r"o\d|gpt-[5-9]|gpt-\w*(audio|search|realtime)|chatgpt|chat-latest|codex|computer-use|responses/"
)
#: Arguments that mean the same to both clients.
_SHARED = frozenset(
    {
        *("temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stop", "parallel_tool_calls"),
        *("presence_penalty", "frequency_penalty", "logit_bias", "extra_headers", "extra_body"),
        *("api_key", "api_base", "base_url", "timeout", "num_retries", "max_retries", "organization"),
        *OWN_PRICES,
    }
)
_THIS_MACHINE = frozenset({"127.0.0.1", "::1", "localhost"})
#: Settings of litellm that only its own calls follow.
_SETTINGS = ("callbacks", "success_callback", "failure_callback", "input_callback", "api_base", "api_key", "openai_key")
#: Variables that change litellm's calls.
_VARIABLES = ("LITELLM_LOG", "LITELLM_LOCAL_MODEL_COST_MAP")


def has_litellm() -> bool:
    """Return whether litellm is installed; it is not imported, which takes seconds."""
    if "litellm" in sys.modules:
        return sys.modules["litellm"] is not None
    return importlib.util.find_spec("litellm") is not None


def default_model(client: Literal["auto", "litellm"] = "auto", **limits: Any) -> ChatModel:
    """Return the default chat model.

    Args:
        client: ``auto`` for litellm, and aiohttp for models to which litellm would send the same; ``litellm`` for
            litellm only. Without litellm it is aiohttp.
        limits: The arguments of ``LimitedModel``.
    """
    if has_litellm() and client == "auto" and has_aiohttp():
        return ClientModel(**limits)
    if has_litellm():
        from .litellm import LiteLLM

        return LiteLLM(**limits)
    from .openai_api import OpenAIServer

    return OpenAIServer(**limits)


def has_aiohttp() -> bool:
    """Return whether the packages of the lighter client are installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("aiohttp", "tenacity"))


@functools.cache
def shared_model() -> ChatModel:
    """Return the default chat model of simulations outside of a run, one for the whole process."""
    if has_litellm():
        from .litellm.model import shared

        return shared()
    return default_model()


def check_model(
    name: str, args: Mapping[str, Any], *, priced: bool = False, prices: Mapping[str, Price] = MappingProxyType({})
) -> None:
    """Check a model's name, arguments and key before the default chat model calls it.

    Raises:
        ConfigurationError: It cannot be called, or the packages of the clients are not installed.
    """
    if has_litellm():
        _check_packages()
        refuse_arguments(name, args)
        if is_accepted(name, args, priced=priced, prices=prices):
            return
        from .litellm import check

        check(name, args, priced=priced, prices=prices)
        return
    from .openai_api import check

    # First: a model of another provider needs another package.
    check(name, args, priced=priced, prices=prices)
    _check_packages()


def _check_packages() -> None:
    """Check that the packages of a client are installed, without importing them."""
    if has_litellm() and importlib.util.find_spec("tenacity") is None:
        raise ConfigurationError(f"model calls need litellm and tenacity: {install_extra('llm')}")
    if not has_litellm() and not has_aiohttp():
        raise ConfigurationError(WITHOUT_CLIENT)


class ClientModel:
    """Answers each request with litellm, or with ``OpenAIServer`` if both send the same.

    Args:
        limits: The arguments of ``LimitedModel``.
    """

    def __init__(self, **limits: Any) -> None:
        self._limits = limits

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the model's answer.

        Raises:
            ModelError: The model or its provider failed.
            ConfigurationError: A library is not installed, or an argument cannot be one.
        """
        options = self._limits.get("options")
        # Calls of one provider that are limited together have one client.
        limited = options is not None and "openai" in options.per_provider and not address_of(request.args)
        direct = not limited and is_called_directly(request.model, request.args)
        return await (self._direct if direct else self._litellm).complete(request)

    @functools.cached_property
    def _direct(self) -> ChatModel:
        from .openai_api import OpenAIServer

        return OpenAIServer(**self._limits)

    @functools.cached_property
    def _litellm(self) -> ChatModel:
        from .litellm import LiteLLM

        return LiteLLM(**self._limits)


def is_called_directly(name: str, args: Mapping[str, Any]) -> bool:
    """Return whether a model is called without litellm where both clients are installed.

    That is a model of OpenAI, or of a server with OpenAI's API, to which litellm would send the same request.
    """
    model = name.removeprefix(PREFIX)
    if "/" in name and not name.startswith(PREFIX):
        return False
    of_own_server = address_of(args) is not None and name.startswith(PREFIX) and not _TRANSLATED.match(model)
    return bool(of_own_server or PLAIN.match(model)) and _SHARED.issuperset(args) and not _litellm_is_set_up()


def is_accepted(name: str, args: Mapping[str, Any], *, priced: bool, prices: Mapping[str, Price]) -> bool:
    """Return whether litellm's check of a model finds nothing, as far as that is known without importing litellm."""
    if not is_called_directly(name, args):
        return False
    from .openai_api.prices import listed_price

    address, is_listed = address_of(args), listed_price(name) is not None
    has_key = bool(args.get("api_key") or os.environ.get("OPENAI_API_KEY"))
    if address is None:  # a name that is not listed may be misspelt
        is_reached = has_key and is_listed
    else:  # litellm knows the servers of other providers, which need a key
        has_key = has_key or urlsplit(str(address)).hostname in _THIS_MACHINE
        is_reached = has_key and name.startswith(PREFIX)
    return is_reached and (not priced or is_listed or name in prices or set(args) >= set(OWN_PRICES))


def _litellm_is_set_up() -> bool:
    """Return whether the process has settings of litellm's, such as callbacks that log each call."""
    litellm = sys.modules.get("litellm")
    return any(getattr(litellm, name, None) for name in _SETTINGS) or any(os.environ.get(name) for name in _VARIABLES)
