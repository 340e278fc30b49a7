"""An HTTP server on loopback that a test can start, stop and let misbehave. It knows nothing of models."""

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

#: Seconds between two looks whether the server is to stop; a client is served at once.
_LOOK = 0.05
#: Seconds that closing waits for requests that are being worked on.
_PATIENCE = 2.0
#: Close at once and discard what was not sent: the client gets a reset.
_NO_LINGER = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)


class Asked(NamedTuple):
    """An HTTP request.

    Attributes:
        method: ``GET`` or ``POST``.
        path: Without its query.
        authorization: The header, where there is one.
        body: As it came.
    """

    method: str
    path: str
    authorization: str | None
    body: bytes


class Connection(BaseHTTPRequestHandler):
    """A client's connection, in a thread of its own: its requests one after the other."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Listener

    def do_GET(self) -> None:
        """Hand the request over."""
        self._hand_over()

    def do_POST(self) -> None:
        """Hand the request over."""
        self._hand_over()

    def _hand_over(self) -> None:
        length = self.headers.get("Content-Length", "0" if self.command == "GET" else "")
        if not length.isdecimal():
            self.send_error(411, "The server reads no body without a Content-Length")
            return
        body = self.rfile.read(int(length))
        if len(body) < int(length):  # the client has gone
            self.close_connection = True
            return
        path = urlsplit(self.path).path
        self.server.serve(Asked(self.command, path, self.headers.get("Authorization"), body), self)

    def send(self, reply: Reply) -> None:
        """Answer. The whole body is known, so that its length can be told, of a stream too."""
        # Neither date nor server: the same request has the same answer, to the byte.
        self.send_response_only(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(sum(map(len, reply.pieces))))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        for piece in reply.pieces:
            self.wfile.write(piece)

    def pause(self, seconds: float) -> bool:
        """Let time pass; False where the server is closed meanwhile."""
        return not self.server.closing.wait(seconds) if seconds > 0 else True

    def stall(self, seconds: float | None) -> None:
        """Send nothing until the client gives up, the seconds have passed, or the server is closed; then hang up."""
        self.close_connection = True
        self.connection.settimeout(seconds)
        with suppress(OSError):
            self.connection.recv(1)

    def reset(self) -> None:
        """Break the connection off without an answer."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        # The socket is closed with the last file that reads from it.
        self.rfile.close()
        self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in http.server
        """Say nothing: a test reads what the server remembers."""


class Listener(ThreadingHTTPServer):
    """Listens on a free port of loopback while it is open.

    Args:
        serve: Given each request and the connection that waits for the answer; called from many threads at once.
        on_error: Given what ``serve`` raises, except that a client has gone.

    Attributes:
        port: Where it listens.
        closing: Set as soon as it stops.
    """

    daemon_threads = True
    # close() waits for the connections itself, and not for ever.
    block_on_close = False
    # Several hundred clients may come at the same moment.
    request_queue_size = 1024

    def __init__(self, serve: Callable[[Asked, Connection], None], on_error: Callable[[BaseException], None]) -> None:
        self.serve, self._on_error = serve, on_error
        self.closing = threading.Event()
        self._changed = threading.Condition()
        self._open: set[Any] = set()
        super().__init__(("127.0.0.1", 0), Connection)
        self.port: int = self.server_address[1]
        self._thread = threading.Thread(
            target=self.serve_forever, args=(_LOOK,), name="pytest-tau model server", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop listening and hang up on every client."""
        self.closing.set()
        self.shutdown()
        self._thread.join()
        self.server_close()
        with self._changed:
            for connection in self._open:
                with suppress(OSError):  # it may have ended this moment
                    connection.shutdown(socket.SHUT_RDWR)
            self._changed.wait_for(lambda: not self._open, _PATIENCE)

    def server_bind(self) -> None:
        """Bind, without http.server's look-up of the host's name, which may ask the network."""
        socketserver.TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, then begin its thread."""
        with self._changed:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection when it has ended."""
        super().shutdown_request(request)
        with self._changed:
            self._open.discard(request)
            self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass on what went wrong; that a client has gone is nothing of the kind."""
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, OSError):
            self._on_error(error)
