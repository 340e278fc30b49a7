"""The connections of a server: who may send requests, how many at a time, and how long the head of one may take."""

from __future__ import annotations

import asyncio
import hmac
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .settings import ServingSettings, is_loopback
from .wire import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable

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


try:
    import resource
except ImportError:  # Windows
    _FILES = None
else:
    _FILES = resource.getrlimit(resource.RLIMIT_NOFILE)[0]

#: The most connections, and the files that are left for all else.
_MOST, _OTHER_FILES = 4096, 64


def most_connections() -> int:
    """Return how many connections a process can have: without this bound, it could open no file any more."""
    return _MOST if _FILES is None or _FILES < 0 else max(1, min(_MOST, _FILES - _OTHER_FILES))


def limited_server(web: Any, handler: Callable[[Any], Any], most: int, seconds: float, **options: Any) -> Any:
    """Return an aiohttp server with these limits.

    Args:
        web: The module ``aiohttp.web``.
        handler: Answers a request.
        most: The most connections at a time; others are closed at once.
        seconds: The time for the head of each request.
        options: Further ones of the server.
    """
    waiting: dict[Any, asyncio.TimerHandle] = {}

    class LimitedServer(web.Server):  # type: ignore[misc]
        def connection_made(self, protocol: Any, transport: asyncio.Transport) -> None:
            super().connection_made(protocol, transport)
            if len(self.connections) > most:
                transport.abort()
            else:
                waiting[protocol] = asyncio.get_running_loop().call_later(seconds, transport.abort)

        def connection_lost(self, protocol: Any, exc: BaseException | None = None) -> None:
            _end(protocol)
            super().connection_lost(protocol, exc)

    def _end(protocol: Any) -> None:
        if (timer := waiting.pop(protocol, None)) is not None:
            timer.cancel()

    async def answer(request: Any) -> Any:
        _end(request.protocol)
        return await handler(request)

    # aiohttp itself limits the time between an answer and the next head.
    return LimitedServer(answer, keepalive_timeout=seconds, **options)
