"""The litellm package, imported at the first call, the event loop of every call through it, and its workarounds."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import logging
import os
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any

from ...background import BackgroundLoop
from ...errors import ConfigurationError, install_extra

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Two threads that make their first call at once must not both change the environment.
_IMPORTING = threading.Lock()

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


def load() -> Any:
    """Return the litellm package, imported if it was not yet; that takes seconds.

    It is untyped: checking these modules must not check all of litellm.

    Raises:
        ConfigurationError: The extra ``llm`` is not installed, or does not work.
    """
    with _IMPORTING:
        _ignore_warnings()
        return _import()


@functools.cache
def _import() -> Any:
    try:
        with _bundled_prices():
            litellm: Any = importlib.import_module("litellm")
        importlib.import_module("tenacity")
    except ImportError as error:
        problem = f"model calls need litellm and tenacity: {install_extra('llm')} ({error})"
        raise ConfigurationError(problem) from error
    _silence(litellm)
    return litellm


async def _close_clients() -> None:
    litellm = sys.modules.get("litellm")
    if litellm is not None:
        await litellm.close_litellm_async_clients()


#: litellm keeps its HTTP clients and a logging task for the whole process, bound to the loop that first used them, and
#: looks them up by the loop's address, which a later loop may have as well. Calls come from the short-lived loops of
#: trials and threads. With one loop for the whole process every client is usable for every call, connections stay open,
#: and calls in flight are counted without locks.
#: litellm prepares each call, and looks up each host, in a thread of the loop's; a provider without an asynchronous
#: client keeps one for the whole call.
LOOP = BackgroundLoop("tau-model-calls", threads=64, closing=_close_clients)
submit = LOOP.submit


# Workarounds for the private parts of litellm, and for its side effects on the process


@functools.cache
def mcp_workaround_args() -> dict[str, Any]:
    """Return arguments that keep litellm from looking for servers of its own proxy among a call's tools.

    For that it needs the package ``mcp``, which it does not require: without these arguments each call with tools
    would fail. Versions without the lookup would send them to the provider, so the module is looked for. Can go once
    the oldest supported litellm makes calls with tools without ``mcp``.
    """
    looks = importlib.util.find_spec("litellm.responses.mcp.chat_completions_handler")
    return {"_skip_mcp_handler": True} if looks else {}


@contextlib.contextmanager
def _bundled_prices() -> Iterator[None]:
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


def _silence(litellm: Any) -> None:
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


def _ignore_warnings() -> None:
    """Ignore warnings about litellm's own code, as litellm does with some when it is imported.

    pytest resets the filters of the process after each test, and puts those of the next one before them. If warnings
    are errors, litellm would take its own for a broken answer, or could not be imported. Can go once litellm's calls
    raise no warnings.
    """
    first = {(_text(entry[3]), _text(entry[1])) for entry in warnings.filters[: len(_WARNINGS)] if entry[0] == "ignore"}
    if first != set(_WARNINGS):
        for module, message in _WARNINGS:
            warnings.filterwarnings("ignore", module=module, message=message)


def _text(pattern: Any) -> str:
    return str(getattr(pattern, "pattern", pattern or ""))
