"""The chat model of runs whose plugins provide none: over litellm, or without it over aiohttp."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from ..chat.prices import OWN_PRICES, check_price
from ..errors import ConfigurationError
from .openai_api.route import PLAIN, PREFIX, WITHOUT_CLIENT, address_of, listed_price

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
            litellm only. Without litellm it is aiohttp. Calls of one provider that are limited together have one
            client.
        limits: The arguments of ``LimitedModel``.
    """
    if not has_litellm():
        from .openai_api import OpenAIServer

        return OpenAIServer(**limits)
    options = limits.get("options")
    if client == "auto" and not (options and options.per_provider):
        return ClientModel(**limits)
    from .litellm import LiteLLM

    return LiteLLM(**limits)


@functools.cache
def shared_model() -> ChatModel:
    """Return the default chat model of simulations outside of a run, one for the whole process."""
    return default_model()


def check_model(
    name: str, args: Mapping[str, Any], *, priced: bool = False, prices: Mapping[str, Price] = MappingProxyType({})
) -> None:
    """Check a model's name, arguments and key before the default chat model calls it.

    Raises:
        ConfigurationError: It cannot be called, or the packages of the clients are not installed.
    """
    if importlib.util.find_spec("tenacity") is None or not (has_litellm() or importlib.util.find_spec("aiohttp")):
        raise ConfigurationError(WITHOUT_CLIENT)
    if has_litellm() and not is_checked_without_litellm(name, args):
        from .litellm import check
    else:
        from .openai_api import check
    check(name, args, priced=priced, prices=prices)


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
        direct = is_called_directly(request.model, request.args)
        return await (self._direct if direct else self._litellm).complete(request)

    def refuse_unpriced(self, request: ChatRequest) -> None:
        """Refuse a request to a model without a known price."""
        options = self._limits.get("options")
        check_price(check_model, request, options.prices if options else {})

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


def is_checked_without_litellm(name: str, args: Mapping[str, Any]) -> bool:
    """Return whether a model is known without importing litellm, which takes seconds: a listed one, or the user's."""
    known = address_of(args) is not None or listed_price(name) is not None  # another name may be misspelt
    return known and is_called_directly(name, args)


def _litellm_is_set_up() -> bool:
    """Return whether the process has settings of litellm's, such as callbacks that log each call."""
    litellm = sys.modules.get("litellm")
    return any(getattr(litellm, name, None) for name in _SETTINGS) or any(os.environ.get(name) for name in _VARIABLES)
