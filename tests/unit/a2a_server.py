"""An A2A server that answers from a script, in the versions 0.3 and 1.0 of the protocol."""

from __future__ import annotations

import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class A2AServer:
    """Serves a card, and answers each JSON-RPC request with the next of its results.

    Attributes:
        results: Results, whole JSON-RPC responses (with ``error``), bytes with an HTTP status, or functions from the
            request to one of them.
        requests: The requests, as parsed from JSON.
        versions: The version that the header of each request names.
        asked: Released for each request.
        headers: The headers of each request, of those for the card too.
        card: The card; None for a server without one.
        card_path: The path of the card.
        key: The header and the value that requests, and the card, need; None for any.
        encoding: The encoding that answers have, by their header.
        redirect: The address that requests are sent to, by their method.
    """

    def __init__(self, version: str = "1.0") -> None:
        self.results: deque[Any] = deque()
        self.requests: list[dict[str, Any]] = []
        self.versions: list[str | None] = []
        self.asked = threading.Semaphore(0)
        self.headers: list[dict[str, str]] = []
        self.card_path = "/.well-known/agent-card.json"
        self.key: tuple[str, str] | None = None
        self.encoding = ""
        self.redirect: dict[str, str] = {}
        self.version = version
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.card: Any = self.own_card()
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def legacy(self) -> bool:
        return self.version == "0.3"

    def own_card(self) -> dict[str, Any]:
        facts = {"name": "Fake", "description": "A fake.", "version": "1", "skills": [], "capabilities": {}}
        if self.legacy:
            return facts | {"url": f"{self.url}/rpc", "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC"}
        rpc = {"url": f"{self.url}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": self.version}
        return facts | {"supportedInterfaces": [{**rpc, "protocolBinding": "GRPC"}, rpc]}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    # Parts of answers, in the words of the version.

    def part(self, text: str) -> dict[str, Any]:
        return {"kind": "text", "text": text} if self.legacy else {"text": text}

    def message(self, *texts: str, **fields: Any) -> dict[str, Any]:
        kind = {"kind": "message", "role": "agent"} if self.legacy else {"role": "ROLE_AGENT"}
        return kind | {"messageId": "m", "contextId": "c-1", "parts": list(map(self.part, texts))} | fields

    def task(self, state: str, said: str = "", **fields: Any) -> dict[str, Any]:
        named = state if self.legacy else f"TASK_STATE_{state.upper().replace('-', '_')}"
        status = {"state": named} | ({"message": self.message(said)} if said else {})
        return ({"kind": "task"} if self.legacy else {}) | {"id": "t-1", "contextId": "c-1", "status": status} | fields

    def artifact(self, *texts: str) -> dict[str, Any]:
        return {"artifactId": "a", "parts": list(map(self.part, texts))}

    def sent(self, answer: dict[str, Any]) -> dict[str, Any]:
        """The result of sending a message."""
        if self.legacy:
            return answer
        return {"task": answer} if "status" in answer else {"message": answer}

    def _next(self, request: dict[str, Any], version: str | None) -> tuple[int, bytes]:
        self.requests.append(request)
        self.asked.release()
        self.versions.append(version)
        result = self.results.popleft()
        result = result(request) if callable(result) else result
        if isinstance(result, tuple):
            status, content = result
            return status, content
        response = result if "error" in result else {"result": result}
        return 200, json.dumps({"jsonrpc": "2.0", "id": request["id"], **response}).encode()


def _handler(server: A2AServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self._refused():
                return
            found = self.path == server.card_path and server.card is not None
            content = server.card if isinstance(server.card, bytes) else json.dumps(server.card).encode()
            self._send(200 if found else 404, content if found else b"nothing here")

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self._refused():
                return
            status, content = server._next(body, self.headers["A2A-Version"])
            self._send(status, content)

        def _refused(self) -> bool:
            server.headers.append(dict(self.headers))
            if target := server.redirect.get(self.command):
                self.send_response(307)
                self.send_header("Location", target)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return True
            refused = server.key is not None and self.headers[server.key[0]] != server.key[1]
            if refused:
                self._send(401, f"wrong key {self.headers['Authorization']}".encode())
            return refused

        def _send(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            if server.encoding and self.command == "POST":
                self.send_header("Content-Encoding", server.encoding)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its parent's
            pass

    return Handler
