"""An HTTP server on loopback that a test can start, stop and make fail.

It is the standard library's: h11 parses requests but has no server, and pytest-httpserver can neither reset nor stall
a connection. Both would be the only dependency of ``pytest_tau.testing``.
"""

from __future__ import annotations

import os
import socket
import socketserver
import struct
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

    from .completions import Reply

#: Seconds between checks whether the server should stop; clients are served at once.
_POLL_INTERVAL = 0.05
#: Seconds that closing waits for running requests.
_CLOSING_TIME = 2.0
#: Close at once and discard unsent data: the client gets a reset.
_NO_LINGER = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)


class HTTPRequest(NamedTuple):
    """An HTTP request.

    Attributes:
        method: ``GET`` or ``POST``.
        path: The path without its query.
        authorization: The header, if there is one; or the key of ``X-Api-Key`` in the same form.
        body: The body.
    """

    method: str
    path: str
    authorization: str | None
    body: bytes


class Connection(BaseHTTPRequestHandler):
    """A client's connection, in a thread of its own, with one request after the other."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Listener

    def do_GET(self) -> None:
        """Serve the request."""
        self._serve_request()

    def do_POST(self) -> None:
        """Serve the request."""
        self._serve_request()

    def _serve_request(self) -> None:
        length = self.headers.get("Content-Length", "0" if self.command == "GET" else "")
        if not length.isdecimal():
            self.send_error(411, "The server needs a Content-Length to read a body")
            return
        body = self.rfile.read(int(length))
        if len(body) < int(length):  # the client has disconnected
            self.close_connection = True
            return
        path = urlsplit(self.path).path
        # Clients of Anthropic's send the key in a header of its own.
        key = self.headers.get("X-Api-Key")
        authorization = self.headers.get("Authorization") or (key and f"Bearer {key}")
        self.server.serve(HTTPRequest(self.command, path, authorization, body), self)

    def send(self, reply: Reply) -> None:
        """Send a reply. The whole body is known, so its length is sent, also that of a stream."""
        # Without Date and Server, so that the same request has the same answer, to the byte.
        self.send_response_only(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(sum(map(len, reply.pieces))))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        for piece in reply.pieces:
            self.wfile.write(piece)

    def pause(self, seconds: float) -> bool:
        """Wait; return False if the server is closed meanwhile."""
        return not self.server.closing.wait(seconds) if seconds > 0 else True

    def stall(self, seconds: float | None) -> None:
        """Send nothing until the client disconnects, the time is over, or the server is closed; then disconnect."""
        self.close_connection = True
        self.connection.settimeout(seconds)
        with suppress(OSError):
            self.connection.recv(1)

    def reset(self) -> None:
        """Reset the connection without an answer."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        # The socket is closed with the last file that reads from it.
        self.rfile.close()
        self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in http.server
        """Do not log: a test reads the requests from the server."""


class Listener(ThreadingHTTPServer):
    """Listens on a free port of loopback while it is open.

    Args:
        serve: Called with each request and its connection, from many threads at once.
        on_error: Called with exceptions of ``serve``, except for disconnected clients.

    Attributes:
        port: The port that it listens on.
        closing: Set as soon as it stops.
    """

    daemon_threads = True
    # close() waits for the connections itself, for a limited time.
    block_on_close = False
    # Several hundred clients may connect at the same moment.
    request_queue_size = 1024

    def __init__(
        self, serve: Callable[[HTTPRequest, Connection], None], on_error: Callable[[BaseException], None]
    ) -> None:
        self.serve, self._on_error = serve, on_error
        self.closing = threading.Event()
        self._changed = threading.Condition()
        self._open: set[Any] = set()
        super().__init__(("127.0.0.1", 0), Connection)
        self.port: int = self.server_address[1]
        self._thread = threading.Thread(
            target=self.serve_forever, args=(_POLL_INTERVAL,), name="pytest-tau model server", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop listening and disconnect every client."""
        self.closing.set()
        self.shutdown()
        self._thread.join()
        self.server_close()
        with self._changed:
            for connection in self._open:
                with suppress(OSError):  # it may have ended this moment
                    connection.shutdown(socket.SHUT_RDWR)
            self._changed.wait_for(lambda: not self._open, _CLOSING_TIME)

    def server_bind(self) -> None:
        """Bind, without http.server's look-up of the host's name, which may ask the network."""
        socketserver.TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Register the connection, then start its thread."""
        with self._changed:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Unregister the connection after its end."""
        super().shutdown_request(request)
        with self._changed:
            self._open.discard(request)
            self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report an exception, unless it is a disconnected client."""
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, OSError):
            self._on_error(error)
