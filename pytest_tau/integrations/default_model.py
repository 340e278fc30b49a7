"""The chat model of runs whose plugins provide none: over litellm, or without it over aiohttp."""

from __future__ import annotations

import functools
import importlib.util
import sys
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from ..chat.call_arguments import refuse_arguments
from ..errors import ConfigurationError, install_extra
from .model_client import ClientModel, is_accepted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..chat import ChatModel
    from ..chat.prices import Price


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
    """Check that the packages of a client are installed, without importing them.

    Raises:
        ConfigurationError: They are not.
    """
    if has_litellm() and importlib.util.find_spec("tenacity") is None:
        raise ConfigurationError(f"model calls need litellm and tenacity: {install_extra('llm')}")
    if not has_litellm() and not has_aiohttp():
        from .openai_api.route import WITHOUT_CLIENT

        raise ConfigurationError(WITHOUT_CLIENT)
