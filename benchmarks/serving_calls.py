"""Calls of many environments that ``tau serve`` serves at once, compared with a server that only answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from .figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .figures import Options

_TAU = "import sys; from pytest_tau.cli import main; sys.exit(main())"
_WRITE, _READ = "toggle_airplane_mode", "check_status_bar"


def serving(options: Options) -> Iterator[Figure]:
    """Measure calls per second over HTTP: 500 environments of telecom, each with a client on a connection of its own.

    Every client makes calls one after the other: every other one reads the phone, the others change it. Afterwards each
    environment is checked: its trajectory must have every call with its result, in order. Server and clients
    are two processes, with a core each. The bare server is aiohttp with an answer of the same size, and is measured
    alternately with the same clients.
    """
    environments, calls, rounds = options.count(500, 3), options.count(20, 2), options.count(5, 1)
    data = ["--data", str(options.data)] if options.data else []
    limit = ["--max-environments", str(environments * (rounds + 1))]
    served, bare = [], []
    with _process("-c", _TAU, "serve", "telecom", "--port", "0", *limit, *data) as port:
        size = len(asyncio.run(_size(port)))
        with _process("-m", "benchmarks.bare_server", str(size)) as bare_port:
            for number in range(rounds + 1):
                rates = [asyncio.run(_rate(each, environments, calls, each == port)) for each in (port, bare_port)]
                if number or rounds == 1:  # the first round warms up
                    served.append(rates[0])
                    bare.append(rates[1])
    yield Figure("calls of environments", "1/s", served, target=2000, at_least=True)
    yield Figure("the bare server", "1/s", bare, at_least=True)


@contextlib.contextmanager
def _process(*arguments: str) -> Iterator[int]:
    """Run a Python process that prints its address first; gives the port."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline().rpartition(":")[2])
    finally:
        process.terminate()
        process.communicate()


class _Client:
    """A client with one connection, of which it takes less processor time than a library would."""

    async def open(self, port: int) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", port)

    async def request(self, method: str, path: str, body: bytes = b"") -> bytes:
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
        self._writer.write(head.encode() + body)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        assert head.startswith("http/1.1 2"), head
        length = head.partition("content-length: ")[2].partition("\r\n")[0]
        return await self._reader.readexactly(int(length or 0))

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()


async def _size(port: int) -> bytes:
    client = _Client()
    await client.open(port)
    number = json.loads(await client.request("POST", "/environments"))["id"]
    answer = await client.request("POST", f"/environments/{number}/user_tools/{_WRITE}")
    await client.request("DELETE", f"/environments/{number}")
    await client.close()
    return answer


async def _rate(port: int, environments: int, calls: int, checked: bool) -> float:
    """Return the calls per second of many clients."""
    clients = [_Client() for _ in range(environments)]
    for client in clients:
        await client.open(port)
    made = [await client.request("POST", "/environments") for client in clients]
    folders = [f"/environments/{json.loads(each)['id'] if checked else 'any'}" for each in made]

    async def call(client: _Client, folder: str) -> list[bytes]:
        names = [_READ if number % 2 else _WRITE for number in range(calls)]
        return [await client.request("POST", f"{folder}/user_tools/{name}", b"{}") for name in names]

    started = time.perf_counter()
    answers = await asyncio.gather(*map(call, clients, folders))
    took = time.perf_counter() - started
    for client, folder, answered in zip(clients, folders, answers, strict=True):
        if checked:
            _check(json.loads(await client.request("GET", f"{folder}/trajectory"))["trajectory"], answered)
            await client.request("DELETE", folder)
        await client.close()
    return environments * calls / took


def _check(trajectory: list[dict[str, Any]], answered: list[bytes]) -> None:
    """Check that an environment has recorded every answer, and that its own phone has changed by its calls alone."""
    results = [message["content"] for message in trajectory if message["role"] == "tool"]
    assert results == [json.loads(each)["content"] for each in answered], "a call was lost"
    states = [text.partition("\n")[0] for text in results[::2]]
    assert all(("ON" in state) == (number % 2 == 0) for number, state in enumerate(states)), "a state was mixed up"
