"""Agents that are programs of their own.

``cmd:PROGRAM`` runs a command for each turn, ``stdio:PROGRAM`` one that stays, ``a2a:URL`` speaks to a server.
"""

from __future__ import annotations

import importlib
from functools import partial
from typing import TYPE_CHECKING, Any

from ...endpoint.listener import load_web
from ..own_loop.form import own_loop
from .program import PREFIX, ProgramAgent, parse_command
from .stdio import PREFIX as STAYING, StayingAgent, parse_staying

if TYPE_CHECKING:
    from pathlib import Path

    from ..own_loop import AgentTrial

__all__ = ["PROGRAMS", "check_server", "is_program", "is_server", "program_factory"]

_SERVER = "a2a:"
#: The specifications, for lists of what an agent can be.
PROGRAMS = ("cmd:PROGRAM ARGUMENTS", "stdio:PROGRAM ARGUMENTS", "a2a:URL")


def is_program(spec: Any) -> bool:
    """Return whether a specification is a command or an A2A server."""
    return isinstance(spec, str) and spec.startswith((PREFIX, STAYING, _SERVER))


def is_server(spec: Any) -> bool:
    """Return whether a specification is an A2A server, which ``check_server`` can check."""
    return isinstance(spec, str) and spec.startswith(_SERVER)


def program_factory(spec: str, folder: Path) -> partial[Any]:
    """Return what makes the agent of a trial.

    Raises:
        ConfigurationError: The command or the URL cannot be used, or the extra that it needs is not installed.
    """
    if is_server(spec):
        _a2a().card_url(spec)
        factory: partial[Any] = partial(_server_agent, spec)
    elif spec.startswith(STAYING):
        factory = partial(StayingAgent, parse_staying(spec, folder))
    else:
        factory = partial(ProgramAgent, parse_command(spec, folder))
    load_web()
    return factory


def check_server(spec: str) -> None:
    """Check that an A2A server can be reached and speaks a supported version of the protocol.

    Raises:
        ConfigurationError: It does not, or its card cannot be read.
    """
    _a2a().check_server(spec)


@own_loop
def _server_agent(spec: str, trial: AgentTrial) -> Any:
    def metadata() -> dict[str, str]:
        return {name: getattr(trial, name) for name in ("mcp_url", "base_url", "api_key", "policy")}

    return _a2a().A2AAgent(spec, metadata, trial.bridge.fail)


def _a2a() -> Any:
    # By name: integrations are imported when they are used, and may use what stands above this package.
    return importlib.import_module("pytest_tau.integrations.a2a")
