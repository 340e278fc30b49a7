"""Uses of private parts of pytest-asyncio and anyio's plugin: each says what it replaces, and when it can go."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from ..compat import active_fixtures

if TYPE_CHECKING:
    import asyncio

    import pytest


#: The scope of the one loop of anyio's plugin.
ANYIO = "anyio"


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
    """Return the event loop of a scope of pytest-asyncio; a fixture that runs on it is set up.

    It can go once pytest-asyncio has a public fixture for the loop of a scope.
    """
    loop: asyncio.AbstractEventLoop = request.getfixturevalue(f"_{scope}_scoped_runner").get_loop()
    return loop


def runs_by_anyio(item: Any, definition: Any) -> bool:
    """Return whether anyio's plugin runs a fixture: an ``async`` one of a test that depends on ``anyio_backend``.

    It can go once anyio has a public way to ask for the fixtures that it runs.
    """
    if not item.config.pluginmanager.hasplugin("anyio") or loop_scope_of(item.config, definition) is not None:
        return False
    function = getattr(definition.func, "__func__", definition.func)
    is_async = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
    return is_async and "anyio_backend" in item.fixturenames


def anyio_loop(request: pytest.FixtureRequest) -> asyncio.AbstractEventLoop | None:
    """Return the event loop of anyio's plugin, on which a fixture is set up; None if it runs no asyncio.

    It can go once anyio has a public fixture for its loop.
    """
    from anyio.pytest_plugin import extract_backend_and_options, get_runner

    with get_runner(*extract_backend_and_options(request.getfixturevalue("anyio_backend"))) as runner:
        get_loop: Any = getattr(runner, "get_loop", None)
        return None if get_loop is None else get_loop()


def loop_scope_of(config: pytest.Config, definition: Any) -> str | None:
    """Return the scope of the event loop of pytest-asyncio on which a fixture is run; None without the plugin."""
    return loop_scope(config, definition) if has_asyncio(config) else None


def active_loop_scopes(config: pytest.Config, item: Any) -> dict[str, str]:
    """Return the loop scopes of the async fixtures that are set up for a test, by name; ``anyio`` for its loop."""
    scopes = {
        name: ANYIO if runs_by_anyio(item, definition) else loop_scope_of(config, definition)
        for name, definition in active_fixtures(item).items()
    }
    return {name: scope for name, scope in scopes.items() if scope is not None}


def only_makes_loops(definition: Any) -> bool:
    """Return whether a fixture is one of pytest-asyncio's own, on which a trial on the loop of the run does not depend.

    One of them, ``event_loop_policy``, is requested by every test. It can go once pytest-asyncio no longer has it.
    """
    return str(definition.func.__module__) == "pytest_asyncio.plugin"
