"""The HTTP server: it listens, reads requests within the limits, and ends by a signal."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import signal
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...endpoint import body_of, load_web
from ...errors import ConfigurationError
from .routes import find_route
from .settings import check_access
from .store import EnvironmentStore
from .wire import Request, RequestError, error_reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...endpoint import WireReply
    from .settings import ServingSettings

#: Seconds that requests under way have when the server ends.
_CLOSING_TIME = 5.0
_LOGGER = logging.getLogger("pytest_tau.serving")


class EnvironmentServer:
    """Serves the environments of a domain over HTTP, on the event loop on which it is started.

    Args:
        settings: What is served, to whom, and within which limits.

    Raises:
        ConfigurationError: aiohttp is not installed, the domain cannot be used, or there is no token for a host that is
            not loopback.
        TaskFormatError: A task file does not follow the format, or the task does not fit the domain.
    """

    def __init__(self, settings: ServingSettings) -> None:
        self._web = load_web("tau serve")
        self._settings, self._store = settings, EnvironmentStore(settings)

    async def start(self) -> int:
        """Listen, and return the port.

        Raises:
            ConfigurationError: The port is in use, or the host is not an address of this machine.
        """
        settings = self._settings
        quiet = logging.Logger("pytest_tau.serving.http", logging.CRITICAL + 1)  # noqa: LOG001 - with no handlers
        options = {"keepalive_timeout": settings.timeout, "access_log": None, "logger": quiet}
        self._http = self._web.Server(self._serve, **options)
        loop = asyncio.get_running_loop()
        try:
            self._listening = await loop.create_server(self._http, settings.host, settings.port, backlog=1024)
        except OSError as error:
            in_use = error.errno == errno.EADDRINUSE
            problem = "the port is in use: choose another by --port, or --port 0 for a free one"
            where = f"cannot listen on {settings.host}, port {settings.port}"
            raise ConfigurationError(f"{where}: {problem if in_use else error.strerror or error}") from None
        self._forgetting = asyncio.ensure_future(self._store.forget_unused())
        port: int = self._listening.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        """Stop listening, let requests under way end, and delete every environment."""
        self._listening.close()
        self._forgetting.cancel()
        await self._http.shutdown(_CLOSING_TIME)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._store.close(), _CLOSING_TIME)

    async def _serve(self, request: Any) -> Any:
        """Answer a request; whatever fails, the client gets an answer."""
        try:
            reply = await self._answer(request)
        except RequestError as error:
            reply = error_reply(error)
        except Exception as error:
            _LOGGER.exception("%s %s", request.method, request.path)
            reply = error_reply(RequestError(500, f"the server failed: {type(error).__name__}: {error}"))
        headers = {**reply.headers, **({"Content-Type": reply.content_type} if reply.content_type else {})}
        return self._web.Response(status=reply.status, body=reply.body, headers=headers)

    async def _answer(self, request: Any) -> WireReply:
        settings = self._settings
        headers = {name.lower(): value for name, value in request.headers.items()}
        head = Request(request.method, request.path, headers=headers, query=request.query, address=request.remote or "")
        check_access(head, settings)
        handler, parts = find_route(head.method, head.path, with_mcp=settings.mcp)
        body = await self._body(request)
        return await handler(self._store, replace(head, body=body, parts=parts))

    async def _body(self, request: Any) -> bytes:
        settings = self._settings
        try:
            # Most bodies arrive with the head, and need no clock.
            there = request.content.is_eof()
            body = (
                await body_of(request, settings.max_body)
                if there
                else await asyncio.wait_for(body_of(request, settings.max_body), settings.timeout)
            )
        except TimeoutError:
            raise RequestError(408, f"the body of the request did not arrive within {settings.timeout:g} s") from None
        except Exception as error:  # noqa: BLE001 - the client has disconnected, or its chunks are wrong
            problem = f"the body of the request cannot be read: {type(error).__name__}: {error}"
            raise RequestError(400, problem) from None
        if body is None:
            raise RequestError(413, f"the body of the request has more than {settings.max_body:,} bytes")
        return body


async def serve(settings: ServingSettings, announce: Callable[[int], None]) -> None:
    """Serve until the process gets SIGINT (Ctrl-C) or SIGTERM.

    Args:
        settings: What is served, to whom, and within which limits.
        announce: Called with the port once the server listens.

    Raises:
        ConfigurationError: The server cannot be started.
        TaskFormatError: A task file does not follow the format, or the task does not fit the domain.
    """
    server = EnvironmentServer(settings)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def end() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)  # a second signal ends the process at once
        ended.set()

    with contextlib.suppress(NotImplementedError):  # Windows: Ctrl-C cancels this task
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, end)
    port = await server.start()
    try:
        announce(port)
        await ended.wait()
    finally:
        await server.stop()
