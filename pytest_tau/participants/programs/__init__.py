"""Agents that are programs of their own.

``cmd:PROGRAM`` runs a command for each turn, ``stdio:PROGRAM`` one that stays, ``a2a:URL`` speaks to a server.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ...endpoint.listener import load
from . import a2a_protocol as protocol
from .a2a import A2AAgent, check_server
from .a2a_protocol import KEY_VARIABLE
from .program import PREFIX, ProgramAgent, parse_command
from .stdio import PREFIX as STAYING, StayingAgent, parse_staying

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["KEY_VARIABLE", "PROGRAMS", "check_server", "is_program", "is_server", "program_factory"]

#: The specifications, for lists of what an agent can be.
PROGRAMS = ("cmd:PROGRAM ARGUMENTS", "stdio:PROGRAM ARGUMENTS", "a2a:URL")


def is_program(spec: Any) -> bool:
    """Return whether a specification is a command or an A2A server."""
    return isinstance(spec, str) and spec.startswith((PREFIX, STAYING, protocol.PREFIX))


def is_server(spec: Any) -> bool:
    """Return whether a specification is an A2A server, which ``check_server`` can check."""
    return isinstance(spec, str) and spec.startswith(protocol.PREFIX)


def program_factory(spec: str, folder: Path) -> partial[ProgramAgent] | partial[StayingAgent] | partial[A2AAgent]:
    """Return what makes the agent of a trial.

    Raises:
        ConfigurationError: The command or the URL cannot be used, or the extra ``endpoint`` is not installed.
    """
    if is_server(spec):
        protocol.card_url(spec)
        maker: partial[ProgramAgent] | partial[StayingAgent] | partial[A2AAgent] = partial(A2AAgent, spec)
    elif spec.startswith(STAYING):
        maker = partial(StayingAgent, parse_staying(spec, folder))
    else:
        maker = partial(ProgramAgent, parse_command(spec, folder))
    load()
    return maker
