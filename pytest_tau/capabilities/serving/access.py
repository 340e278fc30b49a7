"""Who may send requests: those with the token, or programs of this machine."""

from __future__ import annotations

import hmac
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .settings import ServingSettings, is_loopback
from .wire import RequestError

if TYPE_CHECKING:
    from .wire import Request

_PORT = re.compile(r":\d+$")


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
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        right = hmac.compare_digest(given.strip().encode("utf-8", "replace"), settings.token.encode())
        if scheme.lower() != "bearer" or not right:
            expected = "expected the header 'Authorization: Bearer TOKEN' with the token that the server printed"
            raise RequestError(401, f"the token is {'wrong' if given else 'missing'}: {expected}")
        return
    origin = request.headers.get("origin")
    host = _PORT.sub("", request.headers.get("host", ""))
    if not is_loopback(host) or (origin is not None and not is_loopback(_host_of(origin))):
        problem = "requests by another name than that of this machine, and of pages of other sites, need a token"
        raise RequestError(403, f"{problem}: start the server with --token")
