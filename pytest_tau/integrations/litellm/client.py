"""The litellm package, imported at the first call, and the event loop that every call through it runs on."""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from typing import Any

from ...background import BackgroundLoop
from ...errors import ConfigurationError, install_extra
from . import compat

#: Two threads that make their first call at once must not both change the environment.
_IMPORTING = threading.Lock()


def load() -> Any:
    """Return the litellm package, imported if it was not yet; that takes seconds.

    It is untyped: checking these modules must not check all of litellm.

    Raises:
        ConfigurationError: The extra ``llm`` is not installed, or does not work.
    """
    with _IMPORTING:
        compat.ignore_warnings()
        return _import()


@functools.cache
def _import() -> Any:
    try:
        with compat.bundled_prices():
            litellm: Any = importlib.import_module("litellm")
        importlib.import_module("tenacity")
    except ImportError as error:
        problem = f"model calls need litellm and tenacity: {install_extra('llm')} ({error})"
        raise ConfigurationError(problem) from error
    compat.silence(litellm)
    return litellm


def is_loaded() -> bool:
    """Return whether ``load`` returns at once."""
    return _import.cache_info().currsize > 0


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
