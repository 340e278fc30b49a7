"""A model server in a process of its own, until its input ends: ``python -m benchmarks.server SECONDS``.

It keeps no request, unlike the model server for tests, and takes less processor time: it shares the cores with what is
measured.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from .conversations import said
from .measuring import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD = {"id": "chatcmpl-scripted", "object": "chat.completion", "created": 0}
_USAGE = {"prompt_tokens": 5000, "completion_tokens": 20, "total_tokens": 5020}


@contextlib.contextmanager
def model_server(latency: float) -> Iterator[str]:
    """Run the model server; yield its address.

    Args:
        latency: Seconds before each answer.
    """
    command = [sys.executable, "-m", "benchmarks.server", str(latency)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        if server.stdout is None or server.stdin is None:
            raise RuntimeError("the model server has no pipes")
        try:
            yield server.stdout.readline().strip()
        finally:
            server.stdin.close()


async def serve(latency: float) -> None:
    """Print the address, and answer until the input ends."""
    from aiohttp import web

    async def answer(request: web.BaseRequest) -> web.Response:
        body = json.loads(await request.read())
        await asyncio.sleep(latency)
        return web.Response(body=_completion(body), content_type="application/json")

    loop = asyncio.get_running_loop()
    server = web.Server(answer, access_log=None)
    listening = await loop.create_server(server, "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


def _completion(request: dict[str, Any]) -> bytes:
    message = said(request["model"], request["messages"])
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
    return json.dumps({**_HEAD, "model": request["model"], "choices": [choice], "usage": _USAGE}).encode()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
