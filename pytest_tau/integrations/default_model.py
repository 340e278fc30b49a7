"""The chat model of runs whose plugins provide none: over litellm, or without it over aiohttp."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..chat import ChatModel


def has_litellm() -> bool:
    """Return whether litellm is installed; it is not imported, which takes seconds."""
    if "litellm" in sys.modules:
        return sys.modules["litellm"] is not None
    return importlib.util.find_spec("litellm") is not None


def default_model(**limits: Any) -> ChatModel:
    """Return the default chat model: ``LiteLLM`` if litellm is installed, else ``OpenAIServer``.

    Args:
        limits: The arguments of ``LimitedModel``.
    """
    if has_litellm():
        from .litellm import LiteLLM

        return LiteLLM(**limits)
    from .openai_api import OpenAIServer

    return OpenAIServer(**limits)


def check_model(name: str, args: Mapping[str, Any], *, priced: bool = False) -> None:
    """Check a model's name, arguments and key before the default chat model calls it.

    Args:
        name: The model's name.
        args: The arguments of its calls.
        priced: Also check that its price is known.

    Raises:
        ConfigurationError: It cannot be called.
    """
    if has_litellm():
        from .litellm import check
    else:
        from .openai_api import check
    check(name, args, priced=priced)
