"""A server that answers every request with the same body: what HTTP alone costs."""

from __future__ import annotations

import asyncio
import sys

from aiohttp import web


async def serve(body: bytes) -> None:
    """Print the port, and serve until the process is ended.

    Args:
        body: The body of each answer.
    """

    async def answer(request: web.BaseRequest) -> web.Response:
        await request.read()
        return web.Response(body=body, content_type="application/json")

    server = web.Server(answer, access_log=None)
    listening = await asyncio.get_running_loop().create_server(server, "127.0.0.1", 0, backlog=1024)
    print(f"bare: http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(b"x" * int(sys.argv[1])))
