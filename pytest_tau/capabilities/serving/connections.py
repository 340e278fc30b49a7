"""The connections of a server: not too many, and each must send the head of a request in time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

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
