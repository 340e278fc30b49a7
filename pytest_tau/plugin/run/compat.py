"""Uses of private parts of pytest-asyncio: each says what it replaces, and when it can go."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from ..compat import active_fixtures

if TYPE_CHECKING:
    import asyncio

    import pytest


def has_asyncio(config: pytest.Config) -> bool:
    """Return whether pytest-asyncio is installed and not blocked."""
    return config.pluginmanager.hasplugin("asyncio")


def loop_scope(config: pytest.Config, definition: Any) -> str | None:
    """Return the scope of the event loop on which pytest-asyncio runs a fixture; None for any other fixture.

    It can go once pytest-asyncio has a public way to ask for the loop of a fixture.
    """
    function = getattr(definition.func, "__func__", definition.func)
    if not getattr(function, "_force_asyncio_fixture", False):
        mode = config.getoption("asyncio_mode") or config.getini("asyncio_mode")
        is_async = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
        if mode != "auto" or not is_async:
            return None
    default = config.getini("asyncio_default_fixture_loop_scope")
    usual = definition.scope if default == "fixture-scope" else default
    return str(getattr(function, "_loop_scope", None) or usual or definition.scope)


def loop_of_scope(request: pytest.FixtureRequest, scope: str) -> asyncio.AbstractEventLoop:
    """Return the event loop of a scope; a fixture that runs on it is set up.

    It can go once pytest-asyncio has a public fixture for the loop of a scope.
    """
    loop: asyncio.AbstractEventLoop = request.getfixturevalue(f"_{scope}_scoped_runner").get_loop()
    return loop


def active_loop_scopes(config: pytest.Config, item: Any) -> dict[str, str]:
    """Return the loop scopes of the async fixtures that are set up for a test, by name."""
    scopes = {name: loop_scope(config, definition) for name, definition in active_fixtures(item).items()}
    return {name: scope for name, scope in scopes.items() if scope is not None}


def only_makes_loops(definition: Any) -> bool:
    """Return whether a fixture is one of pytest-asyncio's own, on which a trial on the loop of the run does not depend.

    One of them, ``event_loop_policy``, is requested by every test. It can go once pytest-asyncio no longer has it.
    """
    return str(definition.func.__module__) == "pytest_asyncio.plugin"
