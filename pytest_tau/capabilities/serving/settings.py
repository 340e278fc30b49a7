"""The settings of a server of environments, and whose requests it answers."""

from __future__ import annotations

import hmac
import ipaddress
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ...evaluation import Evaluation
from .wire import RequestError

if TYPE_CHECKING:
    from ...environment import Domain
    from .wire import Request

_PORT = re.compile(r":\d+$")


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
        max_per_client: The most of them of one client; None for no limit.
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
    max_per_client: int | None = None
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


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).hostname or ""
    except ValueError:  # such as an address whose bracket is not closed
        return ""


def check_access(request: Request, settings: ServingSettings) -> None:
    """Refuse a request that may not be made.

    Without a token, pages of other sites that are open in a browser of this machine are refused: a browser sends their
    ``Origin``, and the name by which they reach the server as ``Host``.

    Raises:
        RequestError: The token is missing or wrong, or the request comes from a page.
    """
    if settings.token is not None:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        right = hmac.compare_digest(token.strip().encode("utf-8", "replace"), settings.token.encode())
        if scheme.lower() != "bearer" or not right:
            expected = "expected the header 'Authorization: Bearer TOKEN' with the token that the server printed"
            raise RequestError(401, f"the token is {'wrong' if token else 'missing'}: {expected}")
        return
    origin = request.headers.get("origin")
    host = _PORT.sub("", request.headers.get("host", ""))
    if not is_loopback(host) or (origin is not None and not is_loopback(_host_of(origin))):
        problem = "requests by another name than that of this machine, and of pages of other sites, need a token"
        raise RequestError(403, f"{problem}: start the server with --token")
