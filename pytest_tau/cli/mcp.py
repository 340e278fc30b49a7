"""``tau mcp``: the tools of a trial over MCP's stdio transport, for programs that start a tool server themselves."""

from __future__ import annotations

import contextlib
import http.client
import os
import sys
import threading
import urllib.error
import urllib.request
from typing import IO, TYPE_CHECKING, Any

from ..documents import DocumentError, parse_json
from ..errors import ConfigurationError
from ..plain import json
from ..text import one_line, printable

if TYPE_CHECKING:
    import argparse

_VARIABLE = "TAU_MCP_URL"
#: JSON-RPC code of an error of this command's own, from the range for implementations.
_FAILED = -32000
#: Statuses of an address whose trial has ended: before the request, and during it.
_ENDED = (401, 424)
#: Characters of an answer in an error.
_SHOWN = 300


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "mcp",
        description="A tool server over MCP's stdio transport, for an agent program that starts its tool servers "
        "itself. It forwards each message to the server of the trial and writes the answers. It ends with its standard "
        "input.",
        statuses={0: "the standard input has ended", 2: "the command cannot be used"},
    )
    parser.add_argument(
        "url", metavar="URL", nargs="?", help=f"the server (default: ${_VARIABLE}, which a run sets for programs)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    url = args.url or os.environ.get(_VARIABLE, "")
    if not url:
        raise ConfigurationError(
            f"{_VARIABLE} is not set: this command is for programs that a run started, such as "
            "--tau-agent 'cmd:PROGRAM'; a program that clears the environment of its tool servers must pass it on"
        )
    if not url.startswith(("http://", "https://")):
        raise ConfigurationError(f"expected the URL of a trial's tools, got {url!r}")
    Forwarder(url, sys.stdout.buffer).forward(sys.stdin.buffer)
    return 0


class Forwarder:
    """Posts JSON-RPC messages to a server, and writes the answers, each on a line."""

    def __init__(self, url: str, output: IO[bytes]) -> None:
        self._url, self._output = url, output
        self._writing = threading.Lock()
        self._version: str | None = None
        # Without the proxies of the environment: the server is on this machine.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def forward(self, lines: IO[bytes]) -> None:
        """Forward messages until there are no more, and wait for their answers.

        Args:
            lines: The messages, one on each line.
        """
        threads: list[threading.Thread] = []
        for line in lines:
            if not line.strip():
                continue
            # At the same time: the trial may wait for all calls of one model answer.
            thread = threading.Thread(target=self._answer, args=(line,), daemon=True)
            thread.start()
            threads = [other for other in threads if other.is_alive()] + [thread]
            if self._version is None:
                thread.join()  # what follows needs the version that is negotiated first
        for thread in threads:
            thread.join()

    def _answer(self, line: bytes) -> None:
        try:
            content = self._post(line)
        except (OSError, ValueError, http.client.HTTPException) as error:
            self._write(_refusal(line, self._problem(error)))
            return
        self._note_version(line, content)
        self._write(content)

    def _post(self, line: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self._version is not None:
            headers["MCP-Protocol-Version"] = self._version
        request = urllib.request.Request(self._url, data=line, headers=headers)  # noqa: S310 - checked by run()
        try:
            with self._opener.open(request) as response:
                content: bytes = response.read()
        except urllib.error.HTTPError as error:
            content = error.read()
            if "jsonrpc" not in _loaded(content):
                raise OSError(_end_of(error.code, content)) from None
        return content

    def _problem(self, error: Exception) -> str:
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, ConnectionError):
            reason = "the trial has ended, or its run has"
        problem = one_line(f"tau mcp: {reason}", _SHOWN)
        print(printable(problem), file=sys.stderr, flush=True)  # noqa: T201 - a program shows it in its log
        return problem

    def _note_version(self, line: bytes, content: bytes) -> None:
        if self._version is None and _loaded(line).get("method") == "initialize":
            result = _loaded(content).get("result")
            version = result.get("protocolVersion") if isinstance(result, dict) else None
            self._version = version if isinstance(version, str) else None

    def _write(self, content: bytes) -> None:
        if content.strip():
            with self._writing, contextlib.suppress(OSError):  # a client that has closed its end reads no answers
                self._output.write(content.strip().replace(b"\n", b" ") + b"\n")
                self._output.flush()


def _loaded(content: bytes) -> dict[str, Any]:
    try:
        document = parse_json(content)
    except DocumentError:
        return {}
    return document if isinstance(document, dict) else {}


def _end_of(status: int, content: bytes) -> str:
    if status in _ENDED:
        return "the trial has ended"
    error = _loaded(content).get("error")
    reason = error.get("message") if isinstance(error, dict) else None
    return f"the server of the trial's tools answered with HTTP {status}" + (f": {reason}" if reason else "")


def _refusal(line: bytes, problem: str) -> bytes:
    """Return the error that answers a request; nothing for a notification."""
    message = _loaded(line)
    if message and "id" not in message:
        return b""
    error = {"code": _FAILED, "message": problem}
    return json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "error": error}).encode()
