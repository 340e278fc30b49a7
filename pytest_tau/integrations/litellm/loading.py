"""Importing litellm: at the first call only, without a download and without its chatter."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import logging
import os
import threading
import warnings
from typing import TYPE_CHECKING, Any

from ...errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

_PRICES = "LITELLM_LOCAL_MODEL_COST_MAP"
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
#: Warnings in litellm's own modules, and what pydantic has to say of its classes and objects: module and message.
_WARNINGS = (
    (r"litellm\b", ""),
    ("", ".*`ReadOnly` qualifier"),
    ("", ".*conflict with protected namespace"),
    ("", ".*attribute on the instance is deprecated"),
    ("", "Pydantic serializer warnings"),
)
#: Two threads that make their first call at once must not both change the environment.
_IMPORTING = threading.Lock()


def load() -> Any:
    """The litellm package, imported now where it was not yet; that takes seconds.

    It is handed out untyped: checking these modules is not to check all of litellm.

    Raises:
        ConfigurationError: The extra ``llm`` is not installed, or does not work.
    """
    with _IMPORTING:
        _let_warnings_pass()
        return _imported()


@functools.cache
def past_the_gateway() -> dict[str, Any]:
    """Arguments for calls with tools, which keep litellm from looking among them for servers of its own proxy.

    Where it looks it needs the package ``mcp``, which it does not require: without these arguments each call with
    tools would fail. Earlier versions, which do not look, would send them to the provider.
    """
    looks = importlib.util.find_spec("litellm.responses.mcp.chat_completions_handler")
    return {"_skip_mcp_handler": True} if looks else {}


@functools.cache
def _imported() -> Any:
    try:
        with _bundled_prices():
            litellm: Any = importlib.import_module("litellm")
        importlib.import_module("tenacity")
    except ImportError as error:
        problem = f"model calls need litellm and tenacity: pip install 'pytest-tau[llm]' ({error})"
        raise ConfigurationError(problem) from error
    _silence(litellm)
    return litellm


@contextlib.contextmanager
def _bundled_prices() -> Iterator[None]:
    """Let litellm take the price list that it ships, unless the user has said which one."""
    if _PRICES in os.environ:
        yield
        return
    os.environ[_PRICES] = "True"
    try:
        yield
    finally:
        del os.environ[_PRICES]


def _silence(litellm: Any) -> None:
    # The only setting of litellm's that is changed for the whole process: without it litellm prints where to get help
    # on standard output whenever a call fails, and there is no argument of a call for that.
    litellm.suppress_debug_info = True
    # What litellm would log of a failed call is in the ModelError. Whoever wants its log says so, in litellm's way.
    if "LITELLM_LOG" not in os.environ:
        for logger in map(logging.getLogger, _LOGGERS):
            if logger.level == logging.NOTSET:
                logger.setLevel(logging.CRITICAL)


def _let_warnings_pass() -> None:
    """Ignore warnings about litellm's own code, as litellm does of some when it is imported.

    pytest puts the filters of the process back after each test. Where warnings are errors, as they are in careful
    projects, litellm would then take its own for a broken answer, or not be imported at all.
    """
    present = {(_text(each[3]), _text(each[1])) for each in warnings.filters if each[0] == "ignore"}
    for module, message in _WARNINGS:
        if (module, message) not in present:
            warnings.filterwarnings("ignore", module=module, message=message)


def _text(pattern: Any) -> str:
    return str(getattr(pattern, "pattern", pattern or ""))
