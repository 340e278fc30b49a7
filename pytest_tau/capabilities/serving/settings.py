"""The settings of a server of environments."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...evaluation import Evaluation

if TYPE_CHECKING:
    from ...environment import Domain


@dataclass(frozen=True)
class ServingSettings:
    """What is served, to whom, and within which limits.

    Attributes:
        domain: The domain.
        task: Id of the task of environments that are made without one; None for the untouched databases.
        host: The address to listen on.
        port: The port; 0 for a free one.
        token: What requests must carry as ``Authorization: Bearer TOKEN``; None if they need nothing.
        mcp: Whether MCP is served.
        max_environments: The most environments at a time, without the default one.
        max_body: The most bytes of the body of a request.
        timeout: Seconds for a request: for its body, and for what it asks for.
        idle: Seconds after which an unused environment is forgotten.
        evaluation: How trajectories are graded.
    """

    domain: Domain
    task: str | None = None
    host: str = "127.0.0.1"
    port: int = 8004
    token: str | None = field(default=None, repr=False)
    mcp: bool = False
    max_environments: int = 1000
    max_body: int = 1 << 20
    timeout: float = 60.0
    idle: float = 3600.0
    evaluation: Evaluation = field(default_factory=Evaluation)


def is_loopback(host: str) -> bool:
    """Return whether an address or a name is that of this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
