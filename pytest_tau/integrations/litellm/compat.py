"""Workarounds for litellm: the only module that knows its private parts and its side effects on the process."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import logging
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_PRICES = "LITELLM_LOCAL_MODEL_COST_MAP"
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
#: Warnings in litellm's own modules, and pydantic's about its classes and objects: module and message.
_WARNINGS = (
    (r"litellm\b", ""),
    ("", ".*`ReadOnly` qualifier"),
    ("", ".*conflict with protected namespace"),
    ("", ".*attribute on the instance is deprecated"),
    ("", "Pydantic serializer warnings"),
)


@functools.cache
def mcp_workaround_args() -> dict[str, Any]:
    """Return arguments that keep litellm from looking for servers of its own proxy among a call's tools.

    For that it needs the package ``mcp``, which it does not require: without these arguments each call with tools
    would fail. Versions without the lookup would send them to the provider, so the module is looked for. Can go once
    the oldest supported litellm makes calls with tools without ``mcp``.
    """
    looks = importlib.util.find_spec("litellm.responses.mcp.chat_completions_handler")
    return {"_skip_mcp_handler": True} if looks else {}


def can_call_responses() -> bool:
    """Return whether the packages are installed that litellm imports for calls of OpenAI's Responses API.

    Releases between 1.90 and 1.108 import the package ``mcp`` for them, by the last module named here, and report a
    fault of the connection if it is missing. Later releases look at the tools first, by the module named before it.
    Can go, as the package in the extra ``llm``, once the oldest supported litellm is one of these.
    """
    found = sys.modules["mcp"] if "mcp" in sys.modules else importlib.util.find_spec("mcp")
    if found is not None or importlib.util.find_spec("litellm.responses.mcp.tool_precheck") is not None:
        return True
    try:
        importlib.import_module("litellm.responses.mcp.litellm_proxy_mcp_handler")
    except ImportError:
        return False
    return True


@contextlib.contextmanager
def bundled_prices() -> Iterator[None]:
    """Make litellm use the price list in its package when it is imported, unless the user has chosen one.

    It replaces a download at import. Can go once litellm takes the list by an argument or when it is first used.
    """
    if _PRICES in os.environ:
        yield
        return
    os.environ[_PRICES] = "True"
    try:
        yield
    finally:
        del os.environ[_PRICES]


def silence(litellm: Any) -> None:
    """Keep litellm from printing and logging failed calls; a ``ModelError`` has all of it.

    Can go once an argument of a call turns both off.
    """
    # The only setting of litellm that is changed for the whole process: without it litellm prints on standard output
    # whenever a call fails.
    litellm.suppress_debug_info = True
    # Users turn litellm's log on in litellm's way.
    if "LITELLM_LOG" not in os.environ:
        for logger in map(logging.getLogger, _LOGGERS):
            if logger.level == logging.NOTSET:
                logger.setLevel(logging.CRITICAL)


def ignore_warnings() -> None:
    """Ignore warnings about litellm's own code, as litellm does with some when it is imported.

    pytest resets the filters of the process after each test. If warnings are errors, litellm would take its own for a
    broken answer, or could not be imported. Can go once litellm's calls raise no warnings.
    """
    present = {(_text(each[3]), _text(each[1])) for each in warnings.filters if each[0] == "ignore"}
    for module, message in _WARNINGS:
        if (module, message) not in present:
            warnings.filterwarnings("ignore", module=module, message=message)


def _text(pattern: Any) -> str:
    return str(getattr(pattern, "pattern", pattern or ""))
