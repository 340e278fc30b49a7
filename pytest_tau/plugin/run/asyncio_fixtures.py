"""Trials on the event loops of pytest-asyncio: a client made in an async fixture is used on the loop it was made on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..compat import fixture_info
from .compat import active_loop_scopes, has_asyncio, loop_of_scope, loop_scope

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

    import pytest

#: The fixtures from which the trial is made.
_PARTS = ("tau_agent", "tau_user", "tau_env", "tau_task")
#: The scopes of event loops, narrowest first.
_SCOPES = ("function", "class", "module", "package", "session")


def is_async_fixture(config: pytest.Config, definition: object) -> bool:
    """Return whether pytest-asyncio runs a fixture on one of its event loops."""
    return has_asyncio(config) and loop_scope(config, definition) is not None


def fixture_loop(request: pytest.FixtureRequest) -> asyncio.AbstractEventLoop | None:
    """Return the event loop on which a trial must run; None if no async fixture was set up for its test.

    It is the loop of the async fixtures from which agent, user, environment and task are made. If there are none, an
    agent may still have another async fixture's value, by a hook: then it is the loop of the narrowest scope.

    Raises:
        ConfigurationError: They live on several loops, or the loop runs: the test should use ``tau_run``.
    """
    if not has_asyncio(request.config):
        return None
    active = active_loop_scopes(request.config, request.node)
    if not active:
        return None
    from ...errors import ConfigurationError

    needed = {name: active[name] for name in _needed(request.node) if name in active}
    if len(set(needed.values())) > 1:
        where = ", ".join(f"{name} ({scope})" for name, scope in needed.items())
        raise ConfigurationError(
            f"the agent and the user depend on async fixtures on several event loops: {where}: give these fixtures "
            f'the same loop_scope, such as @pytest_asyncio.fixture(loop_scope="{max(needed.values(), key=_width)}")'
        )
    loop = loop_of_scope(request, min((needed or active).values(), key=_width))
    if loop.is_running():
        raise ConfigurationError(
            "tau_simulation cannot be requested while the event loop of the test runs: request it as an argument of "
            "the "
            "test, or await tau_run()"
        )
    return loop


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

    if not has_asyncio(request.config):
        return
    active = active_loop_scopes(request.config, request.node)
    for name in _needed(request.node):
        if name in active and loop_of_scope(request, active[name]) is not asyncio.get_running_loop():
            raise ConfigurationError(
                f"tau_run() runs on the loop of the test, but the async fixture {name} is on the loop of another "
                "scope: "
                f'mark the test with @pytest.mark.asyncio(loop_scope="{active[name]}")'
            )
