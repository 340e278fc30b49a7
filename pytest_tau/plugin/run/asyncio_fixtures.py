"""Trials on the event loops of pytest-asyncio and anyio's plugin.

A client that is made in an async fixture is used on the loop on which it was made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..compat import fixture_info
from .compat import ANYIO, active_loop_scopes, anyio_loop, loop_of_scope, loop_scope_of, runs_by_anyio

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

    import pytest

#: The fixtures from which the trial is made.
_PARTS = ("tau_agent", "tau_user", "tau_env", "tau_task")
#: How a test of anyio's plugin is run on asyncio.
_ON_ASYNCIO = "let the fixture anyio_backend return 'asyncio'"
#: The scopes of event loops, narrowest first.
_SCOPES = ("function", "class", "module", "package", "session", ANYIO)


def is_async_fixture(item: pytest.Item, definition: object) -> bool:
    """Return whether a plugin runs a fixture on an event loop."""
    return runs_by_anyio(item, definition) or loop_scope_of(item.config, definition) is not None


def fixture_loop(request: pytest.FixtureRequest) -> asyncio.AbstractEventLoop | None:
    """Return the event loop on which a trial must run; None if no async fixture was set up for its test.

    It is the loop of the async fixtures from which agent, user, environment and task are made. If there are none, an
    agent may still have another async fixture's value, by a hook: then it is the loop of the narrowest scope.

    Raises:
        ConfigurationError: They live on several loops or on trio, or the loop runs: the test should use ``tau_run``.
    """
    active = active_loop_scopes(request.config, request.node)
    if not active:
        return None
    from ...errors import ConfigurationError

    needed = {name: active[name] for name in _needed(request.node) if name in active}
    if len(set(needed.values())) > 1:
        where = ", ".join(f"{name} ({scope})" for name, scope in needed.items())
        problem = f"the agent and the user depend on async fixtures on several event loops: {where}"
        if ANYIO in needed.values():
            raise ConfigurationError(f"{problem}: let one plugin run these fixtures, pytest-asyncio or anyio")
        raise ConfigurationError(
            f"{problem}: give these fixtures the same loop_scope, such as "
            f'@pytest_asyncio.fixture(loop_scope="{max(needed.values(), key=_width)}")'
        )
    loop = _loop(request, min((needed or active).values(), key=_width))
    if loop is None and needed:
        raise ConfigurationError(
            f"the async fixture {next(iter(needed))} runs on trio, and trials run on asyncio: {_ON_ASYNCIO}"
        )
    if loop is not None and loop.is_running():
        raise ConfigurationError(
            "tau_simulation cannot be requested while the event loop of the test runs: request it as an argument of "
            "the "
            "test, or await tau_run()"
        )
    return loop


def _loop(request: pytest.FixtureRequest, scope: str) -> asyncio.AbstractEventLoop | None:
    """Return the event loop of a scope; None if anyio's plugin runs trio."""
    return anyio_loop(request) if scope == ANYIO else loop_of_scope(request, scope)


def _width(scope: str) -> int:
    return _SCOPES.index(scope)


def _needed(item: pytest.Item) -> Iterator[str]:
    """Yield the names of the fixtures of which the trial is made, and of the fixtures that these request, each once."""
    definitions = fixture_info(item).name2fixturedefs
    names, seen = list(_PARTS), set(_PARTS)
    for name in names:
        yield name
        new = {argument for definition in definitions.get(name, ()) for argument in definition.argnames} - seen
        seen |= new
        names += sorted(new)


def check_test_loop(request: pytest.FixtureRequest) -> None:
    """Check that a trial may run on the event loop that runs: that of the fixtures from which it is made.

    Raises:
        ConfigurationError: One of them lives on another loop.
    """
    import asyncio

    from ...errors import ConfigurationError

    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        raise ConfigurationError(
            f"tau_run() runs on asyncio, and the test runs on another library, such as trio: {_ON_ASYNCIO}"
        ) from None
    active = active_loop_scopes(request.config, request.node)
    for name in _needed(request.node):
        if name in active and _loop(request, active[name]) is not running:
            mark = "anyio" if active[name] == ANYIO else f'asyncio(loop_scope="{active[name]}")'
            raise ConfigurationError(
                f"tau_run() runs on the loop of the test, but the async fixture {name} is on the loop of another "
                f"scope: mark the test with @pytest.mark.{mark}"
            )
